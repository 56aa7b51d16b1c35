/* SPDX-License-Identifier: Apache-2.0 */
/* base64_fuzz.c: any bytes survive the trip, and any text that is decoded is encoded to itself. */
#include "lib/base/base64.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	char *text = malloc(BASE64_CHARS(size) + 1), *copy = fuzz_text(data, size);
	uint8_t *back = malloc(BASE64_BYTES(BASE64_CHARS(size)) + 1);

	MUST(text && back);
	base64_encode(data, size, text);
	MUST(strlen(text) == BASE64_CHARS(size));
	MUST(base64_decode(text, strlen(text), back) == (ssize_t)size);
	MUST(!size || !memcmp(back, data, size));
	ssize_t n = base64_decode(copy, size, back);
	MUST(n <= (ssize_t)BASE64_BYTES(size));
	if (n >= 0)
		MUST(!strcmp(base64_encode(back, (size_t)n, text), copy));
	free(text);
	free(copy);
	free(back);
	return 0;
}

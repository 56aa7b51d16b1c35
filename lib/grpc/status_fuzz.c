/* SPDX-License-Identifier: Apache-2.0 */
/* status_fuzz.c: whatever a peer sends, the text is UTF-8 without control characters. */
#include "lib/grpc/status.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	struct grpc_status s = { .code = 2 };
	char *value = fuzz_text(data, size);
	struct err e = { 0 };

	grpc_status_text(value, size, s.text);
	MUST(utf8_valid(s.text, strlen(s.text)) && strlen(s.text) <= size);
	for (const char *p = s.text; *p; p++)
		MUST((unsigned char)*p >= ' ' && *p != 0x7f);
	if (grpc_status_parse(value, size, &s.code))
		MUST(s.code == 2);
	MUST(grpc_status_error(&s, &e) == -1);
	fuzz_error_is_good(&e);
	free(value);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* hint_fuzz.c: feeds datagrams to the agent's side; a hint that is read is written and read again.
 */
#include "ipam/alloc/hint.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	struct hint a, b;
	struct err e;
	char text[HINT_MAX];

	if (hint_read((const char *)data, size, &a, &e))
		return 0;
	size_t len = hint_write(&a, text);
	MUST(len < HINT_MAX && hint_read(text, len, &b, &e) == 0);
	MUST(a.after == b.after && a.outcome == b.outcome && a.micros == b.micros);
	return 0;
}

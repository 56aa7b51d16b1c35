/* SPDX-License-Identifier: Apache-2.0 */
/* index_fuzz.c: feeds text to the parsers of key lists and usage records. */
#include "ipam/lease/lease.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *s = fuzz_text(data, size), *text = NULL;
	FUZZ_OUT(struct key_list, l);
	FUZZ_OUT(struct source_usage, t);
	FUZZ_OUT(struct err, e);
	struct key_list l2;
	struct source_usage t2;

	if (fuzz_ok(key_list_parse(s, "o/x", &l, &e), &e, &l, sizeof(l))) {
		MUST(l.n <= LEASE_KEYS_MAX && (text = key_list_print(&l)));
		MUST(!key_list_parse(text, "again", &l2, &e) && l2.n == l.n);
	} else {
		memset(&e, FUZZ_FILL, sizeof(e));
		if (!fuzz_ok(source_usage_parse(s, "u/x", &t, &e), &e, &t, sizeof(t)))
			return 0;
		MUST((text = source_usage_print(&t)) &&
		     !source_usage_parse(text, "again", &t2, &e));
		MUST(t.used == t2.used && t.resting == t2.resting && t.forgotten == t2.forgotten &&
		     t.done == t2.done && ip_equal(t.next, t2.next));
	}
	return 0;
}

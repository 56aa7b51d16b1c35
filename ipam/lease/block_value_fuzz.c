/* SPDX-License-Identifier: Apache-2.0 */
/* block_value_fuzz.c: feeds records of blocks and of the node; both survive a round trip. */
#include "ipam/lease/block_value.h"
#include "lib/testing/fuzz.h"

/* clang-format off */
FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *s = fuzz_text(data, size), *text = NULL, *node = NULL;
	const char *key = "b/p/rail0/4/0a010010";
	struct block_record r2;
	struct lending l, l2; struct node_record n2;
	FUZZ_OUT(struct block_record, r);
	FUZZ_OUT(struct node_record, n);
	FUZZ_OUT(struct err, e);

	if (fuzz_ok(block_value_parse(key, s, &r, &e), &e, &r, sizeof(r))) {
		MUST(!block_value_lends(key, s, &l, &e) && (text = block_value_print_lending(&r, &l)));
		MUST(!block_value_parse(key, text, &r2, &e) && block_key_equal(&r.key, &r2.key));
		MUST(!block_value_lends(key, text, &l2, &e) && l.n == l2.n && (!r.key.one || !l.n));
		MUST(r.state == r2.state && r.token == r2.token && r.epoch == r2.epoch && r.probe == r2.probe);
		MUST(r.unwanted == r2.unwanted && !strcmp(r.lender, r2.lender) && !strcmp(r.identity, r2.identity));
	}
	memset(&e, FUZZ_FILL, sizeof(e));
	if (fuzz_ok(node_value_parse(s, &n, &e), &e, &n, sizeof(n))) {
		MUST((node = node_value_print(&n)) && !node_value_parse(node, &n2, &e));
		MUST(!strcmp(n.holder, n2.holder) && n.epoch == n2.epoch && n.beats == n2.beats && n.frozen == n2.frozen);
		MUST(n.strays == n2.strays && n.give_until == n2.give_until && !strcmp(n.beat.version, n2.beat.version));
	}
	return 0;
}

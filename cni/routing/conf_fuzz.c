/* SPDX-License-Identifier: Apache-2.0 */
/* conf_fuzz.c: any text as a configuration, and as the note of a record. */
#include "cni/routing/routing.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size);
	auto_json struct json *tree = NULL;
	FUZZ_OUT(struct routing_conf, c);
	FUZZ_OUT(struct err, why);
	struct err e;

	if (json_parse(text, size, "text", &tree, &e))
		return 0;
	(void)routing_noted_table(tree);
	json_each (it, json_get(tree, "routes")) {
		FUZZ_OUT(struct route_spec, r);
		if (fuzz_ok(routing_noted_route(it, &r), NULL, &r, sizeof(r)))
			MUST(r.table && r.dst.len <= ip_bits(r.dst.addr.family) && !r.ifindex);
	}
	if (!fuzz_ok(routing_read_conf(tree, &c, &why), &why, &c, sizeof(c)))
		return 0;
	MUST(c.n_supernets <= ROUTING_SUPERNETS_MAX && (c.rail || !c.table));
	for (size_t i = 0; i < c.n_supernets; i++)
		MUST(c.supernet[i].len <= ip_bits(c.supernet[i].addr.family));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* conf_fuzz.c: any text as a configuration, and as the note of a record. */
#include "cni/hostveth/hostveth.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size);
	auto_json struct json *tree = NULL;
	auto_result struct cni_result ips = { 0 };
	FUZZ_OUT(struct hostveth_conf, c);
	FUZZ_OUT(struct err, e);

	if (json_parse(text, size, "text", &tree, &e))
		return 0;
	MUST(!hostveth_noted_ips(tree, &ips, &e));
	const char *name = hostveth_noted_name(tree);
	MUST(!name || !ifname_problem(name));
	FUZZ_OUT(struct err, why);
	if (!fuzz_ok(hostveth_read_conf(tree, &c, &why), &why, &c, sizeof(c)))
		return 0;
	MUST(c.n_routes <= HOSTVETH_ROUTES_MAX);
	for (size_t i = 0; i < c.n_routes; i++)
		MUST(c.route[i].len && c.route[i].len <= ip_bits(c.route[i].addr.family));
	return 0;
}

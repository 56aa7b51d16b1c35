/* SPDX-License-Identifier: Apache-2.0 */
/* demand_conf_fuzz.c: any JSON as "master"; what is taken has a VLAN or a bond, within its limits.
 */
#include "cni/uplink/demand_priv.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL;
	FUZZ_OUT(struct demand_conf, c);
	FUZZ_OUT(struct err, e);

	if (json_parse((const char *)data, size, "text", &tree, &e))
		return 0;
	if (!fuzz_ok(demand_read_conf(tree, &c, &e), &e, &c, sizeof(c)))
		return 0;
	MUST(c.has_vlan || c.has_bond);
	MUST(!c.has_vlan || (c.vlan.id >= 1 && c.vlan.id <= 4094));
	MUST(!c.has_vlan || c.has_bond == (c.vlan.of.n == 0));
	MUST(!c.has_bond || (c.bond.n >= 1 && c.bond.n <= DEMAND_MEMBERS_MAX));
	MUST(!c.has_bond || c.bond.data.bond.mode <= 6);
	return 0;
}

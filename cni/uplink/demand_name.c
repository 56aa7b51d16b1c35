/* SPDX-License-Identifier: Apache-2.0 */
/* demand_name.c: names for links that the configuration gives none. Pure. */
#include <stdio.h>

#include "cni/uplink/demand_priv.h"
#include "lib/base/hash.h"

const char *demand_kind_name(enum demand_kind kind)
{
	return kind == DEMAND_VLAN ? "vlan" : "bond";
}

void demand_name_vlan(const char *lower, uint32_t id, char out[IFNAME_LEN])
{
	int n = snprintf(out, IFNAME_LEN, "%s.%u", lower, id);

	if (n >= IFNAME_LEN)
		(void)snprintf(out, IFNAME_LEN, "rh%08x.%u",
			       (uint32_t)hash_add_text(HASH_START, lower), id);
}

/* The sum does not depend on the order of the members. */
void demand_name_bond(const struct demand_link *bond, char out[IFNAME_LEN])
{
	uint64_t sum = 0;

	for (size_t i = 0; i < bond->n; i++)
		sum += hash_add_text(HASH_START, bond->lower[i].name);
	(void)snprintf(out, IFNAME_LEN, "rhbond%08x", (uint32_t)sum);
}

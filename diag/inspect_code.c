/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_code.c: the names of codes and checks. */
#include "diag/inspect_code.h"

static const struct {
	const char *check, *name;
} codes[] = {
	[INSPECT_NAMESPACE_UNREAD] = { "namespace", "namespace-unread" },
	[INSPECT_NAMESPACE_RECORD] = { "namespace", "namespace-record" },
	[INSPECT_NAMESPACE_EMPTY] = { "namespace", "namespace-empty" },
	[INSPECT_INTERFACE_MISSING] = { "interface", "interface-missing" },
	[INSPECT_CARRIER_DOWN] = { "carrier", "carrier-down" },
	[INSPECT_CARRIER_LOST] = { "carrier", "carrier-lost" },
	[INSPECT_ADDRESS_MISSING] = { "address", "address-missing" },
	[INSPECT_ADDRESS_DUPLICATE] = { "address", "address-duplicate" },
	[INSPECT_ADDRESS_NODE] = { "address", "address-node" },
	[INSPECT_MAC_CHANGED] = { "mac", "mac-changed" },
	[INSPECT_MAC_DUPLICATE] = { "mac", "mac-duplicate" },
	[INSPECT_RULE_MISSING] = { "rule", "rule-missing" },
	[INSPECT_RULE_WRONG] = { "rule", "rule-wrong" },
	[INSPECT_RULE_PRIORITY] = { "rule", "rule-priority" },
	[INSPECT_RULE_EARLIER] = { "rule", "rule-earlier" },
	[INSPECT_TABLE_SHARED] = { "table", "table-shared" },
	[INSPECT_ROUTE_MISSING] = { "route", "route-missing" },
	[INSPECT_ROUTE_WRONG] = { "route", "route-wrong" },
	[INSPECT_ROUTE_FORBIDS] = { "route", "route-forbids" },
	[INSPECT_ROUTE_TAKEN] = { "route", "route-taken" },
	[INSPECT_WAY_WRONG] = { "way", "way-wrong" },
	[INSPECT_WAY_NONE] = { "way", "way-none" },
	[INSPECT_WAY_SHARED] = { "way", "way-shared" },
	[INSPECT_ARP_IGNORE] = { "arp", "arp-ignore" },
	[INSPECT_ARP_ANNOUNCE] = { "arp", "arp-announce" },
	[INSPECT_ARP_PROXY] = { "arp", "arp-proxy" },
	[INSPECT_ARP_RP_FILTER] = { "arp", "arp-rp-filter" },
	[INSPECT_SETTING_LINKDOWN] = { "setting", "setting-linkdown" },
	[INSPECT_SETTING_RA] = { "setting", "setting-ra" },
	[INSPECT_SETTING_CHANGED] = { "setting", "setting-changed" },
	[INSPECT_SETTING_UNREAD] = { "setting", "setting-unread" },
	[INSPECT_MTU_MASTER] = { "mtu", "mtu-master" },
	[INSPECT_MTU_ROUTE] = { "mtu", "mtu-route" },
	[INSPECT_MTU_PATH] = { "mtu", "mtu-path" },
	[INSPECT_GATEWAY_SILENT] = { "gateway", "gateway-silent" },
	[INSPECT_GATEWAY_SELF] = { "gateway", "gateway-self" },
	[INSPECT_HOST_ADDRESS] = { "host", "host-address" },
};

_Static_assert(sizeof(codes) / sizeof(*codes) == INSPECT_CODES, "each code has a name");

const char *inspect_code_name(enum inspect_code c)
{
	return codes[c].name;
}

const char *inspect_code_check(enum inspect_code c)
{
	return codes[c].check;
}

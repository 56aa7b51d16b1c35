/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_code.h: the codes of findings, for programs and for the manual: railctl(8) explains each.
 *
 * A code never changes its meaning. It begins with the name of its check.
 */
#ifndef RAILHEAD_DIAG_INSPECT_CODE_H
#define RAILHEAD_DIAG_INSPECT_CODE_H

/* The name of the enum, the check that finds it, the code. */
#define INSPECT_CODES_EACH(CODE)                                                                   \
	CODE(NAMESPACE_UNREAD, "namespace", "namespace-unread")                                    \
	CODE(NAMESPACE_RECORD, "namespace", "namespace-record")                                    \
	CODE(NAMESPACE_EMPTY, "namespace", "namespace-empty")                                      \
	CODE(INTERFACE_MISSING, "interface", "interface-missing")                                  \
	CODE(CARRIER_DOWN, "carrier", "carrier-down")                                              \
	CODE(CARRIER_LOST, "carrier", "carrier-lost")                                              \
	CODE(ADDRESS_MISSING, "address", "address-missing")                                        \
	CODE(ADDRESS_DUPLICATE, "address", "address-duplicate")                                    \
	CODE(ADDRESS_NODE, "address", "address-node")                                              \
	CODE(MAC_CHANGED, "mac", "mac-changed")                                                    \
	CODE(MAC_DUPLICATE, "mac", "mac-duplicate")                                                \
	CODE(RULE_MISSING, "rule", "rule-missing")                                                 \
	CODE(RULE_WRONG, "rule", "rule-wrong")                                                     \
	CODE(RULE_PRIORITY, "rule", "rule-priority")                                               \
	CODE(RULE_EARLIER, "rule", "rule-earlier")                                                 \
	CODE(TABLE_SHARED, "table", "table-shared")                                                \
	CODE(ROUTE_MISSING, "route", "route-missing")                                              \
	CODE(ROUTE_WRONG, "route", "route-wrong")                                                  \
	CODE(ROUTE_FORBIDS, "route", "route-forbids")                                              \
	CODE(ROUTE_TAKEN, "route", "route-taken")                                                  \
	CODE(WAY_WRONG, "way", "way-wrong")                                                        \
	CODE(WAY_NONE, "way", "way-none")                                                          \
	CODE(WAY_SHARED, "way", "way-shared")                                                      \
	CODE(ARP_IGNORE, "arp", "arp-ignore")                                                      \
	CODE(ARP_ANNOUNCE, "arp", "arp-announce")                                                  \
	CODE(ARP_PROXY, "arp", "arp-proxy")                                                        \
	CODE(ARP_RP_FILTER, "arp", "arp-rp-filter")                                                \
	CODE(SETTING_LINKDOWN, "setting", "setting-linkdown")                                      \
	CODE(SETTING_RA, "setting", "setting-ra")                                                  \
	CODE(SETTING_CHANGED, "setting", "setting-changed")                                        \
	CODE(SETTING_UNREAD, "setting", "setting-unread")                                          \
	CODE(MTU_MASTER, "mtu", "mtu-master")                                                      \
	CODE(MTU_ROUTE, "mtu", "mtu-route")                                                        \
	CODE(MTU_PATH, "mtu", "mtu-path")                                                          \
	CODE(GATEWAY_SILENT, "gateway", "gateway-silent")                                          \
	CODE(GATEWAY_SELF, "gateway", "gateway-self")                                              \
	CODE(HOST_ADDRESS, "host", "host-address")                                                 \
	CODE(HOST_FILTER, "host", "host-filter")

enum inspect_code {
#define CODE(name, check, code) INSPECT_##name,
	INSPECT_CODES_EACH(CODE)
#undef CODE
};

/* inspect_code_name - "rule-missing". inspect_code_check - "rule", the check that finds it. */
const char *inspect_code_name(enum inspect_code c);
const char *inspect_code_check(enum inspect_code c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.h: the rails of one network namespace as they are now, and what is wrong with them.
 *
 * A rail is an interface that a record names, or one with an address from which a rule leads to a
 * table of its own. The snapshot is filled in two steps: inspect_add_record() for each record of
 * the namespace, then inspect_read(). Findings follow from the snapshot alone.
 */
#ifndef RAILHEAD_CNI_INSPECT_INSPECT_H
#define RAILHEAD_CNI_INSPECT_INSPECT_H

#include "cni/record/record.h"
#include "lib/cli/finding.h"
#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/net/neigh.h"
#include "lib/net/rule.h"

#define INSPECT_WORD_LEN 204 /* CNI_ID_MAX and NUL */

/* Settings that count for an interface: the larger one of its own and of "all". */
enum inspect_setting {
	INSPECT_ARP_IGNORE,
	INSPECT_ARP_ANNOUNCE,
	INSPECT_RP_FILTER,
	INSPECT_LINKDOWN, /* ignore_routes_with_linkdown */
	INSPECT_SETTINGS
};
/* inspect_setting_name - the name in /proc/sys/net/ipv4/conf/IFNAME. */
const char *inspect_setting_name(enum inspect_setting s);

struct inspect_rail {
	/* From the record; "" and 0 without one. */
	char network[INSPECT_WORD_LEN], plugin[INSPECT_WORD_LEN];
	char ifname[IFNAME_LEN], master[IFNAME_LEN];
	int ifindex, lower_ifindex;
	uint32_t want_mtu; /* the key "mtu" of the configuration */
	struct ip *noted;  /* addresses that must have a rule; owned */
	size_t n_noted;
	/* From the namespace. */
	struct link_info link;  /* ifindex 0: the interface is not there */
	uint32_t table;         /* 0: the interface has no table of its own */
	uint32_t master_mtu;    /* 0: not known */
	struct addr_info *addr; /* owned; without link-local ones */
	size_t n_addrs;
	struct neigh_info *neigh; /* owned */
	size_t n_neighs;
	int setting[INSPECT_SETTINGS]; /* -1: cannot be read */
};

/* A packet from an address of a rail to a gateway. */
struct inspect_way {
	size_t rail;
	struct ip from, to;
	bool own;                /* a gateway of this rail, not of another one */
	int errnum;              /* not 0: the kernel has no way */
	struct route_spec route; /* the way that the kernel takes */
};

struct inspect {
	struct inspect_rail *rail; /* owned, as the arrays below */
	size_t n_rails;
	struct rule_spec *rule; /* in the order of the kernel */
	size_t n_rules;
	struct route_spec *route; /* of all interfaces */
	size_t n_routes;
	struct inspect_way *way;
	size_t n_ways;
};

/* inspect_add_record - one more rail, from a record of the namespace. Pure. */
int inspect_add_record(struct inspect *s, const struct record *r, struct err *e) must_check;

/*
 * inspect_read - fill the snapshot from the namespace pod. The caller is in host, and is there
 * again afterwards. An interface that disappears during the reading is not there.
 */
struct inspect_from {
	const struct ctx *ctx;
	const struct netns *host, *pod; /* borrowed; may be one and the same */
};
int inspect_read(const struct inspect_from *from, struct inspect *s, struct err *e) must_check;

void inspect_clear(struct inspect *s);
#define auto_inspect auto_clean(inspect_clear)

/*
 * inspect_check - findings about every rail: interface, address, rule, table, route, way, arp, mtu,
 * carrier, gateway. railctl(8) explains each. pod: for the subjects, "" for none. Rails without a
 * table of their own have only those that apply. Adds to *out; ERR_NOMEM. Pure.
 */
int inspect_check(const struct inspect *s, const char *pod, struct findings *out,
		  struct err *e) must_check;

/* ---- pieces; pure ---- */

/* inspect_find_tables - give each rail the table that the rules of its addresses name, if its
 * record names none. */
void inspect_find_tables(struct inspect *s);

/* inspect_find_ways - set s->way: from each address of each rail to its gateways and, if it has a
 * table, to those of the other rails. */
int inspect_find_ways(struct inspect *s, struct err *e) must_check;

/* inspect_is_gateway - the route is by a gateway, and belongs to the rail: to its table or, if it
 * has none, to the main table. */
bool inspect_is_gateway(const struct inspect_rail *r, const struct route_spec *route);

/* inspect_is_own_rule - the rule leads from exactly this address to a table that is not the
 * kernel's. */
bool inspect_is_own_rule(const struct rule_spec *rule, struct ip addr);

#endif

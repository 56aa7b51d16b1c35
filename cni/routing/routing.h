/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routing.h: the routing of a rail: packets leave by the interface whose address they carry.
 *
 * An interface gets a table of its own with its connected networks, its default route and the
 * IPAM's routes. Each of its addresses gets a rule "from ADDRESS lookup TABLE" of ROUTING_PRIORITY.
 * Routes end with the interface. Rules do not: routing_remove() ends them.
 */
#ifndef RAILHEAD_CNI_ROUTING_ROUTING_H
#define RAILHEAD_CNI_ROUTING_ROUTING_H

#include "cni/protocol/result.h"
#include "lib/net/addr.h"
#include "lib/net/rule.h"

#define ROUTING_PRIORITY      1000 /* before the main table, 32766 */
#define ROUTING_TABLE_FIRST   1000
#define ROUTING_TABLES        1024 /* tried from there on */
#define ROUTING_SUPERNETS_MAX 16

/* The key "routing": "rail", or an object with these keys. */
struct routing_conf {
	bool rail;       /* "mode": "rail" */
	bool is_default; /* "default": the main table, too, has the default route of the IPAM */
	uint32_t table;  /* "table"; 0: the first free one */
	uint32_t after;  /* of tables without a number: the first one after this; 0: of all */
	/* "supernets": networks of the same rail on other leaves. The main table leads to them by
	 * the gateway, so that senders without an address of their own find the rail. */
	struct ip_prefix supernet[ROUTING_SUPERNETS_MAX];
	size_t n_supernets;
};

/* routing_read_conf - from the network configuration. ERR_CONFIG, ERR_DECODE and ERR_FIELD name the
 * key. Pure. */
int routing_read_conf(const struct json *config, struct routing_conf *out,
		      struct err *e) must_check;

/* The routes and rules of one interface; both arrays are owned. */
struct routing_plan {
	struct route_spec *route;
	struct rule_spec *rule;
	size_t n_routes, n_rules;
};

/* Where the plan is for: the interface's number and its table. */
struct routing_place {
	int ifindex;
	uint32_t table;
};

/*
 * routing_plan - for the addresses and routes r of the interface at `at`. ERR_CONFIG: a supernet of
 * a family for which r has no gateway. Pure. The caller clears *out, also after an error.
 */
int routing_plan(const struct routing_conf *c, const struct cni_result *r,
		 const struct routing_place *at, struct routing_plan *out,
		 struct err *e) must_check;
void routing_plan_clear(struct routing_plan *p);
#define auto_routing_plan auto_clean(routing_plan_clear)

/* routing_route - a route of r out of the interface, as the IPAM means it: without a gateway of its
 * own it has that of the first address of its family (CNI-101). Pure. */
struct route_spec routing_route(const struct cni_result *r, const struct cni_route *x, int ifindex);

/* routing_keeps_main - whether a route of the IPAM belongs into the main table, or into the one
 * that it names: a default route does not, unless its rail has "default". Pure. */
bool routing_keeps_main(const struct routing_conf *c, const struct cni_route *x);

/*
 * routing_choose_table - c->table, or the first free table: no rule looks it up, it has no route,
 * and r names it for none. ERR_BUSY: c->table is in use. ERR_EXHAUSTED: none is free.
 */
int routing_choose_table(struct nl *pod, const struct routing_conf *c, const struct cni_result *r,
			 uint32_t *table, struct err *e) must_check;

/*
 * routing_set_up_link - settings of an interface of the namespace that the caller is in. It answers
 * ARP only for its own addresses, and asks with its own address. It takes packets whose way back is
 * another interface (RFC 3704, loose), and ignores routes of a link without carrier. A router
 * advertisement makes no default route. v6: IPv6 must be there.
 */
int routing_set_up_link(const char *proc, const char *ifname, bool v6, struct err *e) must_check;

/* routing_apply - add routes, then rules. A route or rule that is there already is success. */
int routing_apply(struct nl *pod, const struct routing_plan *p, struct err *e) must_check;

/*
 * routing_note - the rules and routes for the addresses and routes of r, for the record: {"table":
 * 1000, "from": ["10.1.0.5"], "routes": [{"dst": "0.0.0.0/0", "gw": "10.1.0.1", "table": 1000}]}.
 * Those of the main table are among them. Owned by the caller; NULL: no memory. Pure.
 * routing_noted_table - its table, 0 for a note that is NULL or damaged. routing_noted_route - a
 * member of "routes" without ifindex. -1: it is damaged.
 */
struct json *routing_note(const struct routing_conf *c, const struct cni_result *r, uint32_t table);
uint32_t routing_noted_table(const struct json *note);
int routing_noted_route(const struct json *member, struct route_spec *out) must_check;

/* routing_rule - the rule of one address. Pure. */
struct rule_spec routing_rule(struct ip addr, uint32_t table);

/* routing_remove - delete the rules of ROUTING_PRIORITY that the note has. None of them is success.
 */
int routing_remove(struct nl *pod, const struct json *note, struct err *e) must_check;

/* routing_remove_of - the same for each table that has routes out of an interface, but only rules
 * of its addresses: for a DEL that has no record. */
int routing_remove_of(struct nl *pod, int ifindex, struct err *e) must_check;

/* routing_check - ERR_STATE names the first rule or route of p that is missing. ifname for words.
 */
int routing_check(struct nl *pod, const struct routing_plan *p, const char *ifname,
		  struct err *e) must_check;

#endif

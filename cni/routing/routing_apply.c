/* SPDX-License-Identifier: Apache-2.0 */
/* routing_apply.c: puts a plan into the kernel, looks whether it is there, and takes it out. */
#include <errno.h>
#include <string.h>

#include "cni/routing/routing.h"
#include "lib/pci/sysfs.h"

/* ---- a free table ---- */

struct used {
	uint64_t bits[ROUTING_TABLES / 64]; /* from ROUTING_TABLE_FIRST on */
	uint32_t asked;                     /* one table in particular */
	bool is_asked_used;
};

static void note_used(struct used *u, uint32_t table)
{
	uint32_t at = table - ROUTING_TABLE_FIRST;

	if (at < ROUTING_TABLES)
		u->bits[at / 64] |= UINT64_C(1) << at % 64;
	u->is_asked_used |= table == u->asked;
}

static int note_rule(const struct rule_spec *r, void *arg)
{
	note_used(arg, r->table);
	return 0;
}

static int note_route(const struct route_spec *r, void *arg)
{
	note_used(arg, r->table);
	return 0;
}

int routing_choose_table(struct nl *pod, const struct routing_conf *c, uint32_t *table,
			 struct err *e)
{
	struct used u = { .asked = c->table };

	if (nl_rule_list(pod, note_rule, &u, e) || nl_route_list(pod, 0, note_route, &u, e))
		return -1;
	if (c->table) {
		*table = c->table;
		return !u.is_asked_used
			       ? 0
			       : err_set(e, ERR_BUSY, 0,
					 "routing.table: %u is in use in the pod: leave it out, or "
					 "take another number",
					 c->table);
	}
	for (uint32_t i = 0; i < ROUTING_TABLES; i++) {
		if (u.bits[i / 64] >> i % 64 & 1)
			continue;
		*table = ROUTING_TABLE_FIRST + i;
		return 0;
	}
	return err_set(e, ERR_EXHAUSTED, 0, "routing: the tables %d to %d are all in use",
		       ROUTING_TABLE_FIRST, ROUTING_TABLE_FIRST + ROUTING_TABLES - 1);
}

/* ---- settings ---- */

int routing_set_manners(const char *proc, const char *ifname, bool v6, struct err *e)
{
	static const struct {
		const char *key, *value;
	} manners[] = {
		{ "ipv4/arp_ignore", "1" },
		{ "ipv4/arp_announce", "2" },
		{ "ipv4/rp_filter", "2" },
		{ "ipv4/ignore_routes_with_linkdown", "1" },
		{ "ipv6/ignore_routes_with_linkdown", "1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(manners); i++) {
		if (!v6 && strncmp(manners[i].key, "ipv6", 4) == 0)
			continue;
		if (sysctl_net_path(proc, ifname, manners[i].key, manners[i].value, e))
			return err_wrap(e, "routing");
	}
	return 0;
}

/* ---- adding and removing ---- */

/* 0: it was added, or was there. */
static int added(int rc, const struct err *why, struct err *e)
{
	if (rc == 0 || why->errnum == EEXIST)
		return 0;
	*e = *why;
	return err_wrap(e, "routing");
}

int routing_apply(struct nl *pod, const struct routing_plan *p, struct err *e)
{
	struct err why;

	for (size_t i = 0; i < p->n_routes; i++)
		if (added(nl_route_add(pod, &p->route[i], &why), &why, e))
			return -1;
	for (size_t i = 0; i < p->n_rules; i++)
		if (added(nl_rule_add(pod, &p->rule[i], &why), &why, e))
			return -1;
	return 0;
}

/* The list is read whole before fn is called, so rules may go meanwhile. */
struct removal {
	struct nl *pod;
	uint32_t table;
	int ifindex; /* only rules of its addresses; 0: of any */
	struct err *e;
	bool failed;
};

/* Looks for one address of the interface. */
struct own_address {
	struct ip addr;
	bool found;
};

static int match_own(const struct addr_info *a, void *arg)
{
	struct own_address *w = arg;

	w->found = ip_equal(a->addr.addr, w->addr);
	return w->found;
}

/* 1: the rule is of an address of the interface, or the table alone decides; 0: it is not. */
static int is_of_interface(const struct removal *x, const struct rule_spec *r)
{
	struct own_address w = { .addr = r->from.addr };

	if (!x->ifindex)
		return 1;
	return nl_addr_list(x->pod, x->ifindex, match_own, &w, x->e) ? -1 : w.found;
}

static int remove_ours(const struct rule_spec *r, void *arg)
{
	struct removal *x = arg;

	if (r->table != x->table || r->priority != ROUTING_PRIORITY)
		return 0;

	int ours = is_of_interface(x, r);

	if (ours <= 0) {
		x->failed = ours < 0;
		return ours;
	}
	x->failed = nl_rule_delete(x->pod, r, x->e) != 0;
	return x->failed;
}

int routing_remove(struct nl *pod, uint32_t table, struct err *e)
{
	struct removal x = { .pod = pod, .table = table, .e = e };

	return nl_rule_list(pod, remove_ours, &x, e) || x.failed ? -1 : 0;
}

static int remove_by_route(const struct route_spec *r, void *arg)
{
	struct removal *x = arg;

	if (r->table == ROUTE_TABLE_MAIN)
		return 0;
	x->table = r->table;
	if (nl_rule_list(x->pod, remove_ours, x, x->e))
		x->failed = true;
	return x->failed;
}

int routing_remove_of(struct nl *pod, int ifindex, struct err *e)
{
	struct removal x = { .pod = pod, .ifindex = ifindex, .e = e };

	return nl_route_list(pod, ifindex, remove_by_route, &x, e) || x.failed ? -1 : 0;
}

/* ---- checking ---- */

struct search {
	const struct route_spec *route;
	const struct rule_spec *rule;
	bool found;
};

static bool same_network(struct ip_prefix a, struct ip_prefix b)
{
	return a.len == b.len && ip_equal(ip_network(a), ip_network(b));
}

static uint32_t table_of(const struct route_spec *r)
{
	return r->table ? r->table : ROUTE_TABLE_MAIN;
}

static int match_rule(const struct rule_spec *r, void *arg)
{
	struct search *s = arg;

	s->found = same_network(r->from, s->rule->from) && r->table == s->rule->table &&
		   r->priority == s->rule->priority;
	return s->found;
}

static int match_route(const struct route_spec *r, void *arg)
{
	struct search *s = arg;
	const struct route_spec *x = s->route;

	s->found = same_network(r->dst, x->dst) && r->table == table_of(x) &&
		   (!x->gw.family || ip_equal(r->gw, x->gw)) &&
		   (!x->priority || r->priority == x->priority);
	return s->found;
}

static int check_rule(struct nl *pod, const struct rule_spec *x, const char *ifname, struct err *e)
{
	struct search s = { .rule = x };
	char text[PREFIX_STR_LEN];

	if (nl_rule_list(pod, match_rule, &s, e))
		return -1;
	return s.found ? 0
		       : err_set(e, ERR_STATE, 0, "interface %s lacks the rule from %s to table %u",
				 ifname, ip_format(x->from.addr, text), x->table);
}

static int check_route(struct nl *pod, const struct route_spec *x, const char *ifname,
		       struct err *e)
{
	struct search s = { .route = x };
	char text[PREFIX_STR_LEN];

	if (nl_route_list(pod, x->ifindex, match_route, &s, e))
		return -1;
	return s.found ? 0
		       : err_set(e, ERR_STATE, 0, "interface %s lacks the route to %s in table %u",
				 ifname, ip_format_prefix(x->dst, text), table_of(x));
}

int routing_check(struct nl *pod, const struct routing_plan *p, const char *ifname, struct err *e)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (check_rule(pod, &p->rule[i], ifname, e))
			return -1;
	for (size_t i = 0; i < p->n_routes; i++)
		if (check_route(pod, &p->route[i], ifname, e))
			return -1;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c: puts a plan into the kernel, looks whether it is there, and takes it out. */
#include <errno.h>
#include <string.h>

#include "cni/routing/routing.h"
#include "lib/device/sysfs.h"

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

static int apply_note_route(const struct route_spec *r, void *arg)
{
	note_used(arg, r->table);
	return 0;
}

int routing_choose_table(struct nl *pod, const struct routing_conf *c, const struct cni_result *r,
			 uint32_t *table, struct err *e)
{
	struct used u = { .asked = c->table };

	for (size_t i = 0; i < r->n_routes; i++)
		if (r->routes[i].table > 0)
			note_used(&u, (uint32_t)r->routes[i].table);
	if (nl_rule_list(pod, note_rule, &u, e) || nl_route_list_all(pod, apply_note_route, &u, e))
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
		if (u.bits[i / 64] >> i % 64 & 1 || ROUTING_TABLE_FIRST + i <= c->after)
			continue;
		*table = ROUTING_TABLE_FIRST + i;
		return 0;
	}
	return err_set(e, ERR_EXHAUSTED, 0, "routing: the tables %d to %d are all in use",
		       ROUTING_TABLE_FIRST, ROUTING_TABLE_FIRST + ROUTING_TABLES - 1);
}

/* ---- settings ---- */

int routing_set_up_link(const char *proc, const char *ifname, bool v6, struct err *e)
{
	static const struct {
		const char *key, *value;
	} settings[] = {
		{ "ipv4/arp_ignore", "1" },
		{ "ipv4/arp_announce", "2" },
		{ "ipv4/rp_filter", "2" },
		{ "ipv4/ignore_routes_with_linkdown", "1" },
		{ "ipv6/ignore_routes_with_linkdown", "1" },
		{ "ipv6/accept_ra_defrtr", "0" },
	};
	struct err why;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		const bool may_lack = !v6 && strncmp(settings[i].key, "ipv6", 4) == 0;

		if (sysctl_net_path(proc, ifname, settings[i].key, settings[i].value, &why) == 0 ||
		    (may_lack && why.errnum == ENOENT))
			continue;
		*e = why;
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

/* ---- removing ---- */

int routing_remove(struct nl *pod, const struct json *note, struct err *e)
{
	uint32_t table = routing_noted_table(note);

	json_each (it, json_get(note, "from")) {
		const char *text = json_str(it);
		struct ip from;

		if (!table || !text || ip_parse(text, &from))
			continue;

		const struct rule_spec r = routing_rule(from, table);

		if (nl_rule_delete(pod, &r, e))
			return -1;
	}
	return 0;
}

/* Without a record: the rules of the interface's addresses, in each table that has routes by it. */
struct removal {
	struct nl *pod;
	int ifindex;
	uint32_t table;
	struct err *e;
	bool failed;
};

static int remove_rule_of(const struct addr_info *a, void *arg)
{
	struct removal *x = arg;
	const struct rule_spec r = routing_rule(a->addr.addr, x->table);

	x->failed = nl_rule_delete(x->pod, &r, x->e) != 0;
	return x->failed;
}

static int remove_by_route(const struct route_spec *r, void *arg)
{
	struct removal *x = arg;

	if (r->table == ROUTE_TABLE_MAIN || r->table == x->table)
		return 0;
	x->table = r->table;
	if (nl_addr_list(x->pod, x->ifindex, remove_rule_of, x, x->e))
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

static uint32_t table_of(const struct route_spec *r)
{
	return r->table ? r->table : ROUTE_TABLE_MAIN;
}

static int apply_match_rule(const struct rule_spec *r, void *arg)
{
	struct search *s = arg;

	s->found = ip_same_network(r->from, s->rule->from) && r->table == s->rule->table &&
		   r->priority == s->rule->priority && r->chosen == s->rule->chosen;
	return s->found;
}

static int apply_match_route(const struct route_spec *r, void *arg)
{
	struct search *s = arg;
	const struct route_spec *x = s->route;

	s->found = ip_same_network(r->dst, x->dst) && r->table == table_of(x) &&
		   (!x->gw.family || ip_equal(r->gw, x->gw)) &&
		   (!x->priority || r->priority == x->priority);
	return s->found;
}

static int check_rule(struct nl *pod, const struct rule_spec *x, const char *ifname, struct err *e)
{
	struct search s = { .rule = x };
	char text[PREFIX_STR_LEN];

	if (nl_rule_list(pod, apply_match_rule, &s, e))
		return -1;
	return s.found ? 0
		       : err_set(e, ERR_STATE, 0, "interface %s lacks the rule from %s to table %u",
				 ifname, ip_format(x->from.addr, text), x->table);
}

static int apply_check_route(struct nl *pod, const struct route_spec *x, const char *ifname,
			     struct err *e)
{
	struct search s = { .route = x };
	char text[PREFIX_STR_LEN];

	if (nl_route_list(pod, x->ifindex, apply_match_route, &s, e))
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
		if (apply_check_route(pod, &p->route[i], ifname, e))
			return -1;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_check.c: CHECK compares interface, addresses and routes with prevResult; STATUS tells
 * whether an ADD could succeed.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cni/engine/attach_priv.h"
#include "lib/net/addr.h"
#include "lib/net/rule.h"

/* ---- CHECK ---- */

static int find_own_interface(const struct attach *a, int *index, struct err *e)
{
	const struct cni_env *env = &a->call->env;

	for (size_t i = 0; i < a->prev.n_interfaces; i++) {
		const struct cni_interface *x = &a->prev.interfaces[i];
		if (strcmp(x->name, env->ifname) == 0 && x->sandbox &&
		    strcmp(x->sandbox, env->netns) == 0) {
			*index = (int)i;
			return 0;
		}
	}
	return err_set(e, ERR_CONFIG, 0,
		       "prevResult.interfaces: none has name \"%s\" and sandbox \"%s\"",
		       env->ifname, env->netns);
}

static int check_link(struct attach *a, const struct cni_interface *x, struct err *e)
{
	char mac[HW_ADDR_STR_LEN];
	struct hw_addr said;

	if (nl_link_by_name(a->pod_nl, x->name, &a->link, e)) {
		if (e->errnum == ENODEV)
			return err_set(e, ERR_STATE, 0, "interface %s is missing in %s", x->name,
				       x->sandbox);
		return -1;
	}
	if (strcmp(a->link.kind, a->type->kind) != 0)
		return err_set(e, ERR_STATE, 0, "interface %s is of kind \"%s\", not %s", x->name,
			       a->link.kind, a->type->kind);
	if (!(a->link.flags & IFF_UP))
		return err_set(e, ERR_STATE, 0, "interface %s is down", x->name);
	/* prevResult has the last word on the MAC: a later plugin may have changed it (CNI-151). */
	if (x->mac && *x->mac && a->link.addr.len &&
	    (hw_addr_parse(x->mac, &said) || !hw_addr_equal(a->link.addr, said)))
		return err_set(e, ERR_STATE, 0, "interface %s has MAC %s, prevResult says %s",
			       x->name, hw_addr_format(a->link.addr, mac), x->mac);
	return 0;
}

static int wrong_lower(const struct attach *a, const char *says, struct err *e)
{
	return err_set(e, ERR_STATE, 0, "interface %s is %s, not on its master %s", a->link.name,
		       says, a->master.name);
}

/* Compare the number by which the kernel knows the master's namespace in the pod. */
static int check_lower_netns(const struct attach *a, struct err *e)
{
	int want = -1;

	if (!a->conf.in_container && !netns_same(a->pod.id, a->host.id) &&
	    nl_link_nsid(a->pod_nl, &a->host, &want, e))
		return -1;
	if (a->link.lower_nsid == want || (a->type->hides_lower_netns && a->link.lower_nsid == -1))
		return 0;
	return wrong_lower(a, "on a device of another network namespace", e);
}

static int check_lower(const struct attach *a, struct err *e)
{
	char says[64];
	struct link_info there;
	struct err ignored;

	if (!a->master.ifindex)
		return 0;
	/* If the master is a macvlan (ipvlan) itself, the kernel uses the device below it. */
	const int want = attach_lower_of_master(a);
	if (want != a->master.ifindex)
		return a->link.lower_ifindex == want ? 0 : wrong_lower(a, "on another device", e);
	if (check_lower_netns(a, e))
		return -1;
	if (a->link.lower_ifindex == a->master.ifindex)
		return 0;
	if (nl_link_by_index(attach_master_nl(a), a->link.lower_ifindex, &there, &ignored))
		return wrong_lower(a, "on another device", e);
	(void)snprintf(says, sizeof(says), "on device %s", there.name);
	return wrong_lower(a, says, e);
}

struct wanted_address {
	struct ip_prefix addr;
	bool found;
};

static int attach_check_match_address(const struct addr_info *info, void *arg)
{
	struct wanted_address *w = arg;

	w->found = info->addr.len == w->addr.len && ip_equal(info->addr.addr, w->addr.addr);
	return w->found;
}

static int engine_check_addresses(const struct attach *a, int index, struct err *e)
{
	char text[PREFIX_STR_LEN];

	for (size_t i = 0; i < a->prev.n_ips; i++) {
		struct wanted_address w = { .addr = a->prev.ips[i].address };
		if (a->prev.ips[i].interface >= 0 && a->prev.ips[i].interface != index)
			continue;
		if (nl_addr_list(a->pod_nl, a->link.ifindex, attach_check_match_address, &w, e))
			return -1;
		if (!w.found)
			return err_set(e, ERR_STATE, 0, "interface %s lacks the address %s",
				       a->link.name, ip_format_prefix(w.addr, text));
	}
	return 0;
}

#define TABLES_MAX 16

struct wanted_route {
	const struct attach *a;
	const struct cni_route *route;
	bool found;
	uint32_t other[TABLES_MAX]; /* than main, that have it */
	size_t n_others;
	uint32_t vrf; /* table of the VRF that has the interface; 0: none */
};

static int attach_check_match_route(const struct route_spec *r, void *arg)
{
	struct wanted_route *w = arg;
	const struct cni_route *x = w->route;

	if (!ip_same_network(r->dst, x->dst) || (x->gw.family && !ip_equal(r->gw, x->gw)) ||
	    (x->priority && r->priority != x->priority))
		return 0;
	w->found = r->table == (x->table > 0 ? (uint32_t)x->table : ROUTE_TABLE_MAIN);
	if (!w->found && x->table <= 0 && w->n_others < TABLES_MAX)
		w->other[w->n_others++] = r->table;
	return w->found;
}

static bool sends_from(const struct attach *a, struct ip_prefix from)
{
	for (size_t i = 0; from.len && i < a->prev.n_ips; i++)
		if (ip_in_prefix(from, a->prev.ips[i].address.addr))
			return true;
	return !from.len;
}

/* Only the rule of VRFs names no table. */
static int match_rule(const struct rule_spec *r, void *arg)
{
	struct wanted_route *w = arg;
	const uint32_t table = r->table ? r->table : w->vrf;

	for (size_t i = 0; i < w->n_others && r->from.addr.family == w->route->dst.addr.family; i++)
		w->found |= w->other[i] == table && (!r->table || !r->conditional) &&
			    sends_from(w->a, r->from);
	return w->found;
}

/* Later plugins move routes into other tables, and lead there by rules: sbr and vrf. */
static int look_by_rules(struct wanted_route *w, struct err *e)
{
	struct link_info upper;
	struct err ignored;

	if (w->a->link.upper_ifindex &&
	    nl_link_by_index(w->a->pod_nl, w->a->link.upper_ifindex, &upper, &ignored) == 0 &&
	    strcmp(upper.kind, "vrf") == 0)
		w->vrf = upper.data.vrf.table;
	return nl_rule_list(w->a->pod_nl, match_rule, w, e);
}

static int check_route(struct wanted_route *w, struct err *e)
{
	const struct attach *a = w->a;
	char text[PREFIX_STR_LEN];

	if (nl_route_list(a->pod_nl, a->link.ifindex, attach_check_match_route, w, e) ||
	    (!w->found && w->n_others && look_by_rules(w, e)))
		return -1;
	if (w->found)
		return 0;
	err_set(e, ERR_STATE, 0, "interface %s lacks the route to %s", a->link.name,
		ip_format_prefix(w->route->dst, text));
	return w->n_others ? err_hint(e, "table %u has it, to which no rule leads", w->other[0])
			   : -1;
}

static int check_routes(const struct attach *a, struct err *e)
{
	/* Routes of other interfaces of the chain are theirs to check. */
	for (size_t i = 0; a->prev.n_interfaces <= 1 && i < a->prev.n_routes; i++) {
		struct wanted_route w = { .a = a, .route = &a->prev.routes[i] };

		if (check_route(&w, e))
			return -1;
	}
	return 0;
}

/* The addresses of prevResult that belong to the interface. The caller clears *out. */
static int own_ips(const struct attach *a, int index, struct cni_result *out, struct err *e)
{
	for (size_t i = 0; i < a->prev.n_ips; i++)
		if ((a->prev.ips[i].interface < 0 || a->prev.ips[i].interface == index) &&
		    cni_result_add_ip(out, &a->prev.ips[i], e))
			return -1;
	return 0;
}

/* The rules and routes of the rail, in the table that ADD took. */
static int check_routing(struct attach *a, int index, struct err *e)
{
	auto_routing_plan struct routing_plan plan = { 0 };
	auto_record struct record r = { 0 };
	struct cni_result own = { 0 };
	int rc;

	if (!a->conf.routing.rail)
		return 0;
	if (attach_read_record(a, &r, e))
		return -1;
	/* An attachment of before the key, or without an address, has none. */
	if (!routing_noted_table(r.routing))
		return 0;
	rc = own_ips(a, index, &own, e);
	/* Routes of other interfaces of the chain are theirs to check. */
	if (a->prev.n_interfaces == 1) {
		own.routes = a->prev.routes;
		own.n_routes = a->prev.n_routes;
	}
	const struct routing_place at = { a->link.ifindex, routing_noted_table(r.routing) };

	rc = rc || routing_plan(&a->conf.routing, &own, &at, &plan, e) ||
			     routing_check(a->pod_nl, &plan, a->link.name, e)
		     ? -1
		     : 0;
	own.routes = NULL;
	cni_result_clear(&own);
	return rc;
}

static int check_tuning(const struct attach *a, struct err *e)
{
	const struct tuning_place at = attach_tuning_place(a);

	return tuning_check(&a->conf.tuning, &at, e);
}

/* *r becomes its part with that name. */
static int take_part(struct record *r, const char *ifname, struct err *e)
{
	struct json *tree = r->tree;
	struct record part;

	for (size_t i = 0; i < record_parts(r); i++) {
		record_part(r, i, &part);
		if (strcmp(part.key.ifname, ifname) != 0)
			continue;
		*r = part;
		r->whole = NULL;
		r->tree = tree;
		return 0;
	}
	record_clear(r);
	return err_set(e, ERR_STATE, 0, "the record of the attachment has no interface %s", ifname);
}

int attach_read_record(const struct attach *a, struct record *out, struct err *e)
{
	const struct record_key key = attach_key(a->whole ? a->whole : a->call);

	if (record_read(&a->records.ctx, &key, out, e)) {
		if (e->code == ERR_NOTFOUND)
			e->code = ERR_STATE;
		return -1;
	}
	return a->whole ? take_part(out, a->call->env.ifname, e) : 0;
}

/* A pod stays right when a candidate comes back that precedes its own. */
static int prefer_recorded(struct attach *a, const struct record *r, struct err *e)
{
	struct master_place place = attach_master_place(a);
	struct master_conf *c = &a->conf.master;
	struct err ignored;

	for (size_t i = 0; i < c->n; i++) {
		if (master_look(&place, &c->candidate[i], &a->master, &ignored) == 0 &&
		    attach_lower_of_master(a) == r->lower_ifindex) {
			c->candidate[0] = c->candidate[i];
			c->n = 1;
		}
	}
	return attach_find_master(a, e);
}

/* What ADD took for the master, if the configuration leaves that open: the default route may have
 * moved. */
static int find_recorded_master(struct attach *a, struct err *e)
{
	const struct master_conf given = a->conf.master;
	auto_record struct record r = { 0 };
	struct err ignored;

	if (given.n == 1)
		return attach_find_master(a, e);
	if (attach_read_record(a, &r, &ignored))
		return given.n ? attach_find_master(a, e) : 0;
	if (!given.n)
		master_of_name(&a->conf.master, r.master);
	int rc = prefer_recorded(a, &r, e);
	a->conf.master = given;
	return rc;
}

static int check_all(struct attach *a, struct err *e)
{
	int index = 0;

	if (!a->call->conf.prev_result)
		return err_set(e, ERR_CONFIG, 0, "required prevResult missing");
	/* A plugin that follows: the interface is another plugin's, and so are its addresses. */
	if (a->type->role == ATTACH_FOLLOWS)
		return attach_open(a, e) || a->type->find(a, e) || a->type->check(a, e) ? -1 : 0;
	if (find_own_interface(a, &index, e) || (!a->whole && attach_open(a, e)) ||
	    (a->type->find ? a->type->find(a, e) : find_recorded_master(a, e)) ||
	    (!a->no_link && check_link(a, &a->prev.interfaces[index], e)))
		return -1;
	if (a->conf.tuning.has_mac_prefix &&
	    tuning_mac(&a->conf.tuning, &a->prev, index, &a->made_mac, e))
		return -1;
	if ((*a->type->kind && check_lower(a, e)) || (a->type->check && a->type->check(a, e)))
		return -1;
	if (a->no_link)
		return 0;
	return engine_check_addresses(a, index, e) || check_routes(a, e) ||
			       check_routing(a, index, e) || check_tuning(a, e)
		       ? -1
		       : 0;
}

/* ---- of several interfaces ---- */

typedef int (*part_fn)(struct attach *whole, struct attach *part, struct err *e);

static int with_part(struct attach *a, const struct cni_call *call, part_fn fn, struct err *e)
{
	auto_attach struct attach part;

	attach_init_part(&part, call, a);
	return attach_read_conf(&part, e) || fn(a, &part, e) ? -1 : 0;
}

/* fn for each interface; the error names the one that is wrong. */
static int each_part(struct attach *a, struct attach_parts *parts, part_fn fn, struct err *e)
{
	if (a->type->several->parts(a, parts, e))
		return -1;
	for (size_t i = 0; i < parts->n; i++)
		if (with_part(a, parts->call[i], fn, e))
			return err_wrap(e, "%s", parts->what[i]);
	return 0;
}

static int check_part(struct attach *whole, struct attach *part, struct err *e)
{
	const struct attach_several *several = whole->type->several;
	auto_result struct cni_result own = { 0 };
	int index;

	if (check_all(part, e))
		return -1;
	if (!several->verify)
		return 0;
	return find_own_interface(part, &index, e) || own_ips(part, index, &own, e) ||
			       several->verify(whole, part, &own, e)
		       ? -1
		       : 0;
}

static int attach_check_find_part(struct attach *whole, struct attach *part, struct err *e)
{
	if (attach_find(part, e))
		return -1;
	whole->no_link |= part->no_link;
	return 0;
}

static int check_parts(struct attach *a, struct err *e)
{
	struct attach_parts parts = { .n = 0 };

	if (!a->call->conf.prev_result)
		return err_set(e, ERR_CONFIG, 0, "required prevResult missing");
	return attach_open(a, e) || each_part(a, &parts, check_part, e) ? -1 : 0;
}

/* Once for all interfaces. An attachment of before the key, or without an address, has no veth. */
static int check_host(const struct attach *a, struct err *e)
{
	const struct attach_host h = attach_host_of(a);
	auto_record struct record r = { 0 };

	if (!a->conf.host.veth)
		return 0;
	return attach_read_record(a, &r, e) || attach_host_check(&h, r.host, e) ? -1 : 0;
}

int attach_check(const struct cni_call *call, struct err *e)
{
	const struct delegate_call check = { .cmd = CNI_CHECK };
	auto_attach struct attach a;

	attach_init(&a, call);
	if (attach_read_conf(&a, e))
		return -1;
	if (*attach_ipam_type(call) && delegate_run(call, &check, attach_timeout_ms(&a), e))
		return -1;
	return (a.type->several ? check_parts(&a, e) : check_all(&a, e)) || check_host(&a, e) ? -1
											      : 0;
}

/* ---- STATUS, and the IPAM's ADD of an attachment that comes later ---- */

/*
 * STATUS knows no pod, so it cannot check a master in a pod's namespace. It does not know earlier
 * plugins of a chain either, so it cannot check a master that they make. Both count as present: for
 * an error, a runtime takes the whole node out of service.
 */
static int master_is_there(struct attach *a, struct attach_parts *parts, struct err *e)
{
	if (a->conf.in_container || (!a->conf.master.n && a->type->adopts_prev_ips))
		return 0;
	return nl_open(&a->host_nl, e) ||
			       (a->type->several ? each_part(a, parts, attach_check_find_part, e)
						 : attach_find(a, e))
		       ? -1
		       : 0;
}

static int ask_ipam(struct attach *a, const struct attach_parts *parts, struct delegate_call what,
		    struct err *e)
{
	if (!*attach_ipam_type(a->call))
		return 0;
	return delegate_run(parts->ipam ? parts->ipam : a->call, &what, attach_timeout_ms(a), e);
}

int attach_status(const struct cni_call *call, struct err *e)
{
	const struct delegate_call status = { .cmd = CNI_STATUS };
	struct attach_parts parts = { .n = 0 };
	auto_attach struct attach a;

	attach_init(&a, call);
	if (attach_read_conf(&a, e))
		return -1;
	if (master_is_there(&a, &parts, e)) {
		e->code = ERR_UNAVAILABLE;
		return -1;
	}
	return ask_ipam(&a, &parts, status, e);
}

int attach_reserve(const struct cni_call *call, struct err *e)
{
	const struct cni_env *env = &call->env;
	struct delegate_call add = { .cmd = CNI_ADD,
				     .container = env->container,
				     .ifname = env->ifname,
				     .netns = env->netns,
				     .args = env->args,
				     .path = env->path,
				     .master = "" };
	struct attach_parts parts = { .n = 0 };
	auto_attach struct attach a;

	attach_init(&a, call);
	if (attach_read_conf(&a, e) || master_is_there(&a, &parts, e))
		return -1;
	add.probe = attach_can_probe(&a) ? DELEGATE_PROBE_MARK : "";
	return ask_ipam(&a, &parts, add, e);
}

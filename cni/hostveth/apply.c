/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c: finds, makes and removes a pair and its routes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cni/hostveth/priv.h"
#include "lib/base/array.h"
#include "lib/base/backoff.h"
#include "lib/net/ingress.h"
#include "lib/net/veth.h"
#include "lib/device/sysfs.h"
#include "lib/sys/lock.h"
#include "lib/sys/netns.h"

#define ATTEMPTS 8
#define LOCK_MS  5000
#define ENDED_MS 5000 /* for the kernel, until a namespace that has ended is destroyed */

static bool is_end(const struct link_info *link, struct hw_addr mac)
{
	return strcmp(link->kind, "veth") == 0 && hw_addr_equal(link->addr, mac);
}

/* 1: there is an interface of that name; 0: none. */
static int find_link(struct nl *nl, const char *name, struct link_info *out, struct err *e)
{
	struct err why;

	*out = (struct link_info){ .ifindex = 0 };
	if (nl_link_by_any_name(nl, name, out, &why) == 0)
		return 1;
	if (why.errnum == ENODEV)
		return 0;
	return err_pass(e, &why);
}

int hostveth_find(const struct hostveth_sides *s, struct hostveth_id *id, struct link_info *end,
		  struct err *e)
{
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		*id = hostveth_id(s->container, i);

		int rc = find_link(s->node, id->name, end, e);

		if (rc <= 0 || is_end(end, id->node_mac))
			return rc < 0 ? -1 : 0;
	}
	return err_set(e, ERR_BUSY, 0,
		       "host.veth: interface %s of the node is not the one of this pod: remove it",
		       id->name);
}

/* ---- whom the node's end takes packets from ---- */

/* The addresses of all attachments in a pair, to which the node has its routes. */
struct senders {
	struct ip *addr; /* owned */
	size_t n;
	bool failed;
};

static void senders_clear(struct senders *l)
{
	free(l->addr);
}
#define auto_senders auto_clean(senders_clear)

static int keep_sender(struct senders *l, struct ip addr)
{
	struct err why; /* callers know that only memory can be missing */

	l->failed = ARRAY_GROW(l->addr, l->n, SIZE_MAX, "addresses", &why) != 0;
	if (l->failed)
		return 1;
	l->addr[l->n++] = addr;
	return 0;
}

/* Routes to pods have a gateway; those that the kernel makes have none. */
static int keep_receiver(const struct route_spec *r, void *arg)
{
	return r->gw.family == IP_NONE ? 0 : keep_sender(arg, r->dst.addr);
}

/* The kernel may take the pair away at this moment, with a namespace that has gone: then no
 * attachment uses it. */
static int list_senders(struct nl *node, int ifindex, struct senders *out, struct err *e)
{
	struct err why;

	if (nl_route_list(node, ifindex, keep_receiver, out, &why) && why.errnum != ENODEV)
		return err_pass(e, &why);
	return out->failed ? err_nomem(e) : 0;
}

/* r is one attachment more, whose routes the node does not have yet. */
static int allow_senders(struct nl *node, int ifindex, const struct cni_result *r, struct err *e)
{
	auto_senders struct senders l = { 0 };

	if (list_senders(node, ifindex, &l, e))
		return -1;
	for (size_t i = 0; i < r->n_ips; i++)
		if (keep_sender(&l, r->ips[i].address.addr))
			return err_nomem(e);
	return nl_ingress_allow(node, ifindex, l.addr, l.n, e);
}

int hostveth_check_senders(struct nl *node, const char *name, int ifindex, struct err *e)
{
	auto_senders struct senders l = { 0 };

	if (list_senders(node, ifindex, &l, e))
		return -1;
	return nl_ingress_check(node, ifindex, l.addr, l.n, e)
		       ? err_wrap(e, "interface %s of the node", name)
		       : 0;
}

/* ---- making ---- */

/* The pod's end; ERR_STATE: it is missing. */
static int pod_end(const struct hostveth_sides *s, const struct hostveth_id *id,
		   struct link_info *out, struct err *e)
{
	int rc = find_link(s->pod, HOSTVETH_POD, out, e);

	if (rc < 0)
		return -1;
	return rc && is_end(out, id->pod_mac)
		       ? 0
		       : err_set(e, ERR_STATE, 0, "the pod lacks its end %s of the veth %s",
				 HOSTVETH_POD, id->name);
}

static int is_in_table(const struct route_spec *r, void *arg)
{
	*(bool *)arg = r->table == HOSTVETH_TABLE;
	return *(bool *)arg;
}

static int apply_create(const struct hostveth_sides *s, const struct hostveth_id *id,
			struct link_info *end, struct err *e)
{
	const struct veth_spec v = { .end = { id->name, id->node_mac },
				     .peer = { HOSTVETH_POD, id->pod_mac },
				     .peer_netns = s->pod_ns };
	struct link_info other;
	bool used = false;
	int rc = find_link(s->pod, HOSTVETH_POD, &other, e);

	if (rc < 0)
		return -1;
	if (rc > 0)
		return err_set(e, ERR_BUSY, 0, "host.veth: the pod has an interface %s already",
			       HOSTVETH_POD);
	if (nl_route_list(s->pod, 0, is_in_table, &used, e))
		return -1;
	if (used)
		return err_set(e, ERR_BUSY, 0, "host.veth: table %d is in use in the pod",
			       HOSTVETH_TABLE);
	return nl_veth_create(s->node, &v, e) || nl_link_by_name(s->node, id->name, end, e) ? -1
											    : 0;
}

struct setting {
	const char *key, *value;
	enum { ALWAYS, IF_IPV6_EXISTS, WITH_IPV6 } when;
};

/* In the namespace of the caller. */
static int set_all(const char *proc, const char *ifname, bool v6, const struct setting *x,
		   struct err *e)
{
	struct err ignored;

	for (; x->key; x++) {
		bool needed = x->when == ALWAYS || v6;

		if ((needed || x->when == IF_IPV6_EXISTS) &&
		    sysctl_net_path(proc, ifname, x->key, x->value, needed ? e : &ignored) &&
		    needed)
			return -1;
	}
	return 0;
}

/* A pod must not be the router of its node. */
static const struct setting of_node[] = {
	{ "ipv6/addr_gen_mode", "1", IF_IPV6_EXISTS },
	{ "ipv6/accept_ra", "0", IF_IPV6_EXISTS },
	{ "ipv6/disable_ipv6", "0", WITH_IPV6 },
	{ "ipv6/forwarding", "1", WITH_IPV6 },
	{ "ipv4/forwarding", "1", ALWAYS },
	{ 0 },
};
/* The way back of a packet that comes by the node may be a rail. */
static const struct setting of_pod[] = {
	{ "ipv6/addr_gen_mode", "1", IF_IPV6_EXISTS },
	{ "ipv6/disable_ipv6", "0", WITH_IPV6 },
	{ "ipv4/rp_filter", "2", ALWAYS },
	{ 0 },
};

struct pod_settings {
	const char *proc;
	bool v6;
};

static int set_pod(void *arg, struct err *e)
{
	const struct pod_settings *x = arg;

	return set_all(x->proc, HOSTVETH_POD, x->v6, of_pod, e);
}

static int set_up_pod_end(const struct hostveth_sides *s, int ifindex, bool v6, struct err *e)
{
	struct pod_settings x = { s->proc, v6 };

	return netns_run(s->pod_ns, s->node_ns, set_pod, &x, e) ||
			       nl_link_set_up(s->pod, ifindex, e)
		       ? -1
		       : 0;
}

static int add_family(const struct hostveth_sides *s, const struct hostveth_id *id,
		      const struct hostveth_place *at, const struct hostveth_family *f,
		      struct err *e)
{
	const struct ip_prefix own = { .addr = f->node, .len = (uint8_t)ip_bits(f->node.family) };
	struct err why;

	if (nl_addr_add(s->node, at->node_ifindex, own, true, &why) && why.errnum != EEXIST)
		return err_pass(e, &why);
	return nl_neigh_add(s->node, at->node_ifindex, f->pod_gw, id->pod_mac, e) ||
			       nl_neigh_add(s->pod, at->pod_ifindex, f->node_gw, id->node_mac, e)
		       ? -1
		       : 0;
}

static int set_up_pair(const struct hostveth_sides *s, const struct hostveth_id *id,
		       const struct hostveth_request *w, const struct hostveth_place *at,
		       struct err *e)
{
	bool v6 = hostveth_has_family(w->ips, IP_V6);

	if (set_all(s->proc, id->name, v6, of_node, e) ||
	    allow_senders(s->node, at->node_ifindex, w->ips, e) ||
	    nl_link_set_up(s->node, at->node_ifindex, e) ||
	    set_up_pod_end(s, at->pod_ifindex, v6, e))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(hostveth_families); i++) {
		const struct hostveth_family *f = &hostveth_families[i];

		if (hostveth_has_family(w->ips, f->node.family) && add_family(s, id, at, f, e))
			return -1;
	}
	return 0;
}

/* 1: the pair of another pod leads to an address of r. */
static int find_taken(const struct hostveth_sides *s, const struct cni_result *r, int ifindex,
		      struct ip *addr, int *other)
{
	for (size_t i = 0; i < r->n_ips; i++) {
		struct ip gw = hostveth_families[r->ips[i].address.addr.family == IP_V6].pod_gw;
		struct route_spec way;
		struct err none;

		*addr = r->ips[i].address.addr;
		if (nl_route_get(s->node, *addr, (struct ip){ .family = IP_NONE }, &way, &none) ||
		    way.ifindex == ifindex || !ip_equal(way.gw, gw))
			continue;
		*other = way.ifindex;
		return 1;
	}
	return 0;
}

/*
 * If two pods had one address, the node would reach one of them, or now this one and now that one.
 * A pod that has ended is waited for: the kernel destroys its namespace, and with it the pair,
 * later.
 */
static int refuse_taken(const struct hostveth_sides *s, const struct cni_result *r, int ifindex,
			struct err *e)
{
	struct backoff p = backoff_for(ENDED_MS);
	char text[IP_STR_LEN];
	struct ip addr;
	int other;

	while (find_taken(s, r, ifindex, &addr, &other)) {
		if (!backoff_pause(&p))
			return err_set(e, ERR_BUSY, 0,
				       "host.veth: another pod of the node has %s: interface "
				       "number %d leads to it",
				       ip_format(addr, text), other);
	}
	return 0;
}

/*
 * A pair whose other end is not in the pod is that of an earlier namespace of this container: the
 * kernel destroys the two later than the runtime calls ADD again. end->ifindex 0: there is none.
 */
static int find_whole(const struct hostveth_sides *s, struct hostveth_id *id, struct link_info *end,
		      struct link_info *peer, struct err *e)
{
	struct backoff p = backoff_for(ENDED_MS);
	struct err why;

	while (hostveth_find(s, id, end, e) == 0) {
		if (!end->ifindex || pod_end(s, id, peer, &why) == 0)
			return 0;
		if (why.code == ERR_STATE && backoff_pause(&p))
			continue;
		*e = why;
		if (why.code != ERR_STATE)
			return -1;
		e->code = ERR_AGAIN;
		return err_hint(e,
				"if an earlier network namespace of this container has it, end the "
				"processes that hold it; else `ip link del %s`",
				id->name);
	}
	return -1;
}

int hostveth_add(const struct hostveth_sides *s, const struct hostveth_request *w, struct err *e)
{
	auto_hostveth_plans struct hostveth_plans plans = { 0 };
	struct link_info end, peer;
	struct hostveth_id id;

	if (find_whole(s, &id, &end, &peer, e) || refuse_taken(s, w->ips, end.ifindex, e) ||
	    (!end.ifindex && (apply_create(s, &id, &end, e) || pod_end(s, &id, &peer, e))))
		return -1;

	const struct hostveth_place at = { end.ifindex, peer.ifindex, w->metric };

	if (set_up_pair(s, &id, w, &at, e))
		return err_wrap(e, "host.veth: %s", id.name);
	if (hostveth_plan(w->conf, w->ips, w->node, &at, &plans))
		return err_nomem(e);
	return routing_apply(s->pod, &plans.pod, e) || routing_apply(s->node, &plans.node, e)
		       ? err_wrap(e, "host.veth: %s", id.name)
		       : 0;
}

int hostveth_check(const struct hostveth_sides *s, const struct hostveth_request *w, struct err *e)
{
	auto_hostveth_plans struct hostveth_plans plans = { 0 };
	struct link_info end, peer;
	struct hostveth_id id;

	if (hostveth_find(s, &id, &end, e))
		return -1;
	if (!end.ifindex)
		return err_set(e, ERR_STATE, 0, "the node lacks the veth %s of the pod", id.name);
	if (pod_end(s, &id, &peer, e))
		return -1;

	const struct hostveth_place at = { end.ifindex, peer.ifindex, w->metric };

	if (hostveth_plan(w->conf, w->ips, w->node, &at, &plans))
		return err_nomem(e);
	return routing_check(s->pod, &plans.pod, HOSTVETH_POD, e) ||
			       routing_check(s->node, &plans.node, id.name, e) ||
			       hostveth_check_senders(s->node, id.name, end.ifindex, e)
		       ? -1
		       : 0;
}

/* ---- removing ---- */

static int remove_node_routes(const struct hostveth_sides *s, const struct cni_result *r,
			      int ifindex, struct err *e)
{
	for (size_t i = 0; i < r->n_ips; i++) {
		const struct route_spec x = { .dst = r->ips[i].address, .ifindex = ifindex };

		if (nl_route_delete(s->node, &x, e))
			return -1;
	}
	return 0;
}

/* *used: other attachments use the pair. It no longer takes packets from the one that goes. */
static int release_end(const struct hostveth_sides *s, const struct cni_result *r, int ifindex,
		       bool *used, struct err *e)
{
	auto_senders struct senders l = { 0 };
	struct err why;

	if (remove_node_routes(s, r, ifindex, e) || list_senders(s->node, ifindex, &l, e))
		return -1;
	*used = l.n > 0;
	if (!*used || nl_ingress_allow(s->node, ifindex, l.addr, l.n, &why) == 0)
		return 0;
	*used = why.errnum != ENODEV;
	if (*used)
		log_warn(s->log, "host.veth: the node still takes packets from what goes: %s",
			 why.msg);
	return 0;
}

struct pod_removal {
	struct nl *pod;
	uint32_t metric;
	struct err *e;
	bool failed;
};

static int remove_pod_route(const struct route_spec *r, void *arg)
{
	struct pod_removal *x = arg;

	if (r->table == HOSTVETH_TABLE && r->priority == x->metric)
		x->failed = nl_route_delete(x->pod, r, x->e) != 0;
	return x->failed;
}

/* The one for senders without an address stays until the last attachment goes. */
static int remove_pod_rules(struct nl *pod, const struct cni_result *r, bool last, struct err *e)
{
	const struct rule_spec unbound = hostveth_rule_of((struct ip){ .family = IP_V4 });

	for (size_t i = 0; i < r->n_ips; i++) {
		const struct rule_spec x = hostveth_rule_of(r->ips[i].address.addr);

		if (nl_rule_delete(pod, &x, e))
			return -1;
	}
	return last && nl_rule_delete(pod, &unbound, e) ? -1 : 0;
}

/* metric, r: the share of one attachment in the pair. */
static int clean_pod(struct nl *pod, uint32_t metric, const struct cni_result *r, bool last,
		     struct err *e)
{
	struct pod_removal x = { .pod = pod, .metric = metric, .e = e };

	if (!pod)
		return 0;
	if (nl_route_list(pod, 0, remove_pod_route, &x, e) || x.failed)
		return -1;
	return remove_pod_rules(pod, r, last, e);
}

int hostveth_remove(const struct hostveth_sides *s, const struct json *note, struct err *e)
{
	const char *name = hostveth_noted_name(note);
	auto_result struct cni_result ips = { 0 };
	struct link_info end;
	bool used = false;
	struct err why;

	if (!name)
		return 0;
	/* The pod can hold the lock as well: it must not keep itself from ending. */
	if (s->pod_ns && lock_descriptor(s->pod_ns->fd, "the pod's veth", LOCK_MS, &why))
		log_warn(s->log, "%s; going on without", why.msg);
	int rc = hostveth_noted_ips(note, &ips, e) ? -1 : find_link(s->node, name, &end, e);
	if (rc < 0)
		return -1;
	bool ours = rc > 0 && is_end(&end, hostveth_id(s->container, 0).node_mac);
	if (ours && release_end(s, &ips, end.ifindex, &used, e))
		return -1;
	if (clean_pod(s->pod, hostveth_noted_metric(note), &ips, !used, e))
		return -1;
	return ours && !used ? nl_link_delete(s->node, end.ifindex, e) : 0;
}

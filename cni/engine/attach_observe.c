/* SPDX-License-Identifier: Apache-2.0 */
/* attach_observe.c: opens the namespaces, and looks up the master and the interface. */
#include <errno.h>
#include <string.h>

#include "cni/engine/attach_priv.h"
#include "cni/engine/attach_steps.h"
#include "lib/net/addr.h"

int attach_open(struct attach *a, struct err *e)
{
	const struct cni_env *env = &a->call->env;

	if (netns_open(env->netns, &a->pod, e))
		return err_wrap(e, "CNI_NETNS");
	if (netns_open_self(&a->host, e))
		return -1;
	if (netns_same(a->pod.id, a->host.id) && !env->netns_override) {
		err_set(e, ERR_NETNS, 0,
			"plugin's netns and netns from CNI_NETNS should not be the same");
		return err_hint(e, "CNI_NETNS=%.256s is the host's; CNI_NETNS_OVERRIDE=1 allows it",
				env->netns);
	}
	a->view = netns_view_self(&a->call->ctx);
	if (nl_open(&a->host_nl, e))
		return -1;
	return nl_open_in(&a->pod, &a->host, &a->pod_nl, e);
}

struct nl *attach_master_nl(const struct attach *a)
{
	return a->conf.in_container ? a->pod_nl : a->host_nl;
}

static const char *where(const struct attach *a)
{
	return a->conf.in_container ? "in the container (linkInContainer)" : "on this host";
}

static int find_default(struct attach *a, struct nl *nl, struct err *e)
{
	int ifindex;

	if (nl_route_default_dev(nl, &ifindex, e) == 0)
		return nl_link_by_index(nl, ifindex, &a->master, e);
	if (e->errnum != ENODEV)
		return err_wrap(e, "find the interface of the default route");
	return err_set(e, ERR_CONFIG, 0,
		       "master: not given, and there is no default route %s to take it from",
		       where(a));
}

static int attach_observe_check_mtu(const struct attach *a, struct err *e)
{
	uint32_t most = a->type->max_mtu ? a->type->max_mtu(a) : a->master.mtu;

	if (a->conf.mtu <= most)
		return 0;
	if (a->type->max_mtu)
		return err_set(e, ERR_CONFIG, 0,
			       "mtu: %u is more than the %u that %s on master %s can have",
			       a->conf.mtu, most, a->type->kind, a->master.name);
	return err_set(e, ERR_CONFIG, 0,
		       "mtu: %u is more than the %u of master %s; lower it, or raise that",
		       a->conf.mtu, most, a->master.name);
}

int attach_lower_of_master(const struct attach *a)
{
	const struct link_info *m = &a->master;

	return strcmp(m->kind, a->type->kind) == 0 && m->lower_ifindex ? m->lower_ifindex
								       : m->ifindex;
}

struct master_place attach_master_place(const struct attach *a)
{
	return (struct master_place){ .ctx = &a->call->ctx,
				      .nl = attach_master_nl(a),
				      .where = where(a),
				      .from = a->master_from };
}

int attach_find_master(struct attach *a, struct err *e)
{
	struct master_place place = attach_master_place(a);

	if (a->conf.master.on_demand ? attach_find_on_demand(a, e)
	    : a->conf.master.n       ? master_find(&place, &a->conf.master, &a->master, e)
				     : find_default(a, place.nl, e))
		return -1;
	if (a->type->check_master && a->type->check_master(a, e))
		return -1;
	return attach_observe_check_mtu(a, e);
}

int attach_find(struct attach *a, struct err *e)
{
	return a->type->find ? a->type->find(a, e) : attach_find_master(a, e);
}

struct tuning_place attach_tuning_place(const struct attach *a)
{
	return (struct tuning_place){
		.host = &a->host,
		.pod = &a->pod,
		.pod_nl = a->pod_nl,
		.proc = a->call->ctx.proc,
		.ifname = a->link.name,
		.ifindex = a->link.ifindex,
	};
}

struct attach_host attach_host_of(const struct attach *a)
{
	return (struct attach_host){
		.sides = { .container = a->call->env.container,
			   .log = &a->call->ctx.log,
			   .proc = a->call->ctx.proc,
			   .node_ns = &a->host,
			   .pod_ns = &a->pod,
			   .node = a->host_nl,
			   .pod = a->pod_nl },
		.conf = &a->conf.host,
	};
}

int attach_host_join(struct attach_host *h, const struct attach *a, const struct cni_result *ips,
		     struct err *e)
{
	int master = a->conf.in_container ? 0 : a->master.ifindex;

	if (!a->conf.host.veth)
		return 0;
	if (a->no_link)
		return err_set(e, ERR_CONFIG, 0,
			       "host.veth: the device has no interface in the pod");
	for (size_t i = 0; i < a->conf.routing.n_supernets; i++) {
		const struct cni_route x = { .dst = a->conf.routing.supernet[i], .table = -1 };

		if (cni_result_add_route(&h->ips, &x, e))
			return -1;
	}
	return attach_host_take(h, a->link.ifindex, master, ips, e);
}

struct inuse_place attach_inuse_place(const struct attach *a)
{
	return (struct inuse_place){
		.ctx = &a->records.ctx,
		.link = &a->link,
		.pod_nl = a->pod_nl,
		.lower_nl = attach_master_nl(a),
		.master = a->master.name,
		.wait_ms = INUSE_WAIT_MS,
	};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma/plugin/pod.h"

#include <string.h>

struct record_key rdma_pod_key(const struct cni_call *call)
{
	return (struct record_key){ call->conf.name, call->env.container, call->env.ifname };
}

struct rdma_view rdma_pod_view(const struct rdma_pod *p)
{
	return (struct rdma_view){
		.ctx = &p->call->ctx,
		.host = &p->host,
		.pod = &p->pod,
		.host_nl = p->host_nl,
		.pod_nl = p->pod_nl,
		.host_rdma = p->host_rdma,
	};
}

int rdma_pod_init(struct rdma_pod *p, const struct cni_call *call, struct err *e)
{
	const struct cni_conf *c = &call->conf;

	*p = (struct rdma_pod){ .call = call, .host = { .fd = -1 }, .pod = { .fd = -1 } };
	if (rdma_conf_read(c, &p->conf, e) || rdma_place(&call->ctx, &p->place, e))
		return -1;
	if (p->conf.debug)
		p->place.ctx.log.level = LOG_LEVEL_DEBUG;
	if (!c->prev_result)
		return err_set(e, ERR_CONFIG, 0,
			       "prevResult: missing: rdma stands behind the plugin that makes the "
			       "interface, in one list of plugins");
	return cni_result_parse(c->prev_result, "prevResult", c->version, &p->prev, e);
}

void rdma_pod_clear(struct rdma_pod *p)
{
	cni_result_clear(&p->prev);
	nl_release(p->host_nl);
	nl_release(p->pod_nl);
	nl_release(p->host_rdma);
	nl_release(p->pod_rdma);
	netns_close(&p->host);
	netns_close(&p->pod);
}

static int open_netns(struct rdma_pod *p, struct err *e)
{
	const struct cni_env *env = &p->call->env;

	if (netns_open(env->netns, &p->pod, e))
		return err_wrap(e, "CNI_NETNS");
	if (netns_open_self(&p->host, e))
		return -1;
	if (netns_same(p->pod.id, p->host.id) && !env->netns_override)
		return err_set(e, ERR_NETNS, 0,
			       "plugin's netns and netns from CNI_NETNS should not be the same");
	return 0;
}

int rdma_pod_open(struct rdma_pod *p, struct err *e)
{
	struct rdma_sys sys;

	if (open_netns(p, e) || nl_open(&p->host_nl, e) ||
	    nl_open_in(&p->pod, &p->host, &p->pod_nl, e) || nl_rdma_open(&p->host_rdma, e) ||
	    nl_rdma_sys_get(p->host_rdma, &sys, e))
		return -1;
	p->mode = sys.mode;
	if (rdma_mode_check(p->mode, &p->conf, e))
		return -1;
	/* Shared devices are seen from everywhere. */
	return p->mode == RDMA_SHARED || nl_rdma_open_in(&p->pod, &p->host, &p->pod_rdma, e) == 0
		       ? 0
		       : -1;
}

int rdma_mode_check(enum rdma_mode mode, const struct rdma_conf *c, struct err *e)
{
	enum rdma_mode want = c->mode == RDMA_WANT_EXCLUSIVE ? RDMA_EXCLUSIVE : RDMA_SHARED;

	/* A name of its own is only to be had by a device that moves. */
	if (c->mode == RDMA_WANT_AUTO && c->name && mode == RDMA_SHARED)
		return err_set(e, ERR_STATE, 0,
			       "deviceName: this node shares RDMA devices, which keep their names");
	if (c->mode == RDMA_WANT_AUTO || want == mode)
		return 0;
	err_set(e, ERR_STATE, 0, "mode: \"%s\" is asked for, but this node is in RDMA mode %s",
		rdma_mode_name(want), rdma_mode_name(mode));
	return err_hint(e,
			"a node is in one mode: exclusive for VFs, whose RDMA devices move into "
			"pods, shared for macvlan and ipvlan, whose pods share that of the "
			"host; `railctl rdma mode %s` sets it, and such pods need nodes of "
			"their own",
			rdma_mode_name(want));
}

bool rdma_pod_is_own(const struct rdma_pod *p, const struct cni_ip *ip)
{
	const struct cni_env *env = &p->call->env;
	const struct cni_interface *x;

	if (ip->interface < 0 || (size_t)ip->interface >= p->prev.n_interfaces)
		return true;
	x = &p->prev.interfaces[ip->interface];
	return strcmp(x->name, env->ifname) == 0 && x->sandbox && *x->sandbox;
}

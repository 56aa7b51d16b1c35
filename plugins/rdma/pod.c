/* SPDX-License-Identifier: Apache-2.0 */
/* pod.c: the sockets and the mode of one ADD or CHECK. */
#include "plugins/rdma/pod.h"

#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(struct rdma_pod) <= ATTACH_STATE_MAX, "the state is too large");

void rdma_pod_init(void *state)
{
	*(struct rdma_pod *)state = (struct rdma_pod){ .node_lock = -1 };
}

void rdma_pod_clear(void *state)
{
	struct rdma_pod *p = state;

	nl_release(p->host_rdma);
	nl_release(p->pod_rdma);
	free(p->devinfo_was);
	if (p->node_lock >= 0)
		(void)close(p->node_lock);
}

struct rdma_view rdma_pod_view(const struct rdma_pod *p)
{
	const struct attach *a = p->a;

	return (struct rdma_view){
		.ctx = &a->call->ctx,
		.host = &a->host,
		.pod = &a->pod,
		.host_nl = a->host_nl,
		.pod_nl = a->pod_nl,
		.host_rdma = p->host_rdma,
	};
}

/* ERR_STATE if a node in this mode cannot serve the configuration. */
static int check_mode(enum rdma_mode mode, const struct rdma_conf *c, struct err *e)
{
	enum rdma_mode want = c->mode == RDMA_WANT_EXCLUSIVE ? RDMA_EXCLUSIVE : RDMA_SHARED;

	/* Only a device that moves can get another name. */
	if (c->mode == RDMA_WANT_AUTO && c->name && mode == RDMA_SHARED)
		return err_set(e, ERR_STATE, 0,
			       "deviceName: this node shares RDMA devices, which keep their names");
	if (c->mode == RDMA_WANT_AUTO || want == mode)
		return 0;
	err_set(e, ERR_STATE, 0, "mode: \"%s\" is asked for, but this node is in RDMA mode %s",
		rdma_mode_name(want), rdma_mode_name(mode));
	return err_hint(e,
			"`railctl rdma mode %s` changes the mode of the node. VFs need mode "
			"exclusive; macvlan and ipvlan need mode shared. Such pods need separate "
			"nodes",
			rdma_mode_name(want));
}

int rdma_pod_open(struct rdma_pod *p, struct err *e)
{
	const struct attach *a = p->a;
	struct rdma_sys sys;

	if (nl_rdma_open(&p->host_rdma, e) || nl_rdma_sys_get(p->host_rdma, &sys, e))
		return -1;
	p->mode = sys.mode;
	if (check_mode(p->mode, &p->conf, e))
		return -1;
	/* Every namespace sees shared devices. */
	if (p->mode == RDMA_SHARED || a->pod.fd < 0)
		return 0;
	return nl_rdma_open_in(&a->pod, &a->host, &p->pod_rdma, e);
}

bool rdma_pod_is_own(const struct rdma_pod *p, const struct cni_ip *ip)
{
	const struct cni_env *env = &p->a->call->env;
	const struct cni_interface *x;

	if (ip->interface < 0 || (size_t)ip->interface >= p->a->prev.n_interfaces)
		return true;
	x = &p->a->prev.interfaces[ip->interface];
	return strcmp(x->name, env->ifname) == 0 && x->sandbox && *x->sandbox;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c: mode shared: finds the RDMA device of the pod, and waits for the GIDs of its addresses.
 */
#include <errno.h>
#include <string.h>

#include "rdma/plugin/pod.h"

int rdma_shared_find(struct rdma_pod *p, struct err *e)
{
	const struct rdma_view v = rdma_pod_view(p);

	if (rdma_of_netdev(&v, p->a->call->env.ifname, &p->serving, e))
		return -1;
	memcpy(p->pod_name, p->serving.link.name, sizeof(p->pod_name));
	return rdma_chardevs_read(p->host_rdma, &p->serving.link, &p->chardevs, e);
}

static int explain_missing(const struct rdma_pod *p, struct ip addr, const struct gid_look *look,
			   struct err *e)
{
	const struct rdma_serving *s = &p->serving;
	char text[IP_STR_LEN];

	err_set(e, ERR_STATE, 0, "RDMA device %s port %u does not carry %s of %s as a RoCE v2 GID",
		s->link.name, s->port, ip_format(addr, text), p->a->call->env.ifname);
	if (look->found == GID_OTHER)
		return err_hint(e, "its GID %u is that address, of type %s and interface %s",
				look->entry.index, gid_type_name(look->entry.type),
				*look->entry.netdev ? look->entry.netdev : "(not told)");
	return err_hint(e, "its GIDs come from addresses of interfaces above its own that are up; "
			   "`railctl rdma list` shows them");
}

static int verify_one(struct rdma_pod *p, struct ip addr, int64_t deadline_ms, struct err *e)
{
	const struct gid_port port = { p->a->call->ctx.sysfs, p->serving.link.name,
				       p->serving.port };
	const struct gid_want want = { gid_of_ip(addr), GID_ROCE_V2, p->a->call->env.ifname };
	struct gid_look look;

	if (gid_await(&port, &want, deadline_ms, &look, e))
		return -1;
	if (look.found != GID_THERE)
		return explain_missing(p, addr, &look, e);
	if (p->n_gids < RDMA_GIDS_MAX)
		p->gid[p->n_gids++] = look.entry;
	return 0;
}

int rdma_shared_verify(struct rdma_pod *p, int64_t deadline_ms, struct err *e)
{
	/* GIDs of InfiniBand and iWARP do not follow from addresses. */
	if (*p->serving.link.protocol && strcmp(p->serving.link.protocol, "roce") != 0)
		return 0;
	for (size_t i = 0; i < p->a->prev.n_ips; i++) {
		const struct cni_ip *ip = &p->a->prev.ips[i];

		if (rdma_pod_is_own(p, ip) && verify_one(p, ip->address.addr, deadline_ms, e))
			return -1;
	}
	return 0;
}

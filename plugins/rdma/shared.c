/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c: mode shared: finds the RDMA device of the pod, and waits for the GIDs of its addresses.
 */
#include <string.h>

#include "plugins/rdma/pod.h"

int rdma_shared_find(struct rdma_pod *p, struct err *e)
{
	const struct rdma_view v = rdma_pod_view(p);

	if (rdma_of_netdev(&v, p->a->call->env.ifname, &p->serving, e))
		return -1;
	memcpy(p->pod_name, p->serving.link.name, sizeof(p->pod_name));
	return rdma_chardevs_read(p->host_rdma, &p->serving.link, &p->chardevs, e);
}

static int verify_one(struct rdma_pod *p, struct ip addr, int64_t deadline_ms, struct err *e)
{
	const struct gid_carrier at = { p->a->call->ctx.sysfs, &p->serving,
					p->a->call->env.ifname };
	struct gid_entry entry;

	if (gid_verify(&at, addr, deadline_ms, &entry, e))
		return -1;
	if (p->n_gids < RDMA_GIDS_MAX)
		p->gid[p->n_gids++] = entry;
	return 0;
}

int rdma_shared_verify(struct rdma_pod *p, int64_t deadline_ms, struct err *e)
{
	if (!gid_follows_address(&p->serving))
		return 0;
	for (size_t i = 0; i < p->a->prev.n_ips; i++) {
		const struct cni_ip *ip = &p->a->prev.ips[i];

		if (rdma_pod_is_own(p, ip) && verify_one(p, ip->address.addr, deadline_ms, e))
			return -1;
	}
	return 0;
}

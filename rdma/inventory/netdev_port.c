/* SPDX-License-Identifier: Apache-2.0 */
/* netdev_port.c: follows each interface of a pod down to its RDMA port, from the host. */
#include "rdma/inventory/netdev_port.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/net/addr.h"

struct port_search {
	struct rdma_view v;
	struct netdev_ports *out;
	struct err *e;
	int rc;
};

void netdev_ports_clear(struct netdev_ports *s)
{
	free(s->one);
	*s = (struct netdev_ports){ 0 };
}

static bool netdev_port_is_known(const struct netdev_ports *s, int ifindex)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->one[i].ifindex == ifindex)
			return true;
	}
	return false;
}

#define PORTS_MAX 65536

/* The port's own interface, unless that is in a pod. */
static void inventory_note_netdev(const struct port_search *l, struct netdev_port *one)
{
	struct rdma_port port;
	struct link_info link;
	struct err ignored;

	if (nl_rdma_port(l->v.host_rdma, one->device, one->port, &port, &ignored) ||
	    !port.ifindex || nl_link_by_index(l->v.host_nl, port.ifindex, &link, &ignored))
		return;
	memcpy(one->netdev, link.name, sizeof(one->netdev));
	one->mtu = link.mtu;
}

/* On any failure the interface has no entry, and only the view of the pod counts. */
static int follow_lower(struct port_search *l, int ifindex)
{
	struct netdev_ports *all = l->out;
	struct rdma_serving s;
	struct link_info link;
	struct err why;

	if (nl_link_by_index(l->v.pod_nl, ifindex, &link, &why) ||
	    rdma_of_netdev(&l->v, link.name, &s, &why))
		return why.code == ERR_NOMEM ? err_nomem(l->e) : 0;

	struct netdev_port one = { .ifindex = ifindex, .device = s.link.index, .port = s.port };

	inventory_note_netdev(l, &one);
	return ARRAY_PUSH(all->one, all->n, PORTS_MAX, "interfaces with a port", one, l->e);
}

static int on_netdev_port_addr(const struct addr_info *a, void *arg)
{
	struct port_search *l = arg;

	l->rc = netdev_port_is_known(l->out, a->ifindex) ? 0 : follow_lower(l, a->ifindex);
	return l->rc;
}

static int read_netns(struct port_search *l, const struct ctx *ctx, const struct netns *pod,
		      struct err *e)
{
	auto_netns struct netns host = { .fd = -1 };
	auto_nl struct nl *host_nl = NULL, *pod_nl = NULL, *rdma = NULL;
	struct err why;

	if (netns_open_self(&host, e))
		return -1;
	if (netns_same(host.id, pod->id))
		return 0;
	if (nl_rdma_open(&rdma, &why))
		return why.code == ERR_NOTFOUND ? 0 : err_pass(e, &why);
	if (nl_open(&host_nl, e) || nl_open_in(pod, &host, &pod_nl, e))
		return -1;
	l->v = (struct rdma_view){ ctx, &host, pod, host_nl, pod_nl, rdma };
	return nl_addr_list(pod_nl, 0, on_netdev_port_addr, l, e) || l->rc ? -1 : 0;
}

int netdev_ports_read(const struct ctx *ctx, const struct netns *pod, struct netdev_ports *out,
		      struct err *e)
{
	auto_netdev_ports struct netdev_ports s = { 0 };
	struct port_search l = { .out = &s, .e = e };

	if (read_netns(&l, ctx, pod, e))
		return err_wrap(e, "what the interfaces of the pod lie on");
	*out = s;
	s = (struct netdev_ports){ 0 };
	return 0;
}

void netdev_ports_apply(const struct netdev_ports *s, struct rdma_inventory *v)
{
	for (size_t i = 0; i < v->n_netdevs; i++) {
		struct inv_netdev *d = &v->netdev[i];

		for (size_t k = 0; k < s->n; k++) {
			if (s->one[k].ifindex != d->link.ifindex)
				continue;
			d->lower_device = s->one[k].device;
			d->lower_port = s->one[k].port;
			memcpy(d->below, s->one[k].netdev, sizeof(d->below));
			d->below_mtu = s->one[k].mtu;
		}
	}
}

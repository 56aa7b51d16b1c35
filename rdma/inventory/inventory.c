/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.c: questions about an inventory. Pure: read.c reads it. */
#include "rdma/inventory/inventory.h"

#include <net/if_arp.h>
#include <string.h>

void rdma_inventory_clear(struct rdma_inventory *v)
{
	for (size_t i = 0; i < v->n_devices; i++)
		for (size_t p = 0; p < v->device[i].n_ports; p++) {
			free(v->device[i].port[p].gid);
			free(v->device[i].port[p].pkey);
		}
	for (size_t i = 0; i < v->n_netdevs; i++) {
		free(v->netdev[i].addr);
		free(v->netdev[i].route);
	}
	free(v->device);
	free(v->netdev);
	*v = (struct rdma_inventory){ 0 };
}

/* GRH 40, UDP 8, BTH 12, XRC 4, atomic 28 and ICRC 4 bytes. */
#define ROCE_HEADERS 96u

uint32_t inv_rdma_mtu(uint32_t netdev_mtu)
{
	for (uint32_t mtu = 4096; mtu >= 256; mtu /= 2)
		if (netdev_mtu >= mtu + ROCE_HEADERS)
			return mtu;
	return 0;
}

bool inv_has_addr(const struct inv_netdev *d, struct ip a)
{
	for (size_t i = 0; i < d->n_addrs; i++)
		if (ip_equal(d->addr[i].addr, a))
			return true;
	return false;
}

bool inv_is_ipoib(const struct inv_netdev *d)
{
	return d->link.type == ARPHRD_INFINIBAND && d->link.addr.len == HW_ADDR_MAX;
}

/* Only netlink reports the partition of every child: sysfs does so of some. */
uint16_t inv_pkey_of(const struct link_info *link)
{
	uint32_t pkey = link->data.ipoib.pkey;

	return strcmp(link->kind, "ipoib") == 0 && pkey_is_valid(pkey) ? (uint16_t)pkey : 0;
}

const struct inv_netdev *inv_netdev_by_index(const struct rdma_inventory *v, int ifindex)
{
	for (size_t i = 0; ifindex && i < v->n_netdevs; i++)
		if (v->netdev[i].link.ifindex == ifindex)
			return &v->netdev[i];
	return NULL;
}

/* If a GID has no interface name, only its address is compared. */
static bool inventory_is_here(const struct rdma_inventory *v, const struct gid_entry *g)
{
	struct ip a = gid_to_ip(&g->gid);

	for (size_t i = 0; i < v->n_netdevs; i++) {
		const struct inv_netdev *d = &v->netdev[i];

		if ((!*g->netdev || strcmp(d->link.name, g->netdev) == 0) && inv_has_addr(d, a))
			return true;
	}
	return false;
}

void inv_mark_gids(struct rdma_inventory *v)
{
	for (size_t i = 0; i < v->n_devices; i++) {
		for (size_t p = 0; p < v->device[i].n_ports; p++) {
			struct inv_port *port = &v->device[i].port[p];

			for (size_t g = 0; g < port->n_gids; g++)
				port->gid[g].here = inventory_is_here(v, &port->gid[g].entry);
		}
	}
}

/* ---- InfiniBand ---- */

bool inv_port_guid(const struct inv_port *p, struct guid *out)
{
	if (p->layer != IB_LAYER_INFINIBAND || !p->n_gids || p->gid[0].entry.index != 0)
		return false;
	memcpy(out->byte, p->gid[0].entry.gid.raw + 8, GUID_LEN);
	return true;
}

const struct inv_pkey *inv_pkey_find(const struct inv_port *p, uint16_t pkey)
{
	const struct inv_pkey *found = NULL;

	for (size_t i = 0; i < p->n_pkeys; i++) {
		if (p->pkey[i].pkey == pkey)
			return &p->pkey[i];
		if (!found && pkey_partition(p->pkey[i].pkey) == pkey_partition(pkey))
			found = &p->pkey[i];
	}
	return found;
}

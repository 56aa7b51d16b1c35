/* SPDX-License-Identifier: Apache-2.0 */
/* pod.c: builds inventories, interface by interface and GID by GID. */
#include "rdma/testing/pod.h"

#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>

#include "lib/base/array.h"
#include "lib/testing/testing.h"

#define ROOM 1000

struct rdma_inventory pod_new(enum rdma_mode mode)
{
	struct rdma_inventory v = { .has_rdma = true, .mode = mode };

	v.default_ifindex = pod_netdev(&v, "eth0", "veth", "10.244.0.5/24");
	return v;
}

static void add_addrs(struct inv_netdev *d, const char *addrs)
{
	struct slice rest = { addrs, strlen(addrs) }, one;
	char text[PREFIX_STR_LEN];
	struct err e;

	while (slice_next(&rest, ' ', &one)) {
		if (!one.len)
			continue;
		ck_assert_int_eq(ARRAY_GROW(d->addr, d->n_addrs, ROOM, "addresses", &e), 0);
		ck_assert_int_eq(slice_copy(one, text, sizeof(text)), 0);
		ck_assert_int_eq(ip_parse_prefix(text, &d->addr[d->n_addrs++]), 0);
	}
}

int pod_netdev(struct rdma_inventory *v, const char *name, const char *what, const char *addrs)
{
	struct err e;

	ck_assert_int_eq(ARRAY_GROW(v->netdev, v->n_netdevs, ROOM, "interfaces", &e), 0);

	struct inv_netdev *d = &v->netdev[v->n_netdevs++];

	*d = (struct inv_netdev){ .link.ifindex = 10 + (int)v->n_netdevs,
				  .link.mtu = 4200,
				  .link.flags = IFF_UP };
	(void)snprintf(d->link.name, sizeof(d->link.name), "%s", name);
	if (bus_addr_valid(what))
		(void)snprintf(d->link.parent, sizeof(d->link.parent), "%.31s", what);
	else
		(void)snprintf(d->link.kind, sizeof(d->link.kind), "%s", what);
	add_addrs(d, addrs);
	/* As rdma_routes_read() does. */
	d->has_routes = d->n_addrs > 0;
	return d->link.ifindex;
}

void pod_route(struct inv_netdev *d, const char *dst)
{
	struct err e;

	ck_assert_int_eq(ARRAY_GROW(d->route, d->n_routes, ROOM, "routes", &e), 0);
	ck_assert_int_eq(ip_parse_prefix(dst, &d->route[d->n_routes++]), 0);
}

struct inv_port *pod_port(struct rdma_inventory *v, const char *name, const char *bus, int ifindex)
{
	struct err e;

	ck_assert_int_eq(ARRAY_GROW(v->device, v->n_devices, ROOM, "RDMA devices", &e), 0);

	struct inv_device *d = &v->device[v->n_devices++];

	*d = (struct inv_device){ .link = { .index = (uint32_t)v->n_devices, .ports = 1 },
				  .numa_node = -1,
				  .n_ports = 1 };
	(void)snprintf(d->link.name, sizeof(d->link.name), "%s", name);
	(void)snprintf(d->bus, sizeof(d->bus), "%s", bus);
	(void)snprintf(d->uverbs.name, sizeof(d->uverbs.name), "uverbs%zu", v->n_devices - 1);
	d->uverbs.major = 231;
	d->uverbs.minor = 191 + (uint32_t)v->n_devices;
	d->port[0] = (struct inv_port){ .port = 1,
					.state = RDMA_PORT_ACTIVE,
					.layer = IB_LAYER_ETHERNET,
					.rate_mbps = 100000,
					.ifindex = ifindex,
					.has_gids = true };

	const struct inv_netdev *own = inv_netdev_by_index(v, ifindex);

	if (own) {
		(void)snprintf(d->port[0].netdev, sizeof(d->port[0].netdev), "%s", own->link.name);
		d->port[0].netdev_mtu = own->link.mtu;
	}
	return &d->port[0];
}

void pod_gid(struct inv_port *p, uint32_t index, enum gid_type type, const char *ip,
	     const char *netdev)
{
	struct ip a;
	struct err e;

	ck_assert_int_eq(ARRAY_GROW(p->gid, p->n_gids, ROOM, "GIDs", &e), 0);
	ck_assert_int_eq(ip_parse(ip, &a), 0);

	struct inv_gid *g = &p->gid[p->n_gids++];

	*g = (struct inv_gid){ .entry = { .index = index, .gid = gid_of_ip(a), .type = type } };
	(void)snprintf(g->entry.netdev, sizeof(g->entry.netdev), "%s", netdev);
}

void pod_rail(struct rdma_inventory *v, unsigned number, const char *addr, uint32_t index)
{
	char name[16], bus[24], device[16], ip[PREFIX_STR_LEN];

	(void)snprintf(name, sizeof(name), "net%u", number);
	(void)snprintf(bus, sizeof(bus), "0000:%02x:00.2", number);
	(void)snprintf(device, sizeof(device), "mlx5_%u", number);
	(void)snprintf(ip, sizeof(ip), "%.*s", (int)strcspn(addr, "/"), addr);

	struct inv_port *p = pod_port(v, device, bus, pod_netdev(v, name, bus, addr));

	pod_gid(p, 0, GID_ROCE_V1, "fe80::1", name);
	pod_gid(p, 1, GID_ROCE_V2, "fe80::1", name);
	pod_gid(p, index - 1, GID_ROCE_V1, ip, name);
	pod_gid(p, index, GID_ROCE_V2, ip, name);
	inv_mark_gids(v);
}

void pod_rails(struct rdma_inventory *v, unsigned n, uint32_t first, uint32_t step)
{
	char addr[32];

	for (unsigned i = 1; i <= n; i++) {
		(void)snprintf(addr, sizeof(addr), "10.%u.0.5/16", i);
		pod_rail(v, i, addr, first + (i - 1) * step);
	}
}

void pod_pkey(struct inv_port *p, uint32_t index, uint16_t pkey)
{
	struct err e;

	ck_assert_int_eq(ARRAY_GROW(p->pkey, p->n_pkeys, ROOM, "partition keys", &e), 0);
	p->pkey[p->n_pkeys++] = (struct inv_pkey){ index, pkey };
}

void pod_ib(struct inv_port *p, uint32_t lid, const char *guid)
{
	struct gid gid = { { 0xfe, 0x80 } };
	struct guid g;

	ck_assert_int_eq(guid_parse(guid, &g), 0);
	memcpy(gid.raw + 8, g.byte, GUID_LEN);
	p->layer = IB_LAYER_INFINIBAND;
	p->phys_state = 5;
	p->subnet = (struct ib_subnet){
		.known = true, .lid = lid, .sm_lid = 1, .prefix = UINT64_C(0xfe80) << 48
	};
	ck_assert_uint_eq(p->n_gids, 0);
	pod_gid(p, 0, GID_IB, "fe80::1", "");
	p->gid[0].entry.gid = gid;
	p->has_pkeys = true;
	pod_pkey(p, 0, 0xffff);
}

int pod_ipoib(struct rdma_inventory *v, const char *name, const struct inv_port *p, int lower)
{
	int ifindex = pod_netdev(v, name, "ipoib", "");
	struct link_info *link = &v->netdev[v->n_netdevs - 1].link;
	uint8_t addr[20] = { 0x80, 0, 0, 0x42 };

	memcpy(addr + 4, p->gid[0].entry.gid.raw, 16);
	link->type = ARPHRD_INFINIBAND;
	link->addr = hw_addr_make(addr, sizeof(addr));
	link->lower_ifindex = lower;
	return ifindex;
}

struct rdma_inventory pod_crowded(uint32_t first, uint32_t second)
{
	struct rdma_inventory v = pod_new(RDMA_SHARED);
	struct inv_port *p;
	char ip[32];

	(void)pod_netdev(&v, "net1", "macvlan", "10.1.0.50/16");
	(void)pod_netdev(&v, "net2", "macvlan", "10.2.0.50/16");
	for (unsigned rail = 1; rail <= 2; rail++) {
		p = pod_port(&v, rail == 1 ? "mlx5_0" : "mlx5_1",
			     rail == 1 ? "0000:18:00.0" : "0000:19:00.0", 0);
		pod_gid(p, 0, GID_ROCE_V2, "fe80::1", "ens1");
		for (uint32_t i = 1; i < (rail == 1 ? first : second); i++) {
			(void)snprintf(ip, sizeof(ip), "10.%u.0.%u", rail, i);
			pod_gid(p, i, GID_ROCE_V2, ip, rail == 1 ? "net1" : "net2");
		}
		(void)snprintf(ip, sizeof(ip), "10.%u.0.50", rail);
		pod_gid(p, rail == 1 ? first : second, GID_ROCE_V2, ip,
			rail == 1 ? "net1" : "net2");
	}
	inv_mark_gids(&v);
	return v;
}

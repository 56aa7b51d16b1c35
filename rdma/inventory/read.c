/* SPDX-License-Identifier: Apache-2.0 */
/* read.c: an inventory, by RDMA netlink, route netlink and sysfs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/sys/fs.h"
#include "lib/net/addr.h"
#include "rdma/inventory/inventory.h"

struct reading {
	const struct ctx *ctx;
	struct nl *nl, *rdma;
	struct rdma_inventory *out;
	struct err *e;
	int rc;
};

/* If something disappeared between two requests, that is not an error. */
static int unless_gone(const struct err *why, struct err *e)
{
	if (why->code == ERR_NOTFOUND || why->errnum == ENODEV)
		return 0;
	return err_pass(e, why);
}

#define NETDEVS_MAX 65536
#define ADDRS_MAX   65536
#define DEVICES_MAX 65536

/* ---- interfaces ---- */

static int read_add_netdev(struct reading *r, int ifindex, struct inv_netdev **out)
{
	struct rdma_inventory *v = r->out;
	struct link_info link;
	struct err why;

	*out = (struct inv_netdev *)inv_netdev_by_index(v, ifindex);
	if (*out)
		return 0;
	if (nl_link_by_index(r->nl, ifindex, &link, &why))
		return unless_gone(&why, r->e);

	if (ARRAY_GROW(v->netdev, v->n_netdevs, NETDEVS_MAX, "interfaces", r->e))
		return -1;
	*out = &v->netdev[v->n_netdevs++];
	**out = (struct inv_netdev){ .link = link, .pkey = inv_pkey_of(&link) };
	return 0;
}

static int add_addr(struct reading *r, const struct addr_info *a)
{
	struct inv_netdev *d;

	if (read_add_netdev(r, a->ifindex, &d))
		return -1;
	if (!d)
		return 0;

	return ARRAY_PUSH(d->addr, d->n_addrs, ADDRS_MAX, "addresses of one interface", a->addr,
			  r->e);
}

static int on_read_addr(const struct addr_info *a, void *arg)
{
	struct reading *r = arg;

	r->rc = add_addr(r, a);
	return r->rc;
}

/*
 * Interfaces without an address appear only in a list of all links, which is costly (nl.h). Their
 * names are in /proc/net/dev: two lines of titles, then lines of "name: numbers".
 */
#define NET_DEV_MAX (16u << 20)

static int add_named(struct reading *r, struct slice line)
{
	char name[IFNAME_LEN];
	const char *colon = memchr(line.p, ':', line.len);
	struct link_info link;
	struct inv_netdev *d;
	struct err why;

	while (line.len && *line.p == ' ')
		line = (struct slice){ line.p + 1, line.len - 1 };
	if (!colon ||
	    slice_copy((struct slice){ line.p, (size_t)(colon - line.p) }, name, sizeof(name)))
		return 0;
	if (nl_link_by_name(r->nl, name, &link, &why))
		return unless_gone(&why, r->e);
	return read_add_netdev(r, link.ifindex, &d);
}

static int inventory_read_names(struct reading *r)
{
	char path[PATH_MAX];
	auto_free char *text = NULL;
	struct err why;
	struct slice rest, line;

	(void)snprintf(path, sizeof(path), "%s/thread-self/net/dev", r->ctx->proc);

	ssize_t n = fs_read_at(AT_FDCWD, path, NET_DEV_MAX, &text, &why);

	if (n < 0)
		return why.code == ERR_NOMEM ? err_nomem(r->e) : 0;
	rest = (struct slice){ text, (size_t)n };
	while (slice_next(&rest, '\n', &line))
		if (add_named(r, line))
			return -1;
	return 0;
}

static int read_default(struct reading *r)
{
	struct err why;

	if (nl_route_default_dev(r->nl, &r->out->default_ifindex, &why) == 0)
		return 0;
	r->out->default_ifindex = 0;
	return unless_gone(&why, r->e);
}

/* ---- devices ---- */

static int take_port(struct reading *r, struct inv_device *d, const struct rdma_port *from)
{
	struct inv_port *p = &d->port[d->n_ports];
	struct inv_netdev *netdev = NULL;

	*p = (struct inv_port){ .port = from->port,
				.state = from->state,
				.phys_state = from->phys_state,
				.subnet = from->subnet };
	d->n_ports++;
	if (from->ifindex && read_add_netdev(r, from->ifindex, &netdev))
		return -1;
	if (netdev) {
		p->ifindex = from->ifindex;
		memcpy(p->netdev, netdev->link.name, sizeof(p->netdev));
		p->netdev_mtu = netdev->link.mtu;
	}
	return inv_read_port(r->ctx->sysfs, d->link.name, p, r->e);
}

struct of_device {
	struct reading *r;
	struct inv_device *d;
};

static int on_read_port(const struct rdma_port *p, void *arg)
{
	const struct of_device *of = arg;

	if (of->d->n_ports == RDMA_PORTS_MAX)
		return 1;
	of->r->rc = take_port(of->r, of->d, p);
	return of->r->rc;
}

static int read_uverbs(struct reading *r, struct inv_device *d)
{
	const struct rdma_chardev_of of = { .type = "uverbs", .index = d->link.index };
	struct err why;

	/* Kernels before 5.2 do not know this request. */
	if (nl_rdma_chardev(r->rdma, of, &d->uverbs, &why) == 0 || why.code == ERR_KERNEL)
		return 0;
	return unless_gone(&why, r->e);
}

static int read_device(struct reading *r, const struct rdma_link *link)
{
	struct rdma_inventory *v = r->out;

	if (ARRAY_GROW(v->device, v->n_devices, DEVICES_MAX, "RDMA devices", r->e))
		return -1;

	struct inv_device *d = &v->device[v->n_devices++];

	*d = (struct inv_device){ .link = *link, .numa_node = -1 };
	if (inv_read_device(r->ctx->sysfs, d, r->e) || read_uverbs(r, d))
		return -1;

	struct of_device of = { r, d };
	struct err why;

	if (nl_rdma_ports(r->rdma, d->link.index, on_read_port, &of, &why))
		return unless_gone(&why, r->e);
	return r->rc;
}

static int on_read_device(const struct rdma_link *d, void *arg)
{
	struct reading *r = arg;

	r->rc = read_device(r, d);
	return r->rc;
}

/* ---- all of it ---- */

static int inventory_read_rdma(struct reading *r)
{
	auto_nl struct nl *rdma = NULL;
	struct rdma_sys sys;
	struct err why;

	if (nl_rdma_open(&rdma, &why))
		return unless_gone(&why, r->e);
	r->rdma = rdma;
	if (nl_rdma_sys_get(rdma, &sys, r->e))
		return -1;
	r->out->has_rdma = true;
	r->out->mode = sys.mode;
	return nl_rdma_list(rdma, on_read_device, r, r->e) || r->rc ? -1 : 0;
}

int rdma_inventory_read(const struct ctx *ctx, struct rdma_inventory *out, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	auto_rdma_inventory struct rdma_inventory v = { .mode = RDMA_SHARED };
	struct reading r = { .ctx = ctx, .out = &v, .e = e };

	if (nl_open(&nl, e))
		return -1;
	r.nl = nl;
	if (nl_addr_list(nl, 0, on_read_addr, &r, e) || r.rc || inventory_read_names(&r) ||
	    read_default(&r) || inventory_read_rdma(&r))
		return -1;
	inv_mark_gids(&v);
	*out = v;
	v = (struct rdma_inventory){ 0 };
	return 0;
}

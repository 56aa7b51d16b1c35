/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_list.c: all devices with their ports and GIDs, for `rdma-probe list`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/sysfs.h"
#include "rdma/probe/verbs_priv.h"

/* A line of a file in sysfs; "" if it cannot be read. EINVAL: there is no interface. */
static void port_line(char *out, size_t size, const char *device, unsigned port, const char *file)
{
	char path[192];
	struct err ignored = { 0 };

	(void)snprintf(path, sizeof(path), "class/infiniband/%.64s/ports/%u/%.64s", device, port,
		       file);
	if (sysfs_read("/sys", path, out, size, &ignored))
		out[0] = '\0';
}

static struct verbs_gid one_gid(const char *device, const struct ibv_gid_entry *entry)
{
	struct verbs_gid g = { .index = entry->gid_index,
			       .type = verbs_gid_type(entry->gid_type),
			       .ifindex = entry->ndev_ifindex };
	char file[64];

	memcpy(g.raw, entry->gid.raw, sizeof(g.raw));
	(void)snprintf(file, sizeof(file), "gid_attrs/ndevs/%u", entry->gid_index);
	port_line(g.netdev, sizeof(g.netdev), device, entry->port_num, file);
	g.here = verbs_gid_is_here(g.raw);
	return g;
}

static int add_gids(struct verbs_port *port, const char *device,
		    const struct verbs_gid_table *table, struct err *e)
{
	port->gids = calloc(table->n + 1, sizeof(*port->gids));
	if (!port->gids)
		return err_nomem(e);
	for (size_t i = 0; i < table->n; i++) {
		if (table->entry[i].port_num == port->num)
			port->gids[port->n_gids++] = one_gid(device, &table->entry[i]);
	}
	return 0;
}

static void describe_port(struct ibv_context *ctx, const char *device, struct verbs_port *port)
{
	struct ibv_port_attr attr;

	port->state = "?";
	if (ibv_query_port(ctx, (uint8_t)port->num, &attr))
		return;
	port->active = attr.state == IBV_PORT_ACTIVE;
	port->state = port->active                   ? "ACTIVE"
		      : attr.state == IBV_PORT_DOWN  ? "DOWN"
		      : attr.state == IBV_PORT_INIT  ? "INIT"
		      : attr.state == IBV_PORT_ARMED ? "ARMED"
						     : "?";
	port->ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	port->mtu = 128u << attr.active_mtu;
	port->lid = attr.lid;
	port->sm_lid = attr.sm_lid;
	port->lmc = attr.lmc;
	port_line(port->rate, sizeof(port->rate), device, port->num, "rate");
}

static int add_ports(struct ibv_context *ctx, struct verbs_device *d, struct err *e)
{
	struct ibv_device_attr attr;
	struct verbs_gid_table table = { 0 };

	if (ibv_query_device(ctx, &attr))
		return err_set(e, ERR_KERNEL, errno, "asking for the attributes of %s", d->name);
	if (verbs_gid_table(ctx, &table, e))
		return -1;
	auto_free struct ibv_gid_entry *entries = table.entry;
	(void)entries;
	d->ports = calloc(attr.phys_port_cnt, sizeof(*d->ports));
	if (!d->ports)
		return err_nomem(e);
	for (d->n_ports = 0; d->n_ports < attr.phys_port_cnt; d->n_ports++) {
		struct verbs_port *port = &d->ports[d->n_ports];
		port->num = (unsigned)d->n_ports + 1;
		describe_port(ctx, d->name, port);
		if (add_gids(port, d->name, &table, e))
			return -1;
	}
	return 0;
}

/* An error of one device is part of its entry. The other devices are still listed. */
static int describe_device(struct ibv_device *dev, const struct verbs_mlx5 *mlx5,
			   struct verbs_device *d, struct err *e)
{
	d->direct = (struct verbs_direct){ .answer = VERBS_NOT_KNOWN,
					   .why = "the device cannot be opened" };
	(void)snprintf(d->name, sizeof(d->name), "%s", ibv_get_device_name(dev));
	(void)snprintf(d->uverbs, sizeof(d->uverbs), "%s", dev->dev_name);
	struct ibv_context *ctx = ibv_open_device(dev);
	if (!ctx) {
		(void)verbs_open_error(dev, errno, &d->closed);
		return 0;
	}
	verbs_ask_direct(mlx5, ctx, &d->direct);
	int rc = add_ports(ctx, d, &d->closed);
	(void)ibv_close_device(ctx);
	return rc && d->closed.code == ERR_NOMEM ? err_nomem(e) : 0;
}

static void free_list(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

int verbs_list(struct verbs_devices *out, struct err *e)
{
	int n = 0;
	auto_clean(free_list) struct ibv_device **list = ibv_get_device_list(&n);
	struct verbs_devices devices = { 0 };
	struct verbs_mlx5 mlx5;

	/* ENOSYS: the kernel has no RDMA at all. */
	if (!list && errno != ENOSYS && errno != ENOENT)
		return err_set(e, ERR_KERNEL, errno, "listing RDMA devices");
	if (!list)
		n = 0;
	devices.list = calloc((size_t)n + 1, sizeof(*devices.list));
	if (!devices.list)
		return err_nomem(e);
	verbs_mlx5_load(&mlx5);
	for (; devices.n < (size_t)n; devices.n++) {
		if (describe_device(list[devices.n], &mlx5, &devices.list[devices.n], e)) {
			devices.n++;
			verbs_list_free(&devices);
			return -1;
		}
	}
	*out = devices;
	return 0;
}

void verbs_list_free(struct verbs_devices *d)
{
	for (size_t i = 0; i < d->n; i++) {
		for (size_t j = 0; j < d->list[i].n_ports; j++)
			free(d->list[i].ports[j].gids);
		free(d->list[i].ports);
	}
	free(d->list);
	*d = (struct verbs_devices){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sysfs.c: the files of sysfs about an RDMA device and its ports. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/device/sysfs.h"
#include "lib/rdma/traffic_class.h"
#include "rdma/inventory/inventory.h"

/* ---- a device ---- */

#define ATTR_PATH_LEN 160

/* An attribute of a device: its path below sysfs. Names are at most 63 bytes long. */
static const char *attr_path(const char *device, const char *name, char out[ATTR_PATH_LEN])
{
	(void)snprintf(out, ATTR_PATH_LEN, "class/infiniband/%.64s/%.64s", device, name);
	return out;
}

/* A missing file gives "": software devices have no hardware, and devices may disappear. */
static int sysfs_read_text(const char *sysfs, const char *path, char *out, size_t size,
			   struct err *e)
{
	struct err why;

	if (sysfs_read(sysfs, path, out, size, &why) == 0)
		return 0;
	*out = '\0';
	return why.code == ERR_NOMEM ? err_nomem(e) : 0;
}

/* The last part of the target of a link; "" if there is none, or if it does not fit. */
static void sysfs_read_link(int sysfs, const char *path, char *out, size_t size)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(sysfs, path, target, sizeof(target) - 1);

	*out = '\0';
	if (n <= 0)
		return;
	target[n] = '\0';

	const char *base = strrchr(target, '/');

	base = base ? base + 1 : target;
	if (strlen(base) < size)
		memcpy(out, base, strlen(base) + 1);
}

/* The file has -1 or a number. For an auxiliary device it is the file of its PF. */
static int read_numa(const char *sysfs, struct inv_device *d, struct err *e)
{
	static const char *const where[] = { "device/numa_node", "device/../numa_node" };
	char path[ATTR_PATH_LEN], text[16] = "";
	uint64_t n;

	for (size_t i = 0; !*text && i < ARRAY_SIZE(where); i++)
		if (sysfs_read_text(sysfs, attr_path(d->link.name, where[i], path), text,
				    sizeof(text), e))
			return -1;
	d->numa_node = parse_u64(text, 0, INT_MAX, &n) ? -1 : (int)n;
	return 0;
}

int inv_read_device(const char *sysfs, struct inv_device *d, struct err *e)
{
	char path[ATTR_PATH_LEN], bus[BUS_ADDR_LEN];
	const char *name = d->link.name;
	auto_fd int root = open(sysfs, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return err_set(e, ERR_KERNEL, EBADMSG, "an RDMA device is called \"%.64s\"", name);
	if (root < 0)
		return err_set(e, ERR_IO, errno, "open %s", sysfs);
	sysfs_read_link(root, attr_path(name, "device", path), bus, sizeof(bus));
	/* On older kernels a software device points to the interface below it. */
	(void)snprintf(d->bus, sizeof(d->bus), "%s", bus_addr_valid(bus) ? bus : "");
	sysfs_read_link(root, attr_path(name, "device/driver", path), d->driver, sizeof(d->driver));
	d->vf = faccessat(root, attr_path(name, "device/physfn", path), F_OK, 0) == 0;
	return read_numa(sysfs, d, e);
}

/* ---- a port ---- */

#define GIDS_MAX 65536

struct collected {
	struct inv_port *port;
	struct err *e;
	bool failed;
};

static int collect_gid(const struct gid_entry *g, void *arg)
{
	struct collected *c = arg;
	struct inv_port *p = c->port;

	if (ARRAY_GROW(p->gid, p->n_gids, GIDS_MAX, "GIDs of one port", c->e)) {
		c->failed = true;
		return 1;
	}
	p->gid[p->n_gids++] = (struct inv_gid){ .entry = *g };
	return 0;
}

static int read_gids(const char *sysfs, const char *device, struct inv_port *p, struct err *e)
{
	const struct gid_port where = { .root = sysfs, .device = device, .port = p->port };
	struct collected c = { .port = p, .e = e };
	struct err why;

	if (gid_each(&where, collect_gid, &c, &why))
		return why.code == ERR_NOTFOUND ? 0 : err_pass(e, &why);
	if (c.failed)
		return -1;
	p->has_gids = true;
	return 0;
}

/* The table of the kernel has at most that many entries. */
#define PKEYS_MAX 65536

/*
 * An entry is "0xffff"; a free one is "0x0000". The first file that is missing is the end. If an
 * entry cannot be read, the table is not known.
 */
static int read_pkeys(const char *sysfs, const char *device, struct inv_port *p, struct err *e)
{
	char name[40], path[ATTR_PATH_LEN], text[16];
	struct err why;
	uint16_t pkey;

	for (uint32_t i = 0; i < PKEYS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "ports/%u/pkeys/%u", p->port, i);
		if (sysfs_read(sysfs, attr_path(device, name, path), text, sizeof(text), &why)) {
			p->has_pkeys = i > 0 && why.errnum == ENOENT;
			return why.code == ERR_NOMEM ? err_nomem(e) : 0;
		}
		if (pkey_parse(text, &pkey))
			continue;
		if (ARRAY_GROW(p->pkey, p->n_pkeys, PKEYS_MAX, "partition keys of one port", e))
			return -1;
		p->pkey[p->n_pkeys++] = (struct inv_pkey){ i, pkey };
	}
	return 0;
}

int inv_read_port(const char *sysfs, const char *device, struct inv_port *p, struct err *e)
{
	char name[32], path[ATTR_PATH_LEN], text[64];

	(void)snprintf(name, sizeof(name), "ports/%u/link_layer", p->port);
	if (sysfs_read_text(sysfs, attr_path(device, name, path), text, sizeof(text), e))
		return -1;
	p->layer = ib_link_layer_parse(text);
	(void)snprintf(name, sizeof(name), "ports/%u/rate", p->port);
	if (sysfs_read_text(sysfs, attr_path(device, name, path), text, sizeof(text), e))
		return -1;
	p->rate_mbps = ib_rate_mbps(text);
	if (p->layer == IB_LAYER_INFINIBAND && read_pkeys(sysfs, device, p, e))
		return -1;
	if (p->layer == IB_LAYER_ETHERNET &&
	    traffic_class_read(sysfs, device, p->port, &p->traffic_class, e))
		return -1;
	return read_gids(sysfs, device, p, e);
}

// SPDX-License-Identifier: Apache-2.0
/* Captures RDMA devices and the interfaces of PCI functions and their bonds, no others. */
#include "topo/capture/priv.h"

#define CLASS_IB  "class/infiniband"
#define CLASS_NET "class/net"
#define ENTRIES   65536

/* Keep the link of a class's entry; returns its folder, and its path as sys/...; -1: none. */
static int open_entry(struct capture *c, int class, const char *folder, const char *name,
		      char prefix[TREE_PATH + 8])
{
	char path[TREE_PATH], in[64];

	switch (tree_link(class, folder, name, path)) {
	case TREE_LINK:
		(void)snprintf(in, sizeof(in), "sys/%s", folder);
		keep_link(c, class, in, name);
		break;
	case TREE_NO_LINK:
		if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
			return -1;
		break;
	case TREE_BAD_LINK:
		return -1;
	}
	(void)snprintf(prefix, TREE_PATH + 8, "sys/%s", path);
	return tree_open(c->t.fd, path);
}

static int keep_ports(struct capture *c, int hca, const char *prefix, struct err *e)
{
	static const char *const files[] = { "state", "rate", "link_layer", NULL };
	static const char *const first[] = { "0", NULL };
	auto_fs_names struct fs_names names = { .n = 0 };
	auto_fd int ports = tree_open(hca, "ports");
	char at[TREE_PATH + 300];

	if (ports < 0)
		return 0;
	if (tree_names(ports, ENTRIES, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		auto_fd int port = tree_open(ports, names.name[i]);
		if (port < 0)
			continue;
		(void)snprintf(at, sizeof(at), "%s/ports/%s", prefix, names.name[i]);
		tar_dir(&c->tar, at);
		keep_files(c, port, at, files);
		auto_fd int ndevs = tree_open(port, "gid_attrs/ndevs");
		(void)snprintf(at, sizeof(at), "%s/ports/%s/gid_attrs/ndevs", prefix,
			       names.name[i]);
		if (ndevs >= 0)
			keep_files(c, ndevs, at, first);
	}
	return 0;
}

int capture_hcas(struct capture *c, struct err *e)
{
	static const char *const files[] = { "parent", "node_guid", "sys_image_guid", NULL };
	auto_fs_names struct fs_names names = { .n = 0 };
	auto_fd int class = tree_open(c->t.fd, CLASS_IB);
	char prefix[TREE_PATH + 8];

	/* without this folder, a reader would guess HCAs by class */
	if (class >= 0 || c->m.source == TOPO_LIVE)
		tar_dir(&c->tar, "sys/" CLASS_IB);
	if (class >= 0 && tree_names(class, ENTRIES, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		auto_fd int hca = open_entry(c, class, CLASS_IB, names.name[i], prefix);
		if (hca < 0)
			continue;
		tar_dir(&c->tar, prefix);
		keep_files(c, hca, prefix, files);
		keep_link(c, hca, prefix, "device");
		if (keep_ports(c, hca, prefix, e))
			return -1;
	}
	return 0;
}

/* The interface belongs to a PCI function, is a bond, or is above one of these. */
static bool net_is_wanted(struct capture *c, int class, const char *name)
{
	char path[TREE_PATH], device[TREE_PATH];
	enum tree_link l = tree_link(class, CLASS_NET, name, path);

	if (l == TREE_BAD_LINK)
		return false;
	if (l == TREE_LINK && tree_last(&c->t, path) != TOPO_NONE)
		return true;
	auto_fd int dir = l == TREE_LINK ? tree_open(c->t.fd, path) : tree_open(class, name);
	auto_fd int bonding = dir < 0 ? -1 : tree_open(dir, "bonding");
	return bonding >= 0 || (dir >= 0 && tree_link(dir, path, "device", device) == TREE_LINK &&
				tree_last(&c->t, device) != TOPO_NONE);
}

static void keep_netdev(struct capture *c, int dir, const char *prefix)
{
	static const char *const files[] = { "dev_port", "phys_port_name", NULL };
	static const char *const slaves[] = { "slaves", NULL };
	char at[TREE_PATH + 16];
	auto_fd int bonding = tree_open(dir, "bonding");

	tar_dir(&c->tar, prefix);
	keep_files(c, dir, prefix, files);
	keep_link(c, dir, prefix, "device");
	keep_link(c, dir, prefix, "master");
	(void)snprintf(at, sizeof(at), "%s/bonding", prefix);
	if (bonding >= 0)
		keep_files(c, bonding, at, slaves);
}

int capture_netdevs(struct capture *c, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	auto_fd int class = tree_open(c->t.fd, CLASS_NET);
	char prefix[TREE_PATH + 8];

	tar_dir(&c->tar, "sys/" CLASS_NET);
	if (class >= 0 && tree_names(class, ENTRIES, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		if (!net_is_wanted(c, class, names.name[i]))
			continue;
		auto_fd int dir = open_entry(c, class, CLASS_NET, names.name[i], prefix);
		if (dir >= 0)
			keep_netdev(c, dir, prefix);
	}
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* Network interfaces: which function one belongs to, which one a port has, which bond it is in. */
#include <stdio.h>
#include <string.h>

#include "rdma/affinity/read_priv.h"

#define CLASS_NET "class/net"
#define NETDEVS   65536

/* Where the folder of an interface is; false: there is none of that name. */
static bool netdev_path(const struct tree *t, const char *ifname, char out[TREE_PATH])
{
	auto_fd int net = tree_open(t->fd, CLASS_NET);

	if (net < 0 || ifname_problem(ifname))
		return false;
	switch (tree_link(net, CLASS_NET, ifname, out)) {
	case TREE_LINK:
		return true;
	case TREE_NO_LINK:
		return snprintf(out, TREE_PATH, CLASS_NET "/%s", ifname) < TREE_PATH;
	case TREE_BAD_LINK:
		break;
	}
	return false;
}

uint32_t tree_netdev(const struct tree *t, const char *ifname)
{
	char path[TREE_PATH], device[TREE_PATH];

	if (!netdev_path(t, ifname, path))
		return AFF_NONE;
	uint32_t pci = tree_last(t, path);
	if (pci != AFF_NONE)
		return pci;
	auto_fd int dir = tree_open(t->fd, path);
	if (dir < 0 || tree_link(dir, path, "device", device) != TREE_LINK)
		return AFF_NONE;
	return tree_last(t, device);
}

static void set_netdev(struct aff_port *p, const char *name)
{
	if (!ifname_problem(name))
		memcpy(p->netdev, name, strlen(name) + 1);
}

/* "pf0vf3", "pf0sf1": not the function's own interface, but its end of somebody else's. */
static bool is_representor(int dir)
{
	char name[TREE_VALUE];

	if (tree_value(dir, "phys_port_name", name) || *name == '\0')
		return false;
	return *name != 'p' || name[1 + strspn(name + 1, "0123456789")] != '\0';
}

/* Of the interfaces of its function, the one of that port. */
static int by_function(const struct tree *t, const char *path, struct aff_port *p, struct err *e)
{
	auto_tree_names struct tree_names names = { 0 };
	char net[TREE_PATH];
	const char *cut = strstr(path, "/infiniband/");

	if (!cut || snprintf(net, sizeof(net), "%.*s/net", (int)(cut - path), path) >= TREE_PATH)
		return 0;
	auto_fd int dir = tree_open(t->fd, net);
	if (dir < 0)
		return 0;
	if (tree_names(dir, NETDEVS, &names, e))
		return -1;
	for (size_t i = 0; i < names.n && !*p->netdev; i++) {
		auto_fd int folder = tree_open(dir, names.name[i]);
		int port = 0;
		if (folder < 0)
			continue;
		(void)tree_number(folder, "dev_port", &port);
		if ((uint32_t)port + 1 == p->port && !is_representor(folder))
			set_netdev(p, names.name[i]);
	}
	return 0;
}

int tree_port_netdev(const struct tree *t, const char *path, int dir, struct aff_port *p,
		     struct err *e)
{
	char name[TREE_VALUE];
	auto_fd int ndevs = tree_open(dir, "gid_attrs/ndevs");

	if (ndevs >= 0 && !tree_value(ndevs, "0", name))
		set_netdev(p, name);
	return *p->netdev ? 0 : by_function(t, path, p, e);
}

/* The list of slaves of the bond; false: it is none. */
static bool slaves_of(const struct tree *t, const char *path, char out[TREE_VALUE])
{
	auto_fd int dir = tree_open(t->fd, path);
	auto_fd int bonding = dir < 0 ? -1 : tree_open(dir, "bonding");

	return bonding >= 0 && !tree_value(bonding, "slaves", out);
}

static bool bond_slaves(const struct tree *t, const char *ifname, char out[TREE_VALUE])
{
	char path[TREE_PATH], master[TREE_PATH];

	if (!netdev_path(t, ifname, path))
		return false;
	if (slaves_of(t, path, out))
		return true;
	auto_fd int dir = tree_open(t->fd, path);
	return dir >= 0 && tree_link(dir, path, "master", master) == TREE_LINK &&
	       slaves_of(t, master, out);
}

uint32_t tree_bond(const struct tree *t, const char *ifname, uint32_t not_this)
{
	char slaves[TREE_VALUE], name[IFNAME_LEN];
	struct slice rest, part;

	if (!bond_slaves(t, ifname, slaves))
		return AFF_NONE;
	rest = (struct slice){ slaves, strlen(slaves) };
	while (slice_next(&rest, ' ', &part)) {
		uint32_t pci =
			slice_copy(part, name, sizeof(name)) ? AFF_NONE : tree_netdev(t, name);
		if (pci != AFF_NONE && pci != not_this)
			return pci;
	}
	return AFF_NONE;
}

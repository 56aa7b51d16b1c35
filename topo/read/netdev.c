// SPDX-License-Identifier: Apache-2.0
/* Network interfaces: the function of an interface, the interface of a port, the slaves of a bond.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "topo/read/tree.h"

#define CLASS_NET "class/net"
#define NETDEVS   65536

/* The path of an interface's folder; false: there is no such interface. */
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
		return TOPO_NONE;
	uint32_t pci = tree_last(t, path);
	if (pci != TOPO_NONE)
		return pci;
	auto_fd int dir = tree_open(t->fd, path);
	if (dir < 0 || tree_link(dir, path, "device", device) != TREE_LINK)
		return TOPO_NONE;
	return tree_last(t, device);
}

/* ---- all of them ---- */

static int by_function_and_name(const void *x, const void *y)
{
	const struct tree_netdev *a = x, *b = y;

	if (a->pci != b->pci)
		return a->pci < b->pci ? -1 : 1;
	return strcmp(a->name, b->name);
}

int tree_netdevs(struct tree *t, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	auto_fd int net = tree_open(t->fd, CLASS_NET);
	char path[TREE_PATH];

	if (net < 0)
		return 0;
	if (tree_names(net, NETDEVS, &names, e))
		return -1;
	t->netdev = calloc(names.n + 1, sizeof(*t->netdev));
	if (!t->netdev)
		return err_nomem(e);
	for (size_t i = 0; i < names.n; i++) {
		struct tree_netdev *d = &t->netdev[t->n_netdevs];
		if (ifname_problem(names.name[i]) ||
		    tree_link(net, CLASS_NET, names.name[i], path) != TREE_LINK)
			continue;
		d->pci = tree_last(t, path);
		memcpy(d->name, names.name[i], strlen(names.name[i]) + 1);
		t->n_netdevs += d->pci != TOPO_NONE;
	}
	qsort(t->netdev, t->n_netdevs, sizeof(*t->netdev), by_function_and_name);
	return 0;
}

/* The interface of a function, if it has exactly one; else NULL. */
static const char *only_netdev(const struct tree *t, uint32_t pci)
{
	const size_t at = ARRAY_PLACE(i, t->n_netdevs, t->netdev[i].pci < pci);

	if (at == t->n_netdevs || t->netdev[at].pci != pci)
		return NULL;
	return at + 1 < t->n_netdevs && t->netdev[at + 1].pci == pci ? NULL : t->netdev[at].name;
}

/* ---- of a port ---- */

static void set_netdev(struct topo_port *p, const char *name)
{
	if (!ifname_problem(name))
		memcpy(p->netdev, name, strlen(name) + 1);
}

/* "pf0vf3", "pf0sf1": the interface stands for a VF or SF. */
static bool is_representor(int folder)
{
	char name[TREE_VALUE];

	return !tree_value(folder, "phys_port_name", name) && !pci_port_of_pf(name);
}

/* Set the interface of a port by dev_port, from the interfaces of its function. */
static int netdev_by_dev_port(const struct tree *t, const char *path, struct topo_port *p,
			      struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
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

static void mark_representor(const struct tree *t, struct topo_port *p)
{
	char path[TREE_PATH];
	auto_fd int folder =
		*p->netdev && netdev_path(t, p->netdev, path) ? tree_open(t->fd, path) : -1;

	p->representor = folder >= 0 && is_representor(folder);
}

int tree_port_netdev(const struct tree *t, struct tree_path *path, const struct topo_hca *h,
		     struct topo_port *p, struct err *e)
{
	bool simple = h->n_ports == 1 && (h->kind == TOPO_HCA_PF || h->kind == TOPO_HCA_VF);
	const char *only = simple && h->pci != TOPO_NONE ? only_netdev(t, h->pci) : NULL;
	char name[TREE_VALUE], file[64];

	if (only) {
		set_netdev(p, only);
		return 0;
	}
	(void)snprintf(file, sizeof(file), "ports/%u/gid_attrs/ndevs/0", p->port);
	if (!tree_value(t->fd, tree_at(path, file), name))
		set_netdev(p, name);
	mark_representor(t, p);
	path->text[path->len] = '\0';
	return *p->netdev ? 0 : netdev_by_dev_port(t, path->text, p, e);
}

/* ---- bonds ---- */

/* The slaves of a bond, separated by blanks; false: path is not a bond. */
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
		return TOPO_NONE;
	rest = (struct slice){ slaves, strlen(slaves) };
	while (slice_next(&rest, ' ', &part)) {
		uint32_t pci =
			slice_copy(part, name, sizeof(name)) ? TOPO_NONE : tree_netdev(t, name);
		if (pci != TOPO_NONE && pci != not_this)
			return pci;
	}
	return TOPO_NONE;
}

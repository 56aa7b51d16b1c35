// SPDX-License-Identifier: Apache-2.0
/* Lists the paths of a tree's PCI functions, from bus/pci/devices or else from the folders. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "topo/read/tree.h"

#define DEVICES   "bus/pci/devices"
#define FUNCTIONS 65536

/* One entry of bus/pci/devices. */
static int list_link(struct tree *t, int dir, const char *name, struct fs_names *out, struct err *e)
{
	char path[TREE_PATH];
	struct pci_addr a;

	if (pci_parse(name, &a))
		return 0;
	switch (tree_link(dir, DEVICES, name, path)) {
	case TREE_LINK:
		if (strcmp(tree_last_name(path).p, name) != 0)
			break;
		return tree_push(out, FUNCTIONS, path, e);
	case TREE_NO_LINK:
		/* The copy followed links: the function's folder is here, and its parent is lost.
		 */
		(void)snprintf(path, sizeof(path), DEVICES "/%s", name);
		return tree_push(out, FUNCTIONS, path, e);
	case TREE_BAD_LINK:
		break;
	}
	return topo_add_note(t->m, e,
			     DEVICES "/%s is left out: the link leads out of the tree, or "
				     "to something else",
			     name);
}

/* Without bus/pci: every function is a folder in the folder of the function above it. */
static int list_below(struct tree *t, const char *path, struct fs_names *out, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char below[TREE_PATH];
	struct pci_addr a;
	auto_fd int dir = tree_open(t->fd, path);

	if (dir < 0)
		return 0;
	if (tree_names(dir, FUNCTIONS, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		struct slice name = { names.name[i], strlen(names.name[i]) };
		bool function = tree_is_function(name, &a);
		int n = snprintf(below, sizeof(below), "%s/%s", path, names.name[i]);
		if ((!function && !tree_is_root(name)) || n >= (int)sizeof(below))
			continue;
		if ((function && tree_push(out, FUNCTIONS, below, e)) ||
		    list_below(t, below, out, e))
			return -1;
	}
	return 0;
}

int tree_list(struct tree *t, struct fs_names *out, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	auto_fd int dir = tree_open(t->fd, DEVICES);

	if (dir < 0)
		return list_below(t, "devices", out, e);
	if (tree_names(dir, FUNCTIONS, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		if (list_link(t, dir, names.name[i], out, e))
			return -1;
	}
	return 0;
}

int tree_list_one(struct tree *t, const char *bdf, struct fs_names *out, struct err *e)
{
	auto_fd int dir = tree_open(t->fd, DEVICES);
	char name[PCI_STR_LEN];
	struct pci_addr a;

	if (dir < 0 || pci_parse(bdf, &a) ||
	    faccessat(dir, pci_format(a, name), F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	return list_link(t, dir, name, out, e);
}

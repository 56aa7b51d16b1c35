// SPDX-License-Identifier: Apache-2.0
/* Runs the steps of reading a tree in their order; a machine is complete afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "topo/read/tree.h"
#include "topo/core/pci_switch.h"

static int sysfs_open_tree(const char *sysfs, struct tree *t, struct err *e)
{
	static const char *const some[] = { "devices", "bus", "class" };

	t->fd = open(sysfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (t->fd < 0)
		return err_set(e, ERR_NOTFOUND, errno, "%s", sysfs);
	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		if (!faccessat(t->fd, some[i], F_OK, 0))
			return 0;
	}
	return err_set(e, ERR_NOTFOUND, 0,
		       "%s holds none of devices, bus and class: it is not a /sys", sysfs);
}

int topo_read_sysfs(const char *sysfs, const char *proc, const struct topo_read_opts *o,
		    struct topo_machine *out, struct err *e)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_tree struct tree t = { .fd = -1, .m = &m, .opts = o };
	auto_fs_names struct fs_names paths = { .n = 0 };

	m.source = strcmp(sysfs, "/sys") != 0 ? TOPO_CAPTURE : TOPO_LIVE;
	if (sysfs_open_tree(sysfs, &t, e) || tree_list(&t, &paths, e) ||
	    tree_functions(&t, &paths, e) || tree_index(&t, e))
		return -1;
	if (tree_cpus(&t, proc, e) || tree_gpus(&t, e) || tree_netdevs(&t, e) || tree_hcas(&t, e))
		return -1;
	tree_firmware(&t);
	tree_c2c(&t, proc);
	topo_sort(&m);
	if (topo_number_cards(&m, e))
		return -1;
	tree_data_direct(&t);
	topo_number_chips(&m);
	*out = m;
	m = (struct topo_machine){ 0 };
	return 0;
}

int topo_read_functions(const char *sysfs, const char *const *bdf, size_t n,
			struct topo_machine *out, struct err *e)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_tree struct tree t = { .fd = -1, .m = &m };
	auto_fs_names struct fs_names paths = { .n = 0 };

	m.source = strcmp(sysfs, "/sys") != 0 ? TOPO_CAPTURE : TOPO_LIVE;
	if (sysfs_open_tree(sysfs, &t, e))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (tree_list_one(&t, bdf[i], &paths, e))
			return -1;
	}
	if (tree_functions(&t, &paths, e) || tree_index(&t, e) || tree_roots(&t, e))
		return -1;
	topo_number_chips(&m);
	*out = m;
	m = (struct topo_machine){ 0 };
	return 0;
}

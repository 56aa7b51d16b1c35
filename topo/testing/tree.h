/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h: a /sys made by a test, or unpacked from testdata/sysfs. Everything fails the test
 * if it cannot. Paths are absolute, below testing_dir().
 */
#ifndef RAILHEAD_TOPO_TESTING_TREE_H
#define RAILHEAD_TOPO_TESTING_TREE_H

#include "topo/core/machine.h"

/* tree_unpack - testdata/sysfs/<name>.tar.*; the folder that holds sys, and proc when there is
 * one; valid until the next call. */
const char *tree_unpack(const char *name);

/* tree_made - the same for testdata/made/<name>.txt. */
const char *tree_made(const char *name);

/* tree_put, tree_ln - a file or a link below root, with the folders above it. */
void tree_put(const char *root, const char *path, const char *text);
void tree_ln(const char *root, const char *path, const char *target);

/* A function at devices/<path>, "pci0000:00/0000:00:01.0/0000:01:00.0". */
struct tree_fn {
	const char *path;
	uint32_t class_code;
	uint16_t vendor, device;
	int numa;
	const char *speed; /* max and current; NULL: it has no such files */
	int width;
};
void tree_add(const char *root, const struct tree_fn *f);
/* tree_add_hca - at devices/<path>/infiniband/<name>, one port, ACTIVE, 400 Gbit/s, Ethernet. */
void tree_add_hca(const char *root, const char *path, const char *name, uint64_t guid);
/* tree_add_netdev - at devices/<path>/net/<name>. */
void tree_add_netdev(const char *root, const char *path, const char *name, int dev_port);
/* tree_add_vfs - n VFs (class and physfn only) beside the PF at devices/<path>, which must end in
 * .0 of device 0; with RDMA devices <stem><number> unless stem is NULL. */
void tree_add_vfs(const char *root, const char *path, unsigned n, const char *stem);

/* tree_reverse - make the links of a folder anew, the last first. */
void tree_reverse(const char *root, const char *folder);

/* tree_machine - read <dir>/sys and <dir>/proc; the caller clears. */
void tree_machine(const char *dir, struct topo_machine *out);

/* tree_dump - all of a machine as text; owned by the caller. */
char *tree_dump(const struct topo_machine *m);

#endif

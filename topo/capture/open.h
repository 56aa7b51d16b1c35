/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h: opens the captured tree that a user names.
 *
 *	auto_topo_opened struct topo_opened o = { 0 };
 *	if (topo_open(path, &o, &e) || topo_read_sysfs(o.dirs.sysfs, o.dirs.proc, &opts, &m, &e))
 *		...
 *	... gdr_check(&m, &choice, &o.dirs, ...) ...
 */
#ifndef RAILHEAD_TOPO_CAPTURE_OPEN_H
#define RAILHEAD_TOPO_CAPTURE_OPEN_H

#include "topo/gdr/gdr.h"

struct topo_opened {
	struct topo_tree_dirs
		dirs; /* proc and boot may be NULL; the texts are those below, owned */
	char *sysfs, *proc, *boot;
};

/*
 * topo_open - path is a folder that represents /sys, or has the folders sys, proc and boot, or one
 * folder with these. "/sys" is the live machine. ERR_NOTFOUND: path does not exist, or has no such
 * tree. ERR_FIELD: it is not a folder; a hint says how to extract a tar.
 */
int topo_open(const char *path, struct topo_opened *out, struct err *e) must_check;
/* topo_opened_clear - free the texts. */
void topo_opened_clear(struct topo_opened *o);
#define auto_topo_opened auto_clean(topo_opened_clear)

#endif

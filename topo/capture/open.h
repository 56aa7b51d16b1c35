/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h: opens the captured tree that a user names: a folder, or a tar of one.
 *
 *	auto_topo_opened struct topo_opened o = { 0 };
 *	if (topo_open(path, &o, &e) || topo_read_sysfs(o.dirs.sysfs, o.dirs.proc, &opts, &m, &e))
 *		...
 *	... gdr_check(&m, &choice, &o.dirs, ...) ...
 */
#ifndef RAILHEAD_TOPO_CAPTURE_OPEN_H
#define RAILHEAD_TOPO_CAPTURE_OPEN_H

#include "topo/gdr/gdr.h"
#include "topo/capture/temp.h"

struct topo_opened {
	struct topo_tree_dirs
		dirs; /* proc and boot may be NULL; the texts are those below, owned */
	char *sysfs, *proc, *boot;
	struct temp_dir temp;
};

/*
 * topo_open - path is a folder or a tar file, compressed or not. A tar is unpacked into a private
 * folder below $TMPDIR or /tmp (temp.h), with at most 256 MiB and 200000 entries and no devices.
 * The folder represents /sys, or it has the folders sys, proc and boot, or one folder with these.
 * "/sys" is the live machine. ERR_NOTFOUND: path does not exist, or has no such tree. ERR_FIELD: it
 * is not a tar, or too large.
 */
int topo_open(const char *path, struct topo_opened *out, struct err *e) must_check;
/* topo_opened_clear - remove the unpacked files. */
void topo_opened_clear(struct topo_opened *o);
#define auto_topo_opened auto_clean(topo_opened_clear)

#endif

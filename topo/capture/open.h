/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h: a captured tree as a user names it: a folder, or a tar of one.
 *
 *	auto_aff_opened struct aff_opened o = { 0 };
 *	if (aff_open(path, &o, &e) || aff_read_sysfs(o.dirs.sysfs, o.dirs.proc, &opts, &m, &e))
 *		...
 *	... aff_ready(&m, &choice, &o.dirs, ...) ...
 */
#ifndef RAILHEAD_TOPO_CAPTURE_OPEN_H
#define RAILHEAD_TOPO_CAPTURE_OPEN_H

#include "topo/gdr/ready.h"
#include "topo/capture/temp.h"

struct aff_opened {
	struct aff_tree_dirs dirs; /* proc and boot: NULL when the tree has none; owned, below */
	char *sysfs, *proc, *boot;
	struct temp_dir temp;
};

/*
 * aff_open - path is a folder, or a file that is a tar (compressed or not), unpacked into a private
 * folder below $TMPDIR or /tmp: at most 256 MiB and 200000 entries, no devices among them. That
 * folder goes when its opener is killed, too: a process waits for it. The folder is what stands for
 * /sys, or holds it as `sys` beside `proc` and `boot`, or holds one single folder that does. "/sys"
 * itself is the live machine. ERR_NOTFOUND: there is no such thing, or no tree in it. ERR_FIELD: no
 * tar, or too large.
 */
int aff_open(const char *path, struct aff_opened *out, struct err *e) must_check;
/* aff_opened_clear - removes what was unpacked. */
void aff_opened_clear(struct aff_opened *o);
#define auto_aff_opened auto_clean(aff_opened_clear)

#endif

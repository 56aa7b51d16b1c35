/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h: saves the files of /sys, /proc and /boot that topo/read and topo/gdr read, as a tar
 * with the folders sys, proc and boot. A capture gives the same answers as its machine.
 */
#ifndef RAILHEAD_TOPO_CAPTURE_CAPTURE_H
#define RAILHEAD_TOPO_CAPTURE_CAPTURE_H

#include "topo/gdr/gdr.h"

struct topo_capture_sum {
	size_t files, links, bytes; /* bytes of the tar */
	size_t unread;              /* files that exist but could not be read */
	char first_unread[128];     /* one of them and why: "speed: Invalid argument" */
	bool denied;                /* at least one of them for lack of a right */
	bool short_config;          /* configuration spaces have 64 bytes: the caller is not root */
};

/*
 * topo_capture - write an uncompressed tar into the file `to` (mode 0600; "-": standard output),
 * about 10 KiB for each PCI function. GUIDs become numbers: equal ones stay equal. Serial numbers
 * become 0; MACs and GIDs are not captured. If this fails, an existing file does not change
 * (fs_put()). sum may be NULL.
 */
int topo_capture(const struct topo_tree_dirs *from, const char *to, struct topo_capture_sum *sum,
		 struct err *e) must_check;

#endif

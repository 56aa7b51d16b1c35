/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h: take a machine along: what the affinity helper reads of /sys, /proc and /boot, as a
 * tar with the folders sys, proc and boot. Reading it gives the answers that the machine gives.
 */
#ifndef RAILHEAD_TOPO_CAPTURE_CAPTURE_H
#define RAILHEAD_TOPO_CAPTURE_CAPTURE_H

#include "topo/gdr/ready.h"

struct aff_capture_opts {
	/* GUIDs, MACs, GIDs and serial numbers as they are. Else each becomes another one of its
	 * kind, the same everywhere in this capture and different in the next: what belongs
	 * together still does. */
	bool raw;
};

struct aff_capture_sum {
	size_t files, links, bytes; /* bytes of the tar */
	size_t unread;              /* files that are there but could not be read */
	bool short_config;          /* configuration spaces of 64 bytes only: not by root */
};

/*
 * aff_capture - write the tar into the file `to` (mode 0600; "-" is standard output), uncompressed,
 * some 10 KiB a PCI function; as fs_put() does. A file that was there stays when this fails. sum
 * may be NULL.
 */
int aff_capture(const struct aff_tree_dirs *from, const struct aff_capture_opts *o, const char *to,
		struct aff_capture_sum *sum, struct err *e) must_check;

#endif

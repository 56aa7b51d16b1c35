/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot.h: the RDMA mode that a node boots into: the parameter netns_mode of the module ib_core, as
 * the files of modprobe give it.
 */
#ifndef RAILHEAD_RDMA_DEVICE_BOOT_H
#define RAILHEAD_RDMA_DEVICE_BOOT_H

#include <limits.h>

#include "lib/base/err.h"
#include "lib/device/rdma.h"

#define RDMA_BOOT_DIR  "/etc/modprobe.d"
#define RDMA_BOOT_FILE "railhead-rdma.conf"

struct rdma_boot {
	bool given; /* else it is the kernel's default: shared */
	enum rdma_mode mode;
	char file[NAME_MAX + 1]; /* that says so; the last one does, in the order of names */
};

/* rdma_boot_line - 1: a line of such a file that sets the mode, in *out; 0: another one. Pure. */
int rdma_boot_line(const char *line, size_t len, enum rdma_mode *out);

/* rdma_boot_read - what the files *.conf of dir say; a folder that is not there says nothing. */
int rdma_boot_read(const char *dir, struct rdma_boot *out, struct err *e) must_check;

/*
 * rdma_boot_write - make RDMA_BOOT_FILE of dir say so. ERR_BUSY when a file that comes behind it in
 * the order of names says otherwise: it is named, and nothing is written.
 */
int rdma_boot_write(const char *dir, enum rdma_mode mode, struct err *e) must_check;

#endif

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
	bool given; /* false: no file sets it, the kernel's default (shared) counts */
	enum rdma_mode mode;
	char file[NAME_MAX + 1]; /* the file that sets it: the last one by name */
};

/* rdma_boot_line - 1 if this line of such a file sets the mode, which is then in *out; else 0.
 * Pure. */
int rdma_boot_line(const char *line, size_t len, enum rdma_mode *out);

/* rdma_boot_read - the mode that the files *.conf in dir set. A missing folder sets nothing. */
int rdma_boot_read(const char *dir, struct rdma_boot *out, struct err *e) must_check;

/*
 * rdma_boot_write - set the mode in RDMA_BOOT_FILE of dir. ERR_BUSY, with nothing written, if a
 * file that is later by name sets another mode. The error names that file.
 */
int rdma_boot_write(const char *dir, enum rdma_mode mode, struct err *e) must_check;

#endif

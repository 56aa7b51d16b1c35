/* SPDX-License-Identifier: Apache-2.0 */
/* tar.h: writes a tar (POSIX.1-1988, ustar). */
#ifndef RAILHEAD_TOPO_CAPTURE_TAR_H
#define RAILHEAD_TOPO_CAPTURE_TAR_H

#include <stdio.h>

#include "lib/base/base.h"
#include "lib/base/err.h"

/* A tar that is written. A failure shows in the state of `to`, which stays the caller's. */
struct tar {
	FILE *to;
	size_t files, links, bytes;
};

/* tar_dir, tar_file, tar_link - write an entry. tar_end - write the end of the tar. */
void tar_dir(struct tar *t, const char *path);
void tar_file(struct tar *t, const char *path, const void *data, size_t len);
void tar_link(struct tar *t, const char *path, const char *target);
void tar_end(struct tar *t);

/*
 * tar_put - write a tar of the entries that fill writes into t, and its end, to the file path with
 * mode 0600; "-": to standard output. fill returns 0, or -1 with e. If anything fails, the file is
 * as before. ERR_IO: it cannot be written.
 */
typedef int (*tar_fill_fn)(void *arg, struct err *e);
int tar_put(struct tar *t, const char *path, tar_fill_fn fill, void *arg, struct err *e) must_check;

#endif

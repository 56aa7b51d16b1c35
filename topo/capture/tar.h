/* SPDX-License-Identifier: Apache-2.0 */
/* tar.h: the header of a tar entry (POSIX.1-1988, ustar), and the writer of a tar. */
#ifndef RAILHEAD_TOPO_CAPTURE_TAR_H
#define RAILHEAD_TOPO_CAPTURE_TAR_H

#include <stdio.h>

#include "lib/base/base.h"
#include "lib/base/err.h"

#define TAR_BLOCK 512

/* Numbers are octal digits; a text that fills its field has no NUL. */
struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], chksum[8];
	char type, linkname[100], magic[8], uname[32], gname[32], major[8], minor[8];
	char prefix[155], pad[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is one block");

/* tar_sum - the checksum: the sum of all bytes of the header, with chksum counted as blanks. */
static inline size_t tar_sum(const struct tar_header *h)
{
	const uint8_t *b = (const uint8_t *)h;
	size_t sum = 0;

	for (size_t i = 0; i < sizeof(*h); i++) {
		bool own = i >= offsetof(struct tar_header, chksum) &&
			   i < offsetof(struct tar_header, type);
		sum += own ? ' ' : b[i];
	}
	return sum;
}

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_files.h: the folder below /var/lib/cni where another CNI program keeps a file for each of
 * its attachments. The name of a file names the attachment; its text is the program's own.
 */
#ifndef RAILHEAD_CNI_RECORD_PEER_FILES_H
#define RAILHEAD_CNI_RECORD_PEER_FILES_H

#include "lib/base/ctx.h"
#include "lib/base/parse.h"

/*
 * peer_files_open - open the folder of that name below ctx->cni_dir. 1: *dir is the descriptor; 0:
 * there is no such folder, and *dir is -1. If a link or a plain file has its name, there is none,
 * either.
 */
int peer_files_open(const struct ctx *ctx, const char *folder, int *dir, struct err *e) must_check;

/*
 * peer_files_each - call fn for each name in the folder, in their order; dir is the open folder. If
 * fn returns non-zero, the loop stops; the value is discarded. An absent folder has no files.
 */
typedef int (*peer_files_fn)(int dir, const char *file, void *arg);
int peer_files_each(const struct ctx *ctx, const char *folder, peer_files_fn fn, void *arg,
		    struct err *e) must_check;

/*
 * peer_file_split - split CONTAINER-IFNAME. Each part may have dashes, so an id of at least 32
 * hexadecimal digits is the container. Without such an id, the last dash separates. *out points
 * into file; parts that are missing have length 0.
 * peer_file_copy - copy a part into a buffer with NUL, as much as fits. Both are pure.
 */
struct peer_file {
	struct slice container, ifname;
};
void peer_file_split(const char *file, struct peer_file *out);
void peer_file_copy(struct slice part, char *buf, size_t size);

#endif

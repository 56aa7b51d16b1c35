/* SPDX-License-Identifier: Apache-2.0 */
/* file_stamp.h: whether a file was written or replaced since it was read. */
#ifndef RAILHEAD_LIB_SYS_FILE_STAMP_H
#define RAILHEAD_LIB_SYS_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

struct file_stamp {
	int64_t is[6]; /* inode, size, times; all 0: it was not there */
};

/* file_stamp - of the file as it is now. Taken before the file is read, it misses no change. */
struct file_stamp file_stamp(const char *path);

/* file_stamp_renew - the stamp becomes that of now. True: it was another one. */
bool file_stamp_renew(struct file_stamp *s, const char *path);

#endif

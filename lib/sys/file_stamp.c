/* SPDX-License-Identifier: Apache-2.0 */
/* file_stamp.c: stat() before and after; a file of equal times and size has another inode. */
#include "lib/sys/file_stamp.h"

#include <string.h>
#include <sys/stat.h>

struct file_stamp file_stamp(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return (struct file_stamp){ { 0 } };
	return (struct file_stamp){ { (int64_t)st.st_ino, st.st_size, st.st_mtim.tv_sec,
				      st.st_mtim.tv_nsec, st.st_ctim.tv_sec, st.st_ctim.tv_nsec } };
}

bool file_stamp_renew(struct file_stamp *s, const char *path)
{
	const struct file_stamp now = file_stamp(path);
	bool differs = memcmp(now.is, s->is, sizeof(now.is)) != 0;

	*s = now;
	return differs;
}

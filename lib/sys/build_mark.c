/* SPDX-License-Identifier: Apache-2.0 */
/* build_mark.c: looks for the mark of a build in the first page of a program. */
#include "lib/sys/build_mark.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/base.h"

/* As execve() would say: some execute bit for root, and no mount without programs. */
static bool is_executable(int fd)
{
	struct statvfs fs;
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111) &&
	       fstatvfs(fd, &fs) == 0 && !(fs.f_flag & ST_NOEXEC);
}

bool build_mark_found(const char *path, const char *mark)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[BUILD_MARK_HEAD];

	if (fd < 0 || !is_executable(fd))
		return false;

	ssize_t n = pread(fd, head, sizeof(head), 0);

	return n > SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0 &&
	       memmem(head, (size_t)n, mark, strlen(mark)) != NULL;
}

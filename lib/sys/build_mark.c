/* SPDX-License-Identifier: Apache-2.0 */
/* build_mark.c: looks for the mark of a build in the first page of a program. */
#include "lib/sys/build_mark.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/parse.h"

#define MARK_START "railhead-build: "

/* As execve() would say: some execute bit for root, and no mount without programs. */
static bool is_executable(int fd)
{
	struct statvfs fs;
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111) &&
	       fstatvfs(fd, &fs) == 0 && !(fs.f_flag & ST_NOEXEC);
}

static bool is_elf(const char *head, size_t len)
{
	return len > SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0;
}

bool build_mark_found(const char *path, const char *mark)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[BUILD_MARK_HEAD];

	if (fd < 0 || !is_executable(fd))
		return false;

	ssize_t n = pread(fd, head, sizeof(head), 0);

	return n > 0 && is_elf(head, (size_t)n) &&
	       memmem(head, (size_t)n, mark, strlen(mark)) != NULL;
}

int build_mark_read(const void *head, size_t len, struct build_mark *out)
{
	const char *start =
		is_elf(head, len) ? memmem(head, len, MARK_START, strlen(MARK_START)) : NULL;
	struct build_mark m;

	if (!start)
		return -1;
	start += strlen(MARK_START);

	struct slice rest = { start, len - (size_t)(start - (const char *)head) }, line, id;

	/* The line must have an end: a NAME may be the beginning of another one. */
	if (!slice_next(&rest, '\n', &line) || !rest.p || !slice_next(&line, ' ', &id) || !line.p)
		return -1;
	if (slice_copy(id, m.id, sizeof(m.id)) || slice_copy(line, m.program, sizeof(m.program)))
		return -1;
	*out = m;
	return 0;
}

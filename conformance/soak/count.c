/* SPDX-License-Identifier: Apache-2.0 */
/* count.c: files, descriptors and the kernel's memory. */
#include "conformance/soak/soak.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long count_in(int fd, long *bytes)
{
	DIR *d = fdopendir(fd);
	struct stat st;
	long n = 0;

	if (!d)
		fail("fdopendir");
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		n++;
		*bytes += S_ISREG(st.st_mode) ? st.st_size : 0;
		if (S_ISDIR(st.st_mode)) {
			int sub = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			n += sub < 0 ? 0 : count_in(sub, bytes);
		}
	}
	closedir(d);
	return n;
}

long count_files(const char *dir, long *bytes)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*bytes = 0;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		fail(dir);
	return count_in(fd, bytes);
}

long count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	long n = -1; /* the directory's own */

	if (!d)
		fail("/proc/self/fd");
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* The number behind key at the beginning of a line, -1 when there is none. */
static long number_in(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	char line[512];
	long n = -1;

	while (f && n < 0 && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			n = strtol(line + strlen(key), NULL, 10);
	if (f)
		fclose(f);
	return n;
}

void count_memory(struct counts *c)
{
	c->available = number_in("/proc/meminfo", "MemAvailable:") / 1024;
	c->slab = number_in("/proc/meminfo", "Slab:") / 1024;
	c->namespaces = number_in("/proc/slabinfo", "net_namespace ");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* count.c: files, descriptors and the kernel's memory. */
#include "conformance/soak/soak.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/harness/files.h"

struct tally {
	const char *top;
	long n, bytes;
};

static bool count_one(const char *path, const struct stat *st, void *arg)
{
	struct tally *t = arg;

	t->n += strcmp(path, t->top) != 0;
	t->bytes += S_ISREG(st->st_mode) ? st->st_size : 0;
	return true;
}

long count_files(const char *dir, long *bytes)
{
	struct tally t = { .top = dir };

	files_walk(dir, count_one, &t);
	*bytes = t.bytes;
	return t.n;
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

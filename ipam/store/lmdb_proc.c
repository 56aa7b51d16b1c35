/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb_proc.c: reads state, work and locks of a process from /proc. */
#include "ipam/store/lmdb_proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/fs.h"

#define TEXT_MAX 16384

#define UTIME 14 /* fields of /proc/PID/stat, counted from 1 */
#define STIME 15
#define START 22

int lmdb_proc_parse(const char *stat, struct lmdb_holder *out)
{
	/* The name in the second field can contain any character, also ')'. */
	const char *p = strrchr(stat, ')');
	unsigned long long values[START + 1] = { 0 };
	char state;
	int n = 0;

	if (!p || sscanf(p + 1, " %c%n", &state, &n) != 1)
		return -1;
	p += 1 + n;
	for (int field = 4; field <= START; field++) {
		char *end;

		values[field] = strtoull(p, &end, 10);
		if (end == p)
			return -1;
		p = end;
	}
	*out = (struct lmdb_holder){ .state = state,
				     .started = values[START],
				     .worked = values[UTIME] + values[STIME] };
	return 0;
}

static char *lmdb_proc_read_text(int proc, const char *name)
{
	char *text = NULL;
	struct err ignored;

	return fs_read_at(proc, name, TEXT_MAX, &text, &ignored) < 0 ? NULL : text;
}

static bool has_lock(int proc, const struct stat *lock)
{
	auto_fd int fds = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fds < 0 ? NULL : fdopendir(fds);
	const struct dirent *entry;
	bool found = false;

	if (!d)
		return false;
	(void)TAKE_FD(fds); /* closedir() closes it */
	while (!found && (entry = readdir(d))) {
		char name[NAME_MAX + 8];
		struct stat st;

		(void)snprintf(name, sizeof(name), "fd/%s", entry->d_name);
		if (entry->d_name[0] == '.' || fstatat(proc, name, &st, 0) ||
		    st.st_dev != lock->st_dev || st.st_ino != lock->st_ino)
			continue;
		(void)snprintf(name, sizeof(name), "fdinfo/%s", entry->d_name);
		auto_free char *text = lmdb_proc_read_text(proc, name);
		found = text && strstr(text, "OFDLCK");
	}
	(void)closedir(d);
	return found;
}

int lmdb_proc_read(pid_t pid, int lockfd, struct lmdb_holder *out)
{
	char path[32];
	struct stat lock;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	auto_fd int proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_free char *stat = proc < 0 ? NULL : lmdb_proc_read_text(proc, "stat");
	if (!stat || lmdb_proc_parse(stat, out) || fstat(lockfd, &lock))
		return -1;
	auto_free char *status = lmdb_proc_read_text(proc, "status");
	for (const char *p = status; p && (p = strstr(p, "ctxt_switches:")); p++)
		out->worked += strtoull(p + strlen("ctxt_switches:"), NULL, 10);
	out->holds = has_lock(proc, &lock);
	return 0;
}

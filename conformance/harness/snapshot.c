/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c: one snapshot of this namespace, of all pods, of files, mounts and running programs.
 */
#include "conformance/harness/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/harness/files.h"
#include "conformance/harness/netlink.h"
#include "conformance/harness/netns.h"

#define NETNS "/run/netns"

/* ---- network namespaces ---- */

struct look {
	const struct snapshot_scope *s;
	const char *name;
	struct text *out;
};

static void look_around(void *arg)
{
	const struct look *l = arg;
	const struct netlink_scope n = { .prefix = l->name,
					 .settling = l->s->settling,
					 .rdma = l->s->rdma };
	char prefix[NAME_MAX + 32];

	netlink_lines(&n, l->out);
	(void)snprintf(prefix, sizeof(prefix), "%s sysctl", l->name);
	sysctl_lines(prefix, l->s->ignore, l->out);
}

static void look_into_pods(const struct snapshot_scope *s, struct text *out)
{
	DIR *d = opendir(NETNS);

	for (const struct dirent *e; d && (e = readdir(d));) {
		char path[PATH_MAX], name[NAME_MAX + 8];
		if (e->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), NETNS "/%s", e->d_name);
		(void)snprintf(name, sizeof(name), "pod %s", e->d_name);
		/* A file that is not a namespace is in the list of files. */
		if (netns_call(path, look_around, &(struct look){ s, name, out }) == 0)
			text_add(out, "%s namespace:\n", name);
	}
	if (d)
		(void)closedir(d);
}

/* ---- mounts and processes ---- */

/* Where, and of which type: a namespace's own number changes. */
static void mount_lines(struct text *out)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		char where[PATH_MAX] = "", *rest = strstr(line, " - ");
		if (rest && sscanf(line, "%*s %*s %*s %*s %4095s", where) == 1)
			text_add(out, "mount %s: %.*s\n", where, (int)strcspn(rest + 3, " "),
				 rest + 3);
	}
	free(line);
	if (f)
		(void)fclose(f);
}

static bool is_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	return strncmp(path, top, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* A script's program is its interpreter; its name is the second word. */
static bool is_one_of(const char *const *programs, const char *exe, const char *script)
{
	for (; *programs; programs++) {
		if (is_below(exe, *programs) || is_below(script, *programs))
			return true;
	}
	return false;
}

static void second_word(const char *pid, char out[PATH_MAX])
{
	char path[NAME_MAX + 16], line[2 * PATH_MAX];

	(void)snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	line[n > 0 ? n : 0] = '\0';
	size_t first = strlen(line) + 1;
	(void)snprintf(out, PATH_MAX, "%s", (ssize_t)first < n ? line + first : "");
	if (fd >= 0)
		(void)close(fd);
}

void running_lines(const char *const *programs, struct text *out)
{
	DIR *d = programs ? opendir("/proc") : NULL;

	for (const struct dirent *e; d && (e = readdir(d));) {
		char path[NAME_MAX + 16], exe[PATH_MAX], script[PATH_MAX];
		if (e->d_name[0] < '1' || e->d_name[0] > '9' ||
		    strtol(e->d_name, NULL, 10) == getpid())
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%s/exe", e->d_name);
		ssize_t n = readlink(path, exe, sizeof(exe) - 1);
		if (n <= 0) /* it has ended, or is the kernel's */
			continue;
		exe[n] = '\0';
		second_word(e->d_name, script);
		if (is_one_of(programs, exe, script))
			text_add(out, "process %s: %s %s\n", e->d_name, exe, script);
	}
	if (d)
		(void)closedir(d);
}

void snapshot_take(const struct snapshot_scope *s, struct text *out)
{
	const struct files_scope files = {
		.prefix = "file", .ignore = s->ignore, .opaque = s->opaque, .folders = s->folders
	};

	look_around(&(struct look){ s, "host", out });
	look_into_pods(s, out);
	for (const char *const *root = s->roots; root && *root; root++)
		files_lines(*root, &files, out);
	mount_lines(out);
	running_lines(s->programs, out);
}

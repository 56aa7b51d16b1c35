/* SPDX-License-Identifier: Apache-2.0 */
/* files.c: walk over folders, and print files with modes and contents, and sysctls, as lines. */
#include "conformance/harness/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CONTENTS_MAX = 4096 };

/* ---- walking ---- */

static void walk(char path[PATH_MAX], files_fn fn, void *arg);

static void walk_folder(char path[PATH_MAX], files_fn fn, void *arg)
{
	DIR *d = opendir(path);
	size_t len = strlen(path);

	for (const struct dirent *e; d && (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (len + strlen(e->d_name) + 2 > PATH_MAX)
			die("%s: the path is too long", path);
		(void)snprintf(path + len, PATH_MAX - len, "/%s", e->d_name);
		walk(path, fn, arg);
		path[len] = '\0';
	}
	if (d)
		(void)closedir(d);
}

static void walk(char path[PATH_MAX], files_fn fn, void *arg)
{
	struct stat st;

	if (lstat(path, &st) == 0 && fn(path, &st, arg) && S_ISDIR(st.st_mode))
		walk_folder(path, fn, arg);
}

void files_walk(const char *path, files_fn fn, void *arg)
{
	char copy[PATH_MAX];

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
		die("%s: the path is too long", path);
	walk(copy, fn, arg);
}

/* ---- patterns ---- */

static bool matches(const char *pattern, const char *path, const struct stat *st)
{
	const char *name = strrchr(path, '/');

	if (strchr(pattern, '/'))
		return fnmatch(pattern, path, 0) == 0;
	return !S_ISDIR(st->st_mode) && fnmatch(pattern, name ? name + 1 : path, 0) == 0;
}

bool files_match(const char *const *patterns, const char *path, const struct stat *st)
{
	for (; patterns && *patterns; patterns++) {
		if (matches(*patterns, path, st))
			return true;
	}
	return false;
}

/* ---- lines ---- */

struct lines {
	const struct files_scope *s;
	struct text *out;
};

static void one_line(char *s)
{
	for (; *s; s++) {
		if (*s == '\n' || *s == '\t')
			*s = ' ';
	}
}

static void add_contents(const char *path, struct text *out)
{
	char buf[CONTENTS_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		(void)close(fd);
	buf[n > 0 ? n : 0] = '\0';
	one_line(buf);
	text_add(out, " %s", n < 0 ? "(unreadable)" : buf);
}

static void add_target(const char *path, struct text *out)
{
	char buf[PATH_MAX];
	ssize_t n = readlink(path, buf, sizeof(buf) - 1);

	buf[n > 0 ? n : 0] = '\0';
	one_line(buf);
	text_add(out, " to %s", buf);
}

static bool add_file(const char *path, const struct stat *st, void *arg)
{
	const struct lines *l = arg;
	const struct files_scope *s = l->s;

	if (files_match(s->ignore, path, st))
		return false;
	if (S_ISDIR(st->st_mode) && !s->folders)
		return true;
	text_add(l->out, "%s %s: mode %o", s->prefix, path, st->st_mode);
	if (S_ISLNK(st->st_mode))
		add_target(path, l->out);
	else if (S_ISREG(st->st_mode) && st->st_size && st->st_size < CONTENTS_MAX &&
		 !files_match(s->opaque, path, st))
		add_contents(path, l->out);
	text_add(l->out, "\n");
	return true;
}

void files_lines(const char *root, const struct files_scope *s, struct text *out)
{
	struct lines l = { s, out };

	files_walk(root, add_file, &l);
}

/* The kernel's files have no size. */
static bool add_sysctl(const char *path, const struct stat *st, void *arg)
{
	const struct lines *l = arg;

	if (files_match(l->s->ignore, path, st))
		return false;
	if (!S_ISREG(st->st_mode))
		return true;
	text_add(l->out, "%s %s:", l->s->prefix, path);
	add_contents(path, l->out);
	text_add(l->out, "\n");
	return true;
}

void sysctl_lines(const char *prefix, const char *const *ignore, struct text *out)
{
	const struct files_scope s = { .prefix = prefix, .ignore = ignore };
	struct lines l = { &s, out };

	files_walk("/proc/sys/net/ipv4/conf", add_sysctl, &l);
	files_walk("/proc/sys/net/ipv6/conf", add_sysctl, &l);
}

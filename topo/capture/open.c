// SPDX-License-Identifier: Apache-2.0
/* Finds the folders sys, proc and boot of a captured tree. */
#include "topo/capture/open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/fs.h"

/* ---- where the tree is ---- */

static bool is_dir(const char *dir, const char *name, char **out)
{
	struct stat st;

	*out = NULL;
	if (asprintf(out, "%s%s%s", dir, !strcmp(dir, "/") ? "" : "/", name) < 0) {
		*out = NULL;
		return false;
	}
	if (!lstat(*out, &st) && S_ISDIR(st.st_mode))
		return true;
	free(*out);
	*out = NULL;
	return false;
}

static bool is_tree(const char *dir)
{
	static const char *const some[] = { "devices", "bus", "class" };

	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		auto_free char *path = NULL;
		if (is_dir(dir, some[i], &path))
			return true;
	}
	return false;
}

/* The folder with sys in it. 1: there is none. */
static int take_top(const char *top, struct topo_opened *o)
{
	if (!is_dir(top, "sys", &o->sysfs))
		return 1;
	if (!is_tree(o->sysfs)) {
		free(TAKE_PTR(o->sysfs));
		return 1;
	}
	(void)is_dir(top, "proc", &o->proc);
	(void)is_dir(top, "boot", &o->boot);
	return 0;
}

/* A folder that represents /sys itself; its neighbours proc and boot count if its name is sys. */
static int take_sys(const char *dir, struct topo_opened *o, struct err *e)
{
	const char *slash = strrchr(dir, '/');
	bool named = !strcmp(slash ? slash + 1 : dir, "sys");
	auto_free char *top = !slash         ? strdup(".")
			      : slash == dir ? strdup("/")
					     : strndup(dir, (size_t)(slash - dir));

	if (!top)
		return err_nomem(e);
	if (named && !take_top(top, o))
		return 0;
	o->sysfs = strdup(dir);
	return o->sysfs ? 0 : err_nomem(e);
}

/* The only folder in dir; NULL: there are none, or several. */
static char *only_folder(const char *dir)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	auto_free char *found = NULL;
	struct err ignored;

	(void)!fs_names_at(AT_FDCWD, dir, FS_NAMES_MAX, &names, &ignored);
	for (size_t i = 0; i < names.n; i++) {
		auto_free char *path = NULL;
		if (!is_dir(dir, names.name[i], &path))
			continue;
		if (found)
			return NULL;
		found = TAKE_PTR(path);
	}
	return TAKE_PTR(found);
}

static int find_root(const char *dir, const char *path, struct topo_opened *o, struct err *e)
{
	if (is_tree(dir))
		return take_sys(dir, o, e);
	if (!take_top(dir, o))
		return 0;
	auto_free char *only = only_folder(dir);
	if (only && is_tree(only))
		return take_sys(only, o, e);
	if (only && !take_top(only, o))
		return 0;
	return err_set(e, ERR_NOTFOUND, 0,
		       "%s: no tree in it: neither sys, nor one of devices, bus and class", path);
}

/* ---- together ---- */

static int open_any(const char *path, struct topo_opened *o, struct err *e)
{
	auto_free char *dir = strdup(path);
	struct stat st;

	if (!dir)
		return err_nomem(e);
	for (size_t n = strlen(dir); n > 1 && dir[n - 1] == '/'; n--)
		dir[n - 1] = '\0';
	if (stat(path, &st))
		return err_set(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, errno, "%s", path);
	if (!S_ISDIR(st.st_mode)) {
		err_set(e, ERR_FIELD, 0, "%s is not a folder", path);
		return err_hint(e, "extract it first: mkdir m && tar -xf %s -C m", path);
	}
	return find_root(dir, path, o, e);
}

int topo_open(const char *path, struct topo_opened *out, struct err *e)
{
	auto_topo_opened struct topo_opened o = { 0 };

	if (open_any(path, &o, e))
		return -1;
	o.dirs = (struct topo_tree_dirs){ .sysfs = o.sysfs, .proc = o.proc, .boot = o.boot };
	*out = o;
	o = (struct topo_opened){ 0 };
	return 0;
}

void topo_opened_clear(struct topo_opened *o)
{
	free(o->sysfs);
	free(o->proc);
	free(o->boot);
	*o = (struct topo_opened){ 0 };
}

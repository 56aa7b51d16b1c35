/* SPDX-License-Identifier: Apache-2.0 */
/* load.c: reads the files of resources.d. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"
#include "railheadd/devices/conf.h"

#define FILES_MAX 1024
#define FILE_MAX  (256 * 1024)
#define SUFFIX    ".json"

void resource_set_free(struct resource_set *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->conf[i].n_selectors; k++)
			device_selector_clear(&s->conf[i].selector[k]);
		free(s->conf[i].selector);
		json_free(s->conf[i].info);
		json_free(s->conf[i].networks);
	}
	for (size_t i = 0; i < s->n_warnings; i++)
		free(s->warning[i]);
	free(s->warning);
	free(s->conf);
	free(s);
}

size_t resource_count(const struct resource_set *s)
{
	return s->n;
}

const char *resource_name(const struct resource_set *s, size_t i)
{
	return s->conf[i].name;
}

uint32_t resources_interval(const struct resource_set *s)
{
	return s->interval ? s->interval : RESOURCES_INTERVAL;
}

bool resource_set_has_rails(const struct resource_set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->conf[i].networks)
			return true;
	}
	return false;
}

bool resource_set_same(const struct resource_set *a, const struct resource_set *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct resource_conf *x = &a->conf[i], *y = &b->conf[i];

		if (strcmp(x->name, y->name) != 0 || x->shared != y->shared ||
		    x->nodes != y->nodes || !json_same(x->networks, y->networks) ||
		    x->memlock != y->memlock || x->variables != y->variables)
			return false;
	}
	return true;
}

/* ---- who may write a file ---- */

static bool is_read_only(const char *path)
{
	struct statvfs s;

	return statvfs(path, &s) == 0 && (s.f_flag & ST_RDONLY);
}

/*
 * In a ConfigMap (pkg/volume/util/atomic_writer.go of Kubernetes), ..data is a link to the folder
 * ..TIME that has the files. dir and real are without links; real is of a file.
 */
static bool is_config_map(const char *dir, const char *real)
{
	char link[PATH_MAX], target[NAME_MAX + 1], folder[PATH_MAX];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "%.4000s/..data", dir);
	n = readlink(link, target, sizeof(target) - 1);
	if (n < 3 || (size_t)n == sizeof(target) - 1)
		return false;
	target[n] = '\0';
	n = snprintf(folder, sizeof(folder), "%.2000s/%s/", dir, target);
	return strncmp(target, "..", 2) == 0 && !strchr(target, '/') &&
	       strncmp(real, folder, (size_t)n) == 0 && !strchr(real + n, '/') &&
	       is_read_only(real);
}

/*
 * The folder of a ConfigMap has mode 0777. It is mounted read-only here, and elsewhere on the node
 * only root reaches it. A folder of the node may be mounted read-only, too, so each folder except
 * that of the ConfigMap is checked.
 */
static int load_open_folder(const char *dir, const char *real, const char **name, struct err *e)
{
	auto_fd int above = -1;
	const char *last;

	if (!is_config_map(dir, real))
		return safe_open_parent(real, SAFE_OWNED, name, e);
	above = safe_open_parent(dir, SAFE_OWNED, &last, e);
	if (above < 0)
		return -1;
	auto_fd int fd = safe_open_parent(real, 0, name, e);
	return fd < 0 || safe_check_dir(fd, real, e) ? -1 : TAKE_FD(fd);
}

static ssize_t load_read_file(const char *dir, const char *path, char **out, struct err *e)
{
	/* The files of a ConfigMap are links. */
	auto_free char *real = realpath(path, NULL), *folder = realpath(dir, NULL);
	const char *name;

	if (!real || !folder)
		return errno == ENOMEM ? err_nomem(e) : err_set(e, ERR_IO, errno, "open");
	auto_fd int fd = load_open_folder(folder, real, &name, e);
	return fd < 0 ? -1 : fs_read_trusted_at(fd, name, FILE_MAX, out, e);
}

static int devices_load_file(const char *dir, const char *path, struct resource_set *s,
			     struct err *e)
{
	auto_free char *text = NULL;
	auto_json struct json *tree = NULL;
	ssize_t len = load_read_file(dir, path, &text, e);

	if (len < 0 || json_parse(text, (size_t)len, "the file", &tree, e) ||
	    conf_add(s, tree, path, e))
		return err_wrap(e, "%.512s", path);
	return 0;
}

static bool load_is_wanted(const char *name)
{
	size_t len = strlen(name), end = strlen(SUFFIX);

	return len > end && strcmp(name + len - end, SUFFIX) == 0;
}

static int load_folder(const char *dir, struct resource_set *s, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX];
	struct err why;

	if (fs_names_at(AT_FDCWD, dir, FILES_MAX, &names, &why)) {
		if (why.errnum == ENOENT)
			return 0;
		*e = why;
		return err_wrap(e, "%.512s", dir);
	}
	for (size_t i = 0; i < names.n; i++) {
		if (!load_is_wanted(names.name[i]))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, names.name[i]) >= PATH_MAX)
			return err_set(e, ERR_IO, ENAMETOOLONG, "%.512s", dir);
		if (devices_load_file(dir, path, s, e))
			return -1;
	}
	return 0;
}

int resources_load(const struct ctx *ctx, const char *dir, struct resource_set **out, struct err *e)
{
	auto_resource_set struct resource_set *s = calloc(1, sizeof(*s));
	char path[PATH_MAX];

	if (!s)
		return err_nomem(e);
	if (!dir && ctx->etc_dir) {
		(void)snprintf(path, sizeof(path), "%.4000s/" RESOURCES_DIR, ctx->etc_dir);
		dir = path;
	}
	if (dir && load_folder(dir, s, e))
		return -1;
	*out = TAKE_PTR(s);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* load.c: reads the files of resources.d. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"
#include "railheadd/resources/conf.h"

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

/*
 * A folder of a ConfigMap has mode 0777. It is mounted read-only here, so no process can write to
 * it. Elsewhere on the node only root reaches it.
 */
static bool is_read_only(const char *path)
{
	struct statvfs s;

	return statvfs(path, &s) == 0 && (s.f_flag & ST_RDONLY);
}

static ssize_t read_file(const char *path, char **out, struct err *e)
{
	/* The files of a ConfigMap are links. */
	auto_free char *real = realpath(path, NULL);
	const char *name;

	if (!real)
		return errno == ENOMEM ? err_nomem(e) : err_set(e, ERR_IO, errno, "open");
	auto_fd int dir = safe_open_parent(real, is_read_only(real) ? 0 : SAFE_OWNED, &name, e);
	return dir < 0 ? -1 : fs_read_trusted_at(dir, name, FILE_MAX, out, e);
}

static int load_file(const char *path, struct resource_set *s, struct err *e)
{
	auto_free char *text = NULL;
	auto_json struct json *tree = NULL;
	ssize_t len = read_file(path, &text, e);

	if (len < 0 || json_parse(text, (size_t)len, "the file", &tree, e) ||
	    conf_add(s, tree, path, e))
		return err_wrap(e, "%.512s", path);
	return 0;
}

static bool is_wanted(const char *name)
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
		if (!is_wanted(names.name[i]))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, names.name[i]) >= PATH_MAX)
			return err_set(e, ERR_IO, ENAMETOOLONG, "%.512s", dir);
		if (load_file(path, s, e))
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

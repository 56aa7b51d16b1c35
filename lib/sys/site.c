/* SPDX-License-Identifier: Apache-2.0 */
/* site.c: reads railhead.json: the rules of the administrator of the node. */
#include "lib/sys/site.h"

#include <errno.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "lib/json/json.h"

#define FILE_MAX 65536

static const char *const default_data_dirs[] = { "/var/lib/railhead", "/var/lib/cni",
						 "/run/railhead", NULL };
static const char *const default_log_dirs[] = { "/var/log", NULL };

struct site_lists {
	const struct json *data_dirs, *log_dirs;
	const char *pod_resources;
};

static const struct json_field fields[] = {
	{ "dataDirs", J_ARRAY, J_AT(struct site_lists, data_dirs) },
	{ "logDirs", J_ARRAY, J_AT(struct site_lists, log_dirs) },
	{ "podResources", J_STRING, J_AT(struct site_lists, pod_resources) },
	{ 0 },
};

static int site_take_list(const struct json *list, const char *key, const char **out, struct err *e)
{
	size_t n = 0;

	if (json_len(list) > SITE_DIRS)
		return err_set(e, ERR_CONFIG, 0, "%s: more than %d folders", key, SITE_DIRS);
	json_each (item, list) {
		const char *dir = json_str(item);
		char shown[JSON_SHOW_LEN];

		if (!dir || *dir != '/' || strstr(dir, "/../") || strstr(dir, "/./"))
			return err_set(e, ERR_CONFIG, 0, "%s[%zu]: %s is not an absolute path", key,
				       n, json_show(item, shown));
		out[n++] = dir;
	}
	out[n] = NULL;
	return 0;
}

static int decode_site(struct site *s, struct err *e)
{
	struct site_lists l = { 0 };

	if (json_type(s->tree) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "must be an object, got %s",
			       json_type_name(s->tree));
	if (json_decode_known(s->tree, "", fields, &l, e))
		return -1;
	if (l.data_dirs && site_take_list(l.data_dirs, "dataDirs", s->data_dirs, e))
		return -1;
	if (l.pod_resources && *l.pod_resources != '/')
		return err_set(e, ERR_CONFIG, 0, "podResources: \"%.64s\" is not an absolute path",
			       l.pod_resources);
	if (l.pod_resources)
		s->pod_resources = l.pod_resources;
	return l.log_dirs ? site_take_list(l.log_dirs, "logDirs", s->log_dirs, e) : 0;
}

/* 1: there is none */
static int site_read_file(const struct ctx *ctx, char **text, size_t *len, struct err *e)
{
	struct err why;

	if (!ctx->etc_dir)
		return 1;
	auto_fd int dir = fs_open_dir(ctx->etc_dir, false, &why);
	ssize_t n = dir < 0 ? -1 : fs_read_trusted_at(dir, SITE_FILE, FILE_MAX, text, &why);
	if (n < 0 && why.errnum == ENOENT)
		return 1;
	if (n < 0)
		return err_pass(e, &why);
	*len = (size_t)n;
	return 0;
}

static void copy_list(const char *const *from, const char **to)
{
	while ((*to++ = *from++))
		;
}

int site_load(const struct ctx *ctx, struct site *out, struct err *e)
{
	auto_site struct site s = { .tree = NULL };
	auto_free char *text = NULL;
	size_t len = 0;
	int rc = site_read_file(ctx, &text, &len, e);

	copy_list(default_data_dirs, s.data_dirs);
	copy_list(default_log_dirs, s.log_dirs);
	s.pod_resources = SITE_POD_RESOURCES;
	if (rc == 0 && (json_parse(text, len, SITE_FILE, &s.tree, e) || decode_site(&s, e)))
		rc = -1;
	if (rc < 0)
		return err_wrap(e, "%s/%s", ctx->etc_dir, SITE_FILE);
	*out = s;
	s.tree = NULL;
	return 0;
}

void site_clear(struct site *s)
{
	json_free(s->tree);
	s->tree = NULL;
}

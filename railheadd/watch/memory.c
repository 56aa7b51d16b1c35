/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c: the file of a list, and its version. */
#include "railheadd/watch/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/fs.h"

#define VERSION  1
#define FILE_LEN 64

struct fields {
	uint32_t version;
	const struct json *list;
};

static const char *file_name(const struct memory *m, char out[FILE_LEN])
{
	(void)snprintf(out, FILE_LEN, "%s.json", m->name);
	return out;
}

/* *list is a part of *all. */
static int find_list(const struct memory *m, const struct json *all, const struct json **list,
		     struct err *e)
{
	const struct json_field keys[] = {
		{ "version", J_U32, J_AT(struct fields, version), .flags = J_REQUIRED,
		  .min = VERSION, .max = VERSION },
		{ m->name, J_ARRAY, J_AT(struct fields, list), .flags = J_REQUIRED },
		{ 0 },
	};
	struct fields f = { .version = 0 };
	char file[FILE_LEN];

	if (json_decode(all, file_name(m, file), keys, &f, e))
		return -1;
	*list = f.list;
	return 0;
}

/* 1: there is no file. */
static int read_text(struct memory *m, char **text, size_t *len, struct err *e)
{
	auto_fd int dir = fs_open_dir(m->ctx->state_dir, true, e);
	char file[FILE_LEN];
	ssize_t n =
		dir < 0 ? -1 : fs_read_trusted_at(dir, file_name(m, file), JSON_MAX_SIZE, text, e);

	if (n < 0 && dir >= 0 && e->errnum == ENOENT)
		return 1;
	if (n < 0)
		return err_wrap(e, "%s/%s", m->ctx->state_dir, file_name(m, file));
	*len = (size_t)n;
	return 0;
}

int memory_load(struct memory *m, memory_fn load, void *arg, struct err *e)
{
	auto_json struct json *all = NULL;
	const struct json *list = NULL;
	auto_free char *text = NULL;
	char file[FILE_LEN];
	size_t len = 0;
	int rc = read_text(m, &text, &len, e);

	if (rc) {
		m->off = rc < 0;
		return rc < 0 ? -1 : 0;
	}
	if (json_parse(text, len, file_name(m, file), &all, e) || find_list(m, all, &list, e) ||
	    load(arg, list, e))
		return err_wrap(e, "%s", m->ctx->state_dir);
	return 0;
}

static char *encode(const struct memory *m, struct json *list)
{
	auto_json struct json *all = json_new_object();

	if (!all || json_add_int(all, "version", VERSION)) {
		json_free(list);
		return NULL;
	}
	return json_put(all, m->name, list) ? NULL : json_print(all, false);
}

int memory_save(struct memory *m, struct json *list, struct err *e)
{
	auto_free char *text = encode(m, list);
	char file[FILE_LEN];

	if (m->off)
		return 0;
	if (!text)
		return err_nomem(e);
	if (m->saved && strcmp(text, m->saved) == 0)
		return 0;
	free(m->saved);
	m->saved = TAKE_PTR(text);

	auto_fd int dir = fs_open_dir(m->ctx->state_dir, true, e);

	return dir < 0 || fs_replace_at(dir, file_name(m, file), m->saved, true, e)
		       ? err_wrap(e, "%s", m->ctx->state_dir)
		       : 0;
}

void memory_clear(struct memory *m)
{
	free(m->saved);
	m->saved = NULL;
}

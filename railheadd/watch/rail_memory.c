/* SPDX-License-Identifier: Apache-2.0 */
/* rail_memory.c: the file of the rails, and its version. */
#include "railheadd/watch/rail_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/fs.h"

#define VERSION 1

struct fields {
	uint32_t version;
	const struct json *rails;
};

static const struct json_field keys[] = {
	{ "version", J_U32, J_AT(struct fields, version), .flags = J_REQUIRED, .min = VERSION,
	  .max = VERSION },
	{ "rails", J_ARRAY, J_AT(struct fields, rails), .flags = J_REQUIRED },
	{ 0 },
};

static int rail_memory_decode(const char *text, size_t len, struct rail_table *t, struct err *e)
{
	auto_json struct json *all = NULL;
	struct fields f = { .version = 0 };

	if (json_parse(text, len, RAIL_MEMORY_FILE, &all, e) ||
	    json_decode(all, RAIL_MEMORY_FILE, keys, &f, e) || rail_table_load(t, f.rails, e)) {
		rail_table_clear(t);
		return -1;
	}
	return 0;
}

int rail_memory_load(struct rail_memory *m, struct rail_table *t, struct err *e)
{
	auto_fd int dir = fs_open_dir(m->ctx->state_dir, true, e);
	auto_free char *text = NULL;
	ssize_t len =
		dir < 0 ? -1 : fs_read_trusted_at(dir, RAIL_MEMORY_FILE, JSON_MAX_SIZE, &text, e);

	if (len < 0 && dir >= 0 && e->errnum == ENOENT)
		return 0;
	if (len < 0) {
		m->off = true;
		return err_wrap(e, "%s/" RAIL_MEMORY_FILE, m->ctx->state_dir);
	}
	return rail_memory_decode(text, (size_t)len, t, e) ? err_wrap(e, "%s", m->ctx->state_dir)
							   : 0;
}

static char *encode(const struct rail_table *t)
{
	auto_json struct json *all = json_new_object();

	if (!all || json_add_int(all, "version", VERSION) ||
	    json_put(all, "rails", rail_table_known(t)))
		return NULL;
	return json_print(all, false);
}

int rail_memory_save(struct rail_memory *m, const struct rail_table *t, struct err *e)
{
	auto_free char *text = m->off ? NULL : encode(t);

	if (m->off)
		return 0;
	if (!text)
		return err_nomem(e);
	if (m->saved && strcmp(text, m->saved) == 0)
		return 0;
	free(m->saved);
	m->saved = TAKE_PTR(text);

	auto_fd int dir = fs_open_dir(m->ctx->state_dir, true, e);

	return dir < 0 || fs_replace_at(dir, RAIL_MEMORY_FILE, m->saved, true, e)
		       ? err_wrap(e, "%s", m->ctx->state_dir)
		       : 0;
}

void rail_memory_clear(struct rail_memory *m)
{
	free(m->saved);
	m->saved = NULL;
}

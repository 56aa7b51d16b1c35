/* SPDX-License-Identifier: Apache-2.0 */
/* sm_file.c: a membership as the text of its file, and back; the files. */
#include "fabric/sm_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fabric/message.h"
#include "lib/base/parse.h"
#include "lib/sys/fs.h"

#define FILE_MAX  16384
#define NS_PER_MS 1000000
#define ERROR_MAX 2048

/* ---- text ---- */

char *sm_file_name(uint16_t pkey, struct guid guid, char out[SM_FILE_NAME_LEN])
{
	(void)snprintf(out, SM_FILE_NAME_LEN, "%04x-%016" PRIx64, pkey_partition(pkey),
		       guid_number(guid));
	return out;
}

int sm_file_name_parse(const char *name, uint16_t *partition, struct guid *guid)
{
	uint32_t key, high, low;
	char again[SM_FILE_NAME_LEN];

	if (hex_take(name, 4, &key) != 4 || name[4] != '-' || hex_take(name + 5, 8, &high) != 8 ||
	    hex_take(name + 13, 8, &low) != 8 || !pkey_is_valid(key))
		return -1;

	const struct guid g = guid_of_number((uint64_t)high << 32 | low);

	/* Only the very name that sm_file_name() makes: no capitals, nothing behind it. */
	if (strcmp(name, sm_file_name((uint16_t)key, g, again)) != 0)
		return -1;
	*partition = (uint16_t)key;
	*guid = g;
	return 0;
}

bool sm_file_is_of(const struct sm_file *x, const struct sm_who *who)
{
	const struct sm_who *owner = &x->x.member.who;

	return strcmp(owner->container, who->container) == 0 &&
	       strcmp(owner->ifname, who->ifname) == 0;
}

static const struct json_enum states[] = { { "member", false }, { "leaving", true }, { NULL, 0 } };

/* The file has times in milliseconds. */
struct fields {
	struct sm_file x;
	int leaving;
	int64_t since, tried;
	bool has_tried;
};

#define MS_MAX (INT64_MAX / NS_PER_MS)

static const struct json_field keys[] = {
	{ "version", J_CONST, .flags = J_REQUIRED, .min = 1, .max = 1 },
	{ "state", J_ENUM, J_AT(struct fields, leaving), .flags = J_REQUIRED, .names = states },
	{ "pkey", J_PKEY, J_AT(struct fields, x.x.member.pkey), .flags = J_REQUIRED },
	{ "guid", J_GUID, J_AT(struct fields, x.x.member.guid), .flags = J_REQUIRED },
	{ "since", J_I64, J_AT(struct fields, since), .max = MS_MAX },
	{ "boot", J_CHARS, J_AT(struct fields, x.boot), .flags = J_OMIT },
	{ "tries", J_UINT, J_AT(struct fields, x.x.tries), .flags = J_OMIT },
	{ "tried", J_I64, J_AT(struct fields, tried), .flags = J_IF, .max = MS_MAX,
	  .has = offsetof(struct fields, has_tried) },
	{ "error", J_STRING, J_AT(struct fields, x.x.error), .flags = J_IF, .max = ERROR_MAX,
	  .has = offsetof(struct fields, has_tried) },
	{ "who", J_NESTED, J_AT(struct fields, x.x.member.who), .flags = J_REQUIRED,
	  .of = sm_who_fields },
	{ 0 },
};

char *sm_file_print(const struct sm_file *x)
{
	const struct sm_entry *s = &x->x;
	const struct fields f = { *x, s->leaving, s->since / NS_PER_MS, s->tried / NS_PER_MS,
				  s->tries > 0 };

	return json_print_fields(keys, &f, true);
}

int sm_file_decode(const char *text, size_t len, struct sm_file *out, struct err *e)
{
	auto_json struct json *root = NULL;
	struct fields f = { .x = { .x = { .error = "" } } };
	struct sm_entry *s = &f.x.x;

	if (json_parse(text, len, "membership", &root, e))
		return -1;
	if (json_type(root) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "must be an object, got %s", json_type_name(root));
	if (json_decode(root, "", keys, &f, e))
		return -1;
	if (!s->member.pkey)
		return err_set(e, ERR_CONFIG, 0, "pkey: is empty");
	if (!s->member.who.container || !s->member.who.ifname)
		return err_set(e, ERR_CONFIG, 0, "who: has no container or no ifname");
	s->leaving = f.leaving;
	s->since = f.since * NS_PER_MS;
	s->tried = f.tried * NS_PER_MS;
	f.x.tree = TAKE_PTR(root);
	*out = f.x;
	return 0;
}

void sm_file_clear(struct sm_file *x)
{
	json_free(x->tree);
	*x = (struct sm_file){ .tree = NULL };
}

/* ---- files ---- */

int sm_file_open_dir(const struct ctx *ctx, bool create, struct err *e)
{
	auto_fd int state = fs_open_dir(ctx->state_dir, create, e);
	int dir = state < 0 ? -1 : fs_open_dir_at(state, SM_FOLDER, create, e);

	return dir < 0 ? err_wrap(e, "%s/" SM_FOLDER, ctx->state_dir) : dir;
}

int sm_file_read(int dir, const char *name, struct sm_file *out, struct err *e)
{
	auto_free char *text = NULL;
	auto_sm_file struct sm_file x = { .tree = NULL };
	char expected[SM_FILE_NAME_LEN];
	struct err why;
	ssize_t len = fs_read_at(dir, name, FILE_MAX, &text, &why);

	if (len < 0 && why.errnum == ENOENT)
		return 0;
	if (len < 0 || sm_file_decode(text, (size_t)len, &x, &why)) {
		*e = why;
		return err_wrap(e, "%s", name);
	}
	if (strcmp(name, sm_file_name(x.x.member.pkey, x.x.member.guid, expected)) != 0)
		return err_set(e, ERR_DECODE, 0, "%s: the file is about %s", name, expected);
	*out = x;
	x.tree = NULL;
	return 1;
}

int sm_file_write(int dir, const struct sm_file *x, bool durable, struct err *e)
{
	auto_free char *text = sm_file_print(x);
	char name[SM_FILE_NAME_LEN];

	if (!text)
		return err_nomem(e);
	(void)sm_file_name(x->x.member.pkey, x->x.member.guid, name);
	return fs_replace_at(dir, name, text, durable, e);
}

int sm_file_each(const struct ctx *ctx, int dir, sm_file_fn fn, void *arg, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };

	if (fs_names_at(dir, ".", FS_NAMES_MAX, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		auto_sm_file struct sm_file x = { .tree = NULL };
		struct guid guid;
		uint16_t partition;
		struct err why;

		if (sm_file_name_parse(names.name[i], &partition, &guid))
			continue;
		int rc = sm_file_read(dir, names.name[i], &x, &why);
		if (rc < 0)
			log_warn(&ctx->log, "%s/" SM_FOLDER "/%s; move it away if it is damaged",
				 ctx->state_dir, why.msg);
		if (rc == 1 && fn(names.name[i], &x, arg))
			return 0;
	}
	return 0;
}

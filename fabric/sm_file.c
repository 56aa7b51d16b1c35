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

char *sm_file_print(const struct sm_file *x)
{
	auto_json struct json *o = json_new_object();
	const struct sm_entry *s = &x->x;
	char pkey[PKEY_STR_LEN], guid[GUID_STR_LEN];
	struct json *who;

	if (!o || json_add_int(o, "version", 1) ||
	    json_add_str(o, "state", s->leaving ? "leaving" : "member") ||
	    json_add_str(o, "pkey", pkey_format(s->member.pkey, pkey)) ||
	    json_add_str(o, "guid", guid_format(s->member.guid, guid)) ||
	    json_add_int(o, "since", s->since / NS_PER_MS) || json_add_known(o, "boot", x->boot) ||
	    (s->tries && (json_add_int(o, "tries", s->tries) ||
			  json_add_int(o, "tried", s->tried / NS_PER_MS) ||
			  json_add_str(o, "error", s->error))) ||
	    !(who = json_add_object(o, "who")) || sm_who_add(who, &s->member.who))
		return NULL;
	return json_print(o, true);
}

enum state { STATE_MEMBER, STATE_LEAVING };

static const struct json_enum states[] = {
	{ "member", STATE_MEMBER },
	{ "leaving", STATE_LEAVING },
	{ NULL, 0 },
};

struct fields {
	uint32_t version, tries;
	int state;
	int64_t since, tried;
	const char *pkey, *guid, *boot, *error;
	const struct json *who;
};

#define MS_MAX (INT64_MAX / NS_PER_MS)

#define KEY(name, as) .key = #name, .kind = (as), .offset = offsetof(struct fields, name)

static const struct json_field keys[] = {
	{ KEY(version, J_U32), .flags = J_REQUIRED, .min = 1, .max = 1 },
	{ KEY(state, J_ENUM), .flags = J_REQUIRED, .names = states },
	{ KEY(pkey, J_STRING), .flags = J_REQUIRED },
	{ KEY(guid, J_STRING), .flags = J_REQUIRED },
	{ KEY(since, J_I64), .min = 0, .max = MS_MAX },
	{ KEY(boot, J_STRING), .max = CTX_BOOT_ID_LEN },
	{ KEY(tries, J_U32) },
	{ KEY(tried, J_I64), .min = 0, .max = MS_MAX },
	{ KEY(error, J_STRING), .max = ERROR_MAX },
	{ KEY(who, J_OBJECT), .flags = J_REQUIRED },
	{ .key = NULL },
};

static int check_fields(const struct fields *f, struct sm_member *m, struct err *e)
{
	if (pkey_parse(f->pkey, &m->pkey))
		return err_set(e, ERR_CONFIG, 0, "pkey: \"%.64s\" is not a partition key", f->pkey);
	if (guid_parse(f->guid, &m->guid))
		return err_set(e, ERR_CONFIG, 0, "guid: \"%.64s\" is not a GUID", f->guid);
	if (sm_who_decode(f->who, &m->who, e))
		return -1;
	if (!m->who.container || !m->who.ifname)
		return err_set(e, ERR_CONFIG, 0, "who: has no container or no ifname");
	return 0;
}

int sm_file_decode(const char *text, size_t len, struct sm_file *out, struct err *e)
{
	auto_json struct json *root = NULL;
	struct fields f = { .boot = "", .error = "" };
	struct sm_file x = { .tree = NULL };

	if (json_parse(text, len, "membership", &root, e))
		return -1;
	if (json_type(root) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "must be an object, got %s", json_type_name(root));
	if (json_decode(root, "", keys, &f, e) || check_fields(&f, &x.x.member, e))
		return -1;
	x.x.leaving = f.state == STATE_LEAVING;
	x.x.since = f.since * NS_PER_MS;
	x.x.tries = f.tries;
	x.x.tried = f.tried * NS_PER_MS;
	x.x.error = f.error;
	(void)snprintf(x.boot, sizeof(x.boot), "%s", f.boot);
	x.tree = TAKE_PTR(root);
	*out = x;
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

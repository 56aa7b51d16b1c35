/* SPDX-License-Identifier: Apache-2.0 */
/* record.c: writes, reads, lists and removes the records of attachments. */
#include "cni/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cni/protocol/env.h"
#include "lib/base/hash.h"
#include "lib/json/case.h"
#include "lib/sys/fs.h"
#include "lib/sys/lock.h"

/*
 * The version of a record with several interfaces. A railhead that knows only one interface would
 * remove one and release the addresses of all. To it such a record is damaged, and it frees
 * nothing.
 */
#define VERSION_PARTS 2

#define FOLDER "attachments"

int record_place(const struct ctx *ctx, const char *folder, struct record_place *out, struct err *e)
{
	int n = snprintf(out->run_dir, sizeof(out->run_dir), "%s%s%s", ctx->run_dir,
			 folder ? "/" : "", folder ? folder : "");

	if (n < 0 || n >= (int)sizeof(out->run_dir))
		return err_set(e, ERR_IO, 0, "run directory: its path is too long");
	out->ctx = *ctx;
	out->ctx.run_dir = out->run_dir;
	return 0;
}

/* "container,ifname": a container id cannot hold a comma, and cannot begin with a dot. */
#define FILE_NAME_LEN (CNI_ID_MAX + 1 + IFNAME_LEN)

static void file_name(const struct record_key *key, char out[FILE_NAME_LEN])
{
	(void)snprintf(out, FILE_NAME_LEN, "%.*s,%.*s", CNI_ID_MAX, key->container, IFNAME_LEN - 1,
		       key->ifname);
}

/* <run_dir>/attachments/<network>; -1 with errnum ENOENT when absent and !create. */
static int open_network(const struct ctx *ctx, const char *network, bool create, struct err *e)
{
	auto_fd int run = fs_open_dir(ctx->run_dir, create, e);
	if (run < 0)
		return -1;
	auto_fd int all = fs_open_dir_at(run, FOLDER, create, e);
	if (all < 0)
		return -1;
	return fs_open_dir_at(all, network, create, e);
}

int record_lock(const struct ctx *ctx, const struct record_key *key, bool create, int timeout_ms,
		struct err *e)
{
	char name[2 * CNI_ID_MAX + IFNAME_LEN + 8];
	auto_fd int run = fs_open_dir(ctx->run_dir, create, e);

	if (run < 0)
		return -1;
	(void)snprintf(name, sizeof(name), "%.*s/%.*s/%.*s", CNI_ID_MAX, key->network, CNI_ID_MAX,
		       key->container, IFNAME_LEN - 1, key->ifname);
	int fd = lock_name(run, name, create, timeout_ms, e);
	if (fd < 0 && e->code != ERR_AGAIN)
		return err_wrap(e, "%s", ctx->run_dir);
	return fd;
}

struct record_text {
	struct record r;
	uint32_t version;
	int64_t created_ms;
};

#define MS_MAX (INT64_MAX / 1000000) /* milliseconds that fit into nanoseconds */

static const struct json_field record_fields[] = {
	{ "version", J_UINT, J_AT(struct record_text, version), .flags = J_REQUIRED, .min = 1,
	  .max = VERSION_PARTS },
	{ "network", J_STRING, J_AT(struct record_text, r.key.network), .flags = J_REQUIRED },
	{ "container", J_STRING, J_AT(struct record_text, r.key.container), .flags = J_REQUIRED },
	{ "ifname", J_STRING, J_AT(struct record_text, r.key.ifname), .flags = J_REQUIRED },
	{ "plugin", J_STRING, J_AT(struct record_text, r.plugin), .flags = J_REQUIRED },
	{ "kind", J_STRING, J_AT(struct record_text, r.kind), .flags = J_REQUIRED },
	{ "netns", J_STRING, J_AT(struct record_text, r.netns), .flags = J_REQUIRED },
	{ "netnsDev", J_UINT, J_AT(struct record_text, r.netns_id.dev) },
	{ "netnsInode", J_UINT, J_AT(struct record_text, r.netns_id.ino) },
	{ "netnsCookie", J_UINT, J_AT(struct record_text, r.netns_id.cookie), .flags = J_OMIT },
	{ "pidNs", J_UINT, J_AT(struct record_text, r.from.pid_ns), .flags = J_OMIT },
	{ "mntNs", J_UINT, J_AT(struct record_text, r.from.mnt_ns), .flags = J_OMIT },
	{ "ifindex", J_UINT, J_AT(struct record_text, r.ifindex), .flags = J_OMIT,
	  .max = INT32_MAX },
	{ "lowerIfindex", J_UINT, J_AT(struct record_text, r.lower_ifindex), .flags = J_OMIT,
	  .max = INT32_MAX },
	{ "boot", J_CHARS, J_AT(struct record_text, r.boot), .flags = J_REQUIRED },
	{ "created", J_I64, J_AT(struct record_text, created_ms), .max = MS_MAX },
	{ "adding", J_BOOL, J_AT(struct record_text, r.adding), .flags = J_OMIT },
	{ "deleting", J_BOOL, J_AT(struct record_text, r.deleting), .flags = J_OMIT },
	{ "master", J_STRING, J_AT(struct record_text, r.master) },
	{ "cniPath", J_STRING, J_AT(struct record_text, r.cni_path) },
	{ "args", J_STRING, J_AT(struct record_text, r.args) },
	{ "config", J_OBJECT, J_AT(struct record_text, r.config) },
	{ "device", J_OBJECT, J_AT(struct record_text, r.device) },
	{ "routing", J_OBJECT, J_AT(struct record_text, r.routing) },
	{ "parts", J_ARRAY, J_AT(struct record_text, r.parts) },
	{ "host", J_OBJECT, J_AT(struct record_text, r.host) },
	{ 0 },
};

char *record_print(const struct record *r)
{
	/* A clock before 1970 must not make the record one that cannot be read. */
	const struct record_text t = { *r, r->parts ? VERSION_PARTS : 1,
				       r->created > 0 ? r->created / 1000000 : 0 };

	return json_print_fields(record_fields, &t, false);
}

uint64_t record_mark(const struct record *r)
{
	auto_free char *text = record_print(r);
	uint64_t h = text ? hash_add_text(HASH_START, text) : RECORD_MARK_NONE;

	return h > RECORD_MARK_NONE ? h : RECORD_MARK_NONE;
}

static unsigned depth_of(const struct json *n)
{
	unsigned deepest = 0;

	json_each (member, n) {
		unsigned d = depth_of(member);
		if (d > deepest)
			deepest = d;
	}
	return deepest + (json_type(n) == JSON_ARRAY || json_type(n) == JSON_OBJECT);
}

/* A configuration just within the limits of JSON may be beyond them inside a record. */
static int check_readable(const struct record *r, const char *text, struct err *e)
{
	if (strlen(text) <= JSON_MAX_SIZE && depth_of(r->config) < JSON_MAX_DEPTH)
		return 0;
	return err_set(
		e, ERR_CONFIG, 0,
		"the network configuration is too large or too deep to be recorded: %zu bytes "
		"in %u levels",
		strlen(text), depth_of(r->config));
}

static int replace_file(const struct ctx *ctx, const struct record *r, const char *text,
			struct err *e)
{
	char name[FILE_NAME_LEN];
	auto_fd int dir = open_network(ctx, r->key.network, true, e);

	if (dir < 0)
		return -1;
	file_name(&r->key, name);
	/* Not durable on purpose: it must survive our death, not that of the machine. */
	return fs_replace_at(dir, name, text, false, e);
}

static int open_all(const struct ctx *ctx, struct err *e)
{
	auto_fd int run = fs_open_dir(ctx->run_dir, false, e);

	return run < 0 ? -1 : fs_open_dir_at(run, FOLDER, false, e);
}

int record_write(const struct ctx *ctx, const struct record *r, struct err *e)
{
	auto_free char *text = record_print(r);

	if (!text)
		return err_nomem(e);
	if (check_readable(r, text, e))
		return -1;
	struct err last;
	/* A DEL of another attachment may remove the empty network folder under our feet. */
	for (int tries = 0; tries < 8; tries++) {
		if (replace_file(ctx, r, text, &last) == 0)
			return 0;
		if (last.errnum != ENOENT)
			break;
	}
	struct err ignored;
	auto_fd int all = open_all(ctx, &ignored);
	if (all >= 0)
		(void)!fs_remove_empty_at(all, r->key.network, &ignored);
	*e = last;
	return err_wrap(e, "record the attachment in %s/" FOLDER, ctx->run_dir);
}

int record_decode(const char *text, size_t len, struct record *out, struct err *e)
{
	struct record_text t = { .r = { .master = "", .cni_path = "", .args = "" } };
	auto_json struct json *tree = NULL;

	if (json_parse(text, len, "attachment record", &tree, e))
		return -1;
	if (json_decode(tree, "attachment record", record_fields, &t, e)) {
		e->code = ERR_DECODE; /* whatever it would be in a configuration: we wrote this */
		return -1;
	}
	t.r.created = t.created_ms * 1000000;
	json_fold_case(json_get_mut(tree, "config"));
	t.r.tree = TAKE_PTR(tree);
	*out = t.r;
	return 0;
}

/* With a copied or renamed file, DEL would undo another attachment. */
static int check_place(const char *network, const char *name, const struct record *r, struct err *e)
{
	char own[FILE_NAME_LEN];

	file_name(&r->key, own);
	if (strcmp(own, name) == 0 && strcmp(r->key.network, network) == 0)
		return 0;
	return err_set(e, ERR_STATE, 0,
		       "it holds the record of %.128s/%.160s: rename it to that, or remove it",
		       r->key.network, own);
}

static int read_at(int dir, const char *network, const char *name, struct record *out,
		   struct err *e)
{
	auto_free char *text = NULL;
	auto_record struct record r = { 0 };
	ssize_t len = fs_read_at(dir, name, JSON_MAX_SIZE, &text, e);

	if (len < 0 || record_decode(text, (size_t)len, &r, e) || check_place(network, name, &r, e))
		return -1;
	*out = r;
	r.tree = NULL;
	return 0;
}

static int read_once(const struct ctx *ctx, const char *network, const char *name,
		     struct record *out, struct err *e)
{
	auto_fd int dir = open_network(ctx, network, false, e);

	return dir < 0 ? -1 : read_at(dir, network, name, out, e);
}

/* The path of a record, of its network's folder (name ""), or of the folder of all (key NULL). */
static const char *record_path(const struct ctx *ctx, const struct record_key *key,
			       const char *name, char path[PATH_MAX])
{
	(void)snprintf(path, PATH_MAX, "%.1024s/" FOLDER "/%.255s/%s", ctx->run_dir,
		       key ? key->network : "", name);
	return path;
}

/* Without a record an attachment is forgotten, so a file that cannot be opened is looked for. */
int record_read(const struct ctx *ctx, const struct record_key *key, struct record *out,
		struct err *e)
{
	char name[FILE_NAME_LEN], path[PATH_MAX];

	file_name(key, name);
	int rc = read_once(ctx, key->network, name, out, e);
	if (rc && e->errnum == ENOENT) {
		if (fs_may_exist(record_path(ctx, key, name, path)))
			rc = read_once(ctx, key->network, name, out, e);
		else
			e->code = ERR_NOTFOUND;
	}
	return rc ? err_wrap(e, "read the record %s/%s", key->network, name) : 0;
}

bool record_is_damaged(const struct err *e)
{
	switch (e->errnum) {
	case 0:
	case EFBIG:
	case EISDIR:
	case ELOOP:
	case ENODEV:
	case ENOTDIR:
	case ENXIO:
		return e->code != ERR_NOMEM;
	default:
		return false;
	}
}

int record_reread(const struct ctx *ctx, const struct record_key *key, struct record *out,
		  struct err *e)
{
	struct err why;

	if (record_read(ctx, key, out, &why) == 0)
		return 1;
	if (why.code == ERR_NOTFOUND || record_is_damaged(&why))
		return 0;
	return err_pass(e, &why);
}

void record_clear(struct record *r)
{
	json_free(r->tree);
	*r = (struct record){ 0 };
}

int record_remove(const struct ctx *ctx, const struct record_key *key, struct err *e)
{
	char name[FILE_NAME_LEN], path[PATH_MAX];
	struct err why;
	auto_fd int dir = open_network(ctx, key->network, false, &why);

	file_name(key, name);
	if (dir < 0 && fs_is_gone(AT_FDCWD, record_path(ctx, key, name, path), &why))
		return 0;
	if (dir < 0 || fs_unlink_at(dir, name, &why)) {
		*e = why;
		return err_wrap(e, "remove the record %s/%s", key->network, name);
	}
	auto_fd int all = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (all < 0)
		return err_set(e, ERR_IO, errno, "open %s/" FOLDER, ctx->run_dir);
	return fs_remove_empty_at(all, key->network, e) ? err_wrap(e, "%s/" FOLDER, ctx->run_dir)
							: 0;
}

/* ---- walking ---- */

/* The names in an open folder. A folder that was removed meanwhile has none. */
static int list_dir(int dir, const char *what, struct fs_names *out, struct err *e)
{
	struct stat st;
	struct err why;

	if (fs_names_at(dir, ".", FS_NAMES_MAX, out, &why) == 0 ||
	    (why.errnum == ENOENT && fstat(dir, &st) == 0 && st.st_nlink == 0))
		return 0;
	*e = why;
	return err_wrap(e, "%s", what);
}

struct visitor {
	record_fn fn;
	void *arg;
	struct err first; /* of what could not be read */
	bool failed;
};

static void keep_error(struct visitor *v, const struct err *why)
{
	if (!v->failed)
		v->first = *why;
	v->failed = true;
}

/* A damaged file still names its attachment: that is enough to clean up by. 1: fn wants to stop. */
static int visit_record(int dir, const char *network, const char *name, struct visitor *v)
{
	struct record r = { 0 };
	struct err damaged;
	char container[FILE_NAME_LEN];
	const char *comma = strchr(name, ',');

	if (!comma || (size_t)(comma - name) >= sizeof(container))
		return 0;
	if (read_at(dir, network, name, &r, &damaged)) {
		if (fs_is_gone(dir, name, &damaged)) /* removed since we listed it */
			return 0;
		if (!record_is_damaged(&damaged)) {
			keep_error(v, &damaged);
			return 0;
		}
		(void)snprintf(container, sizeof(container), "%.*s", (int)(comma - name), name);
		r = (struct record){ .key = { network, container, comma + 1 },
				     .name_mismatch = damaged.code == ERR_STATE };
	}
	int stop = v->fn(&r, v->arg);
	record_clear(&r);
	return stop ? 1 : 0;
}

int record_refuse_mismatch(const struct ctx *ctx, const struct record *r, struct err *e)
{
	return err_set(e, ERR_STATE, 0,
		       "%s/" FOLDER "/%.128s/%.160s,%.16s holds the record of another attachment: "
		       "rename it to what it says, or remove it",
		       ctx->run_dir, r->key.network, r->key.container, r->key.ifname);
}

/* Visit the records of one network. Returns 1 if fn wants to stop. */
static int each_in(int all, const char *network, struct visitor *v)
{
	auto_fs_names struct fs_names files = { .n = 0 };
	struct err why;
	auto_fd int dir = fs_open_dir_at(all, network, false, &why);

	if (dir < 0 && fs_is_gone(all, network, &why))
		return 0;
	if (dir < 0 || list_dir(dir, network, &files, &why)) {
		keep_error(v, &why);
		return 0;
	}
	int stop = 0;
	for (size_t i = 0; !stop && i < files.n; i++)
		stop = visit_record(dir, network, files.name[i], v);
	return stop;
}

int record_each(const struct ctx *ctx, const char *network, record_fn fn, void *arg, struct err *e)
{
	auto_fs_names struct fs_names networks = { .n = 0 };
	struct visitor v = { .fn = fn, .arg = arg };
	struct err why;
	auto_fd int all = open_all(ctx, &why);
	char path[PATH_MAX];
	int stop = 0;

	if (all < 0) {
		if (fs_is_gone(AT_FDCWD, record_path(ctx, NULL, "", path), &why))
			return 0;
		return err_pass(e, &why);
	}
	if (network)
		stop = each_in(all, network, &v);
	else if (list_dir(all, FOLDER, &networks, e))
		return -1;
	for (size_t i = 0; !stop && i < networks.n; i++)
		stop = each_in(all, networks.name[i], &v);
	if (!v.failed)
		return 0;
	*e = v.first;
	return err_wrap(e, "read the records in %s/" FOLDER, ctx->run_dir);
}

int record_tidy(const struct ctx *ctx, struct err *e)
{
	auto_fs_names struct fs_names networks = { .n = 0 };
	struct err why;
	auto_fd int all = open_all(ctx, &why);
	char path[PATH_MAX];
	int rc = 0;

	if (all < 0 && fs_is_gone(AT_FDCWD, record_path(ctx, NULL, "", path), &why))
		return 0;
	if (all < 0 || list_dir(all, FOLDER, &networks, &why))
		return err_pass(e, &why);
	for (size_t i = 0; i < networks.n; i++)
		if (fs_remove_empty_at(all, networks.name[i], &why) && rc == 0) {
			*e = why;
			rc = err_wrap(e, "%s/" FOLDER, ctx->run_dir);
		}
	return rc;
}

const char *record_rdma(const struct record *r)
{
	return json_str(json_get(r->device, RECORD_RDMA));
}

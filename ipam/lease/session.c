/* SPDX-License-Identifier: Apache-2.0 */
/* session.c: opens the store, and runs transactions; the first one of a boot also cleans up. */
#include "ipam/lease/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "ipam/store/lmdb_recover.h"
#include "ipam/store/lmdb.h"
#include "lib/base/array.h"
#include "lib/sys/safe_path.h"
#include "lib/sys/site.h"

int ipam_dir(const struct ctx *ctx, const char *data_dir, char *out, size_t size, struct err *e)
{
	int n = data_dir ? snprintf(out, size, "%s/railhead", data_dir)
			 : snprintf(out, size, "%s/ipam", ctx->state_dir);

	if (n < 0 || (size_t)n >= size)
		return err_set(e, ERR_CONFIG, 0, "ipam.dataDir: the path is longer than %zu bytes",
			       size);
	return 0;
}

/* Refuses folders that railhead itself uses: it would read the store's files as its own. */
static int session_check_own(const struct ctx *ctx, const char *data_dir, const char *dir,
			     struct err *e)
{
	static const char *const names[] = { "attachments", "vf", "rdma", "ipam" };
	const char *const roots[] = { ctx->run_dir, ctx->state_dir };

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		const char *const store[] = { dir, NULL };

		if (!roots[i])
			continue;
		/* With dataDir "/run" the store would be in railhead's own folder. */
		bool own = safe_path_below(roots[i], store);
		for (size_t k = 0; k < ARRAY_SIZE(names) && !own; k++) {
			char path[4096];
			const char *const one[] = { path, NULL };

			(void)snprintf(path, sizeof(path), "%s/%s", roots[i], names[k]);
			own = safe_path_below(data_dir, one);
		}
		if (own)
			return err_set(
				e, ERR_CONFIG, 0,
				"ipam.dataDir: \"%.128s\" is a folder that railhead uses itself",
				data_dir);
	}
	return 0;
}

int ipam_dir_check(const struct ctx *ctx, const char *data_dir, struct err *e)
{
	auto_site struct site site = { .tree = NULL };
	char dir[4096];

	if (ipam_dir(ctx, data_dir, dir, sizeof(dir), e) || site_load(ctx, &site, e))
		return -1;
	if (safe_path_below(data_dir, site.data_dirs))
		return session_check_own(ctx, data_dir, dir, e);
	err_set(e, ERR_CONFIG, 0, "ipam.dataDir: \"%.128s\" is in no folder for stores", data_dir);
	return err_hint(e, "leave it out, choose a folder below /var/lib/cni, or add its folder to "
			   "\"dataDirs\" in /etc/railhead/" SITE_FILE);
}

/* Follows links, as earlier versions did: this function changes nothing. */
bool ipam_dir_has_no_store(const char *dir)
{
	char path[4200];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/" LMDB_DATA, dir);
	return stat(path, &st) && (errno == ENOENT || errno == ENOTDIR);
}

int ipam_open(const struct ctx *ctx, const char *dir, bool create, struct ipam *out, struct err *e)
{
	struct ipam m = { .ctx = ctx, .rest_max = LEASE_DB_REST_MAX, .holders = &holder_records };
	struct utsname names;
	char usual[4096];

	if (ipam_dir(ctx, NULL, usual, sizeof(usual), e) || ctx_boot_id(ctx, m.boot, e))
		return -1;
	const struct store_lmdb at = { .dir = dir ? dir : usual,
				       .boot = m.boot,
				       .create = create ? STORE_CREATE : STORE_EXISTING,
				       .outside = dir && strcmp(dir, usual) != 0,
				       .log = &ctx->log };
	if (store_lmdb_open(&at, &m.store, e))
		return -1;
	if (uname(&names) == 0)
		(void)snprintf(m.node, sizeof(m.node), "%s", names.nodename);
	*out = m;
	return 0;
}

void ipam_close(struct ipam *m)
{
	store_close(m->store);
	m->store = NULL;
}

/* ---- the boot sweep ---- */

#define STALE_MAX (1u << 24)

struct stale {
	struct key_address *items;
	size_t n;
	const char *boot;
	struct err *e;
	bool failed;
};

static int collect_stale(const char *key, const char *value, void *arg)
{
	struct stale *s = arg;
	auto_lease struct lease rec = { 0 };
	struct key_address a;
	struct err why;

	if (key_parse_address(key, &a))
		return 0;
	if (lease_parse(value, key, &rec, &why)) {
		/* verify repairs a damaged record later. It must not keep every pod from starting.
		 */
		if (why.code != ERR_NOMEM)
			return 0;
		*s->e = why;
		s->failed = true;
		return 1;
	}
	if (rec.state != LEASE_HELD || strcmp(rec.boot, s->boot) == 0)
		return 0;
	if (ARRAY_GROW(s->items, s->n, STALE_MAX, "leases of an earlier boot", s->e)) {
		s->failed = true;
		return 1;
	}
	s->items[s->n++] = a;
	return 0;
}

/*
 * If the records that belong to a lease are damaged, only the lease is changed. The verify that
 * follows repairs the others.
 */
static int session_release_one(struct lease_db *l, const struct key_address *a, int64_t since,
			       struct err *e)
{
	auto_lease struct lease rec = { .tree = NULL };
	struct err why;
	struct key k;
	int found;

	if (lease_db_release(l, a, since, &why) == 0)
		return 0;
	if (why.code == ERR_NOMEM)
		return err_pass(e, &why);
	found = lease_db_of_address(l, a->scope, a->ip, &rec, e);
	if (found <= 0 || rec.state != LEASE_HELD)
		return found < 0 ? -1 : 0;
	rec.state = LEASE_RESTING;
	rec.since = since;
	rec.boot = rec.node = "";
	key_of_address(&k, a->scope, a->ip);
	return lease_db_put(l, k.s, lease_print(&rec), e);
}

static int release_stale(struct lease_db *l, struct err *e)
{
	struct stale s = { .boot = l->ipam->boot, .e = e };
	int64_t since = ctx_boot_time(l->ipam->ctx);
	struct key prefix = { "a/" };
	int rc = lease_db_scan(l, &prefix, collect_stale, &s, e);

	if (since > l->now)
		since = l->now;
	if (since < 0)
		since = 0;
	for (size_t i = 0; rc == 0 && !s.failed && i < s.n; i++)
		rc = session_release_one(l, &s.items[i], since, e);
	free(s.items);
	return rc || s.failed ? err_wrap(e, "release the leases of earlier boots") : 0;
}

static int begin_boot(struct lease_db *l, struct err *e)
{
	struct verify v = { .repair = true, .all_gone = true };
	const char *by = l->by;

	l->by = "boot";
	int rc = release_stale(l, e) || verify_lease_db(l, &v, e) ? -1 : 0;
	l->by = by;
	lease_db_sync(l);
	return rc;
}

struct meta {
	int64_t schema;
	const char *boot;
	bool indexed; /* false: a version without the records i/ wrote this store */
};

static const struct json_field meta_fields[] = {
	{ "schema", J_I64, J_AT(struct meta, schema), .flags = J_REQUIRED },
	{ "boot", J_STRING, J_AT(struct meta, boot) },
	{ "byPod", J_BOOL, J_AT(struct meta, indexed) },
	{ 0 },
};

static int read_meta(const char *text, struct json **tree, struct meta *m, struct err *e)
{
	if (json_parse(text, strlen(text), KEY_META, tree, e) ||
	    json_decode(*tree, KEY_META, meta_fields, m, e)) {
		if (e->code == ERR_NOMEM)
			return -1;
		e->code = ERR_STORE;
		return err_wrap(e, "the store is damaged");
	}
	if (m->schema > SESSION_SCHEMA)
		return err_set(e, ERR_STORE, 0,
			       "the store has schema %lld, this program knows %d; install a newer "
			       "railhead",
			       (long long)m->schema, SESSION_SCHEMA);
	return 0;
}

/* sweep false: clean up later, because the disk is full, and the cleaning changes many records. */
static int begin_job(struct lease_db *l, enum store_mode mode, bool sweep, struct err *e)
{
	struct meta m = { .boot = "" };
	auto_json struct json *tree = NULL;
	const char *text;

	if (lease_db_get(l, KEY_META, &text, e) || (text && read_meta(text, &tree, &m, e)))
		return -1;
	bool new_boot = strcmp(m.boot, l->ipam->boot) != 0;

	l->indexed = m.indexed;
	if (mode == STORE_READ || !sweep || (!new_boot && m.indexed))
		return 0;
	/* An earlier version did not write the records i/. They follow from the leases. */
	struct verify add_pods = { .repair = true };
	if (new_boot ? begin_boot(l, e) : verify_lease_db(l, &add_pods, e))
		return -1;
	l->indexed = true;

	auto_json struct json *o = json_new_object();
	if (!o || json_add_int(o, "schema", SESSION_SCHEMA) ||
	    json_add_str(o, "boot", l->ipam->boot) || json_add_bool(o, "byPod", true))
		return err_nomem(e);
	return lease_db_put(l, KEY_META, json_print(o, false), e);
}

/* ---- transactions ---- */

static int run_once(struct ipam *m, const struct ipam_job *job, bool sweep, struct err *e)
{
	const struct store_ops *ops = m->store->ops;
	auto_json struct json *journal = job->journal ? json_new_array() : NULL;
	struct lease_db l = { .ipam = m, .by = job->by, .journal = journal };

	if (job->journal && !journal)
		return err_nomem(e);
	if (ops->begin(m->store, job->mode, &l.t, e))
		return -1;
	/* Read the clock after the wait for the lock: later transactions have later times. */
	l.now = m->ctx->now(m->ctx->clock);
	if (begin_job(&l, job->mode, sweep, e) || job->fn(&l, job->arg, e)) {
		ops->abort(l.t);
		return -1;
	}
	if (job->mode == STORE_READ)
		ops->abort(l.t);
	else if (ops->commit(l.t, e))
		return -1;
	if (job->journal)
		*job->journal = TAKE_PTR(journal);
	return 0;
}

int ipam_run(struct ipam *m, const struct ipam_job *job, struct err *e)
{
	int rc = run_once(m, job, true, e);

	if (rc && job->mode == STORE_RELEASE && e->errnum == ENOSPC)
		rc = run_once(m, job, false, e);
	return rc;
}

int ipam_read(struct ipam *m, const struct ipam_job *job, struct json **found, struct json **out,
	      struct err *e)
{
	if (ipam_run(m, job, e)) {
		json_free(*found);
		return -1;
	}
	*out = *found;
	return 0;
}

static int verify_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	return verify_lease_db(l, arg, e);
}

int ipam_verify(struct ipam *m, struct verify *v, struct err *e)
{
	struct ipam_job job = { v->repair ? STORE_WRITE : STORE_READ, "VERIFY", verify_in_txn, v,
				NULL };

	return ipam_run(m, &job, e);
}

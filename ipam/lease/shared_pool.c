/* SPDX-License-Identifier: Apache-2.0 */
/* shared_pool.c: keeps the definitions of shared pools; subnet and blockSize stay while anything
 * lives. */
#include "ipam/lease/shared_pool.h"

#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool_blocks.h"
#include "ipam/lease/block_index.h"
#include "ipam/lease/pool_db.h"

_Static_assert(POOL_SHARED_NAME_MAX == GRID_POOL_MAX, "one limit for the names of shared pools");
_Static_assert(POOL_UID_MAX == CLUSTER_UID_LEN - 1, "one limit for uids");

void shared_pool_view_clear(struct shared_pool_view *v)
{
	source_clear(&v->source);
}

int shared_pool_decode(const struct shared_pool_def *d, struct shared_pool_view *out, struct err *e)
{
	struct source s = { .label = "" };

	const struct pool_text text = { .def = d->definition, .reserved = d->reserved };

	if (pool_name_valid(d->name, e) || pool_text_decode(d->name, &text, &s, e))
		return -1;
	if (!s.blocks.shared || !*d->uid || strlen(d->uid) > POOL_UID_MAX) {
		source_clear(&s);
		return err_set(e, ERR_CONFIG, 0,
			       "pool %.100s: a shared pool has \"blockSize\", and a uid of 1 to %d "
			       "characters",
			       d->name, POOL_UID_MAX);
	}
	out->source = s;
	out->pool = (struct shared_pool){
		.grid = { .subnet = s.subnet,
			  .bits = s.blocks.bits,
			  .usable = &out->source.usable },
		.strict = s.blocks.strict,
		.warm = s.blocks.warm,
		.idle = s.blocks.idle,
		.sticky = s.blocks.moves,
		.keep = s.blocks.keep,
	};
	(void)snprintf(out->pool.name, sizeof(out->pool.name), "%s", d->name);
	(void)snprintf(out->pool.uid, sizeof(out->pool.uid), "%s", d->uid);
	out->source.blocks.uid = out->pool.uid;
	return 0;
}

/* ---- put ---- */

struct put_job {
	const struct shared_pool_def *d;
	const struct source *new;
};

/* The records of blocks and loans, and the held leases that are left of the pool. */
static int load_living(struct lease_db *l, const char *name, struct keys *blocks, uint64_t *held,
		       struct err *e)
{
	char scope[KEY_SCOPE_MAX];
	struct key prefix, loans;

	key_of_blocks(&prefix, key_scope(scope, 'p', name));
	key_of_loans(&loans, scope);
	return pool_db_keys(l, &prefix, blocks, e) || pool_db_keys(l, &loans, blocks, e) ||
			       pool_db_held(l, name, held, e)
		       ? -1
		       : 0;
}

static int shared_pool_refuse_living(const char *name, const char *what, const char *uid,
				     struct err *e)
{
	err_set(e, ERR_BUSY, 0, "pool %s: its %s changed, and this node has blocks or leases of it",
		name, what);
	return err_hint(e, "the pool with uid %s stays on this node until they are gone", uid);
}

static int shared_pool_check_own(const struct pool_entry *old, const char *name, struct err *e)
{
	if (old->source.blocks.uid)
		return 0;
	err_set(e, ERR_BUSY, 0, "pool %s: a pool of this node alone has this name", name);
	return err_hint(e,
			"delete it with `railctl ipam pool delete %s` when no pod uses it, or "
			"name the shared pool otherwise",
			name);
}

/* The uid, blockSize or subnet, if it differs: they stay while anything lives. NULL: none does. */
static const char *difference(const struct source *a, const struct source *b)
{
	if (strcmp(a->blocks.uid, b->blocks.uid) != 0)
		return "uid";
	if (a->blocks.bits != b->blocks.bits)
		return "blockSize";
	return ip_equal(a->subnet.addr, b->subnet.addr) && a->subnet.len == b->subnet.len
		       ? NULL
		       : "subnet";
}

/* Addresses that were masked may be usable now, and others no more. */
static int move_cursors(struct lease_db *l, const struct source *new, const struct keys *blocks,
			struct err *e)
{
	for (size_t i = 0; i < blocks->n; i++) {
		struct block_place place;
		struct key_address block;
		char id[KEY_ID_LEN + 1];

		if (key_parse_block(blocks->items[i].s, &block))
			continue;
		pool_block_id(block.ip, id);
		if (block_place_begin(l, &block, id, &place, e) ||
		    block_cursor_set(l, new, block.ip, e) || block_place_end(l, &place, e))
			return -1;
	}
	return 0;
}

/* 1: the definition may be replaced. */
static int check_old(struct lease_db *l, const struct put_job *job, struct keys *blocks,
		     struct err *e)
{
	auto_pool_entry struct pool_entry old = { .text = { .tree = NULL } };
	uint64_t held;
	bool found;

	if (pool_db_load(l, job->d->name, &old, &found, e) ||
	    load_living(l, job->d->name, blocks, &held, e))
		return -1;
	if (!found)
		return 0;
	if (shared_pool_check_own(&old, job->d->name, e))
		return -1;
	const char *what = difference(&old.source, job->new);
	if (!what || (blocks->n == 0 && held == 0))
		return 0;
	return shared_pool_refuse_living(job->d->name, what, old.source.blocks.uid, e);
}

static int shared_pool_put_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct put_job *job = arg;
	const struct shared_pool_def *d = job->d;
	auto_keys struct keys blocks = { .n = 0 };
	const struct pool_text t = { NULL, d->definition, d->uid, d->generation, d->reserved };
	struct key k;

	if (check_old(l, job, &blocks, e) || pool_db_check_overlap(l, d->name, job->new, e) ||
	    pool_db_check_living(l, d->name, job->new, e))
		return -1;
	key_of_pool(&k, d->name);
	lease_db_sync(l);
	if (lease_db_put(l, k.s, pool_record_shared(&t), e))
		return -1;
	return move_cursors(l, job->new, &blocks, e);
}

int shared_pool_put(struct ipam *m, const struct shared_pool_def *d, struct err *e)
{
	struct shared_pool_view v = { .source = { .label = "" } };
	struct put_job arg = { d, &v.source };
	struct ipam_job job = { STORE_WRITE, "POOL", shared_pool_put_in_txn, &arg, NULL };

	if (shared_pool_decode(d, &v, e))
		return -1;
	int rc = ipam_run(m, &job, e);
	shared_pool_view_clear(&v);
	return rc;
}

/* ---- remove ---- */

struct remove_job {
	const char *name;
	int result;
};

static int remove_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct remove_job *job = arg;
	auto_pool_entry struct pool_entry old = { .text = { .tree = NULL } };
	auto_keys struct keys blocks = { .n = 0 };
	uint64_t held;
	bool found;

	job->result = 0;
	if (pool_db_load(l, job->name, &old, &found, e) ||
	    load_living(l, job->name, &blocks, &held, e))
		return -1;
	if (!found)
		return 0;
	if (shared_pool_check_own(&old, job->name, e))
		return -1;
	job->result = held || blocks.n;
	return job->result ? 0 : pool_db_delete(l, job->name, e);
}

int shared_pool_remove(struct ipam *m, const char *name, struct err *e)
{
	struct remove_job arg = { .name = name };
	struct ipam_job job = { STORE_WRITE, "POOL", remove_in_txn, &arg, NULL };

	if (pool_name_valid(name, e) || ipam_run(m, &job, e))
		return -1;
	return arg.result;
}

/* ---- list ---- */

struct list_job {
	struct json *out;
	struct err *e;
	bool failed;
};

static int lease_add_pool(struct list_job *job, const char *name, const struct pool_text *t)
{
	struct json *o = json_push_object(job->out);

	if (!o || json_add_str(o, "name", name) || json_add_str(o, "uid", t->uid) ||
	    json_add_int(o, "generation", t->generation) ||
	    json_add_copy(o, "definition", t->def) ||
	    (t->reserved && json_add_copy(o, "reserved", t->reserved)))
		return err_nomem(job->e);
	return 0;
}

static int shared_pool_see_pool(const char *key, const char *value, void *arg)
{
	struct list_job *job = arg;
	auto_pool_text struct pool_text t = { .tree = NULL };

	/* A damaged record may be a shared pool's: the agent must not take it for removed. */
	job->failed =
		pool_parse(value, key, &t, job->e) || (t.uid && lease_add_pool(job, key + 2, &t));
	return job->failed;
}

static int shared_pool_list_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct list_job *job = arg;
	const struct key all = { "d/" };

	json_free(job->out);
	job->out = json_new_array();
	job->e = e;
	if (!job->out)
		return err_nomem(e);
	return lease_db_scan(l, &all, shared_pool_see_pool, job, e) || job->failed ? -1 : 0;
}

int shared_pool_list(struct ipam *m, struct json **out, struct err *e)
{
	struct list_job arg = { .out = NULL };
	struct ipam_job job = { STORE_READ, "POOL", shared_pool_list_in_txn, &arg, NULL };

	return ipam_read(m, &job, &arg.out, out, e);
}

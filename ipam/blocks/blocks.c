/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c: reads and writes the records of blocks, and counts the addresses of a block. */
#include "ipam/blocks/blocks.h"

#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool_blocks.h"
#include "ipam/conf/pool_slice.h"
#include "ipam/lease/block_index.h"
#include "ipam/lease/pool_db.h"
#include "ipam/node/node_file.h"
#include "lib/base/array.h"

#define BLOCKS_MAX (1u << 24)

static int run(struct ipam *m, enum store_mode mode,
	       int (*fn)(struct lease_db *, void *, struct err *), void *arg, struct err *e)
{
	const struct ipam_job job = { mode, "BLOCK", fn, arg, NULL };

	return ipam_run(m, &job, e);
}

/* ---- load ---- */

struct load_job {
	struct agent_memory *out;
	struct err *e;
	bool failed;
};

static int load_block(const char *key, const char *value, void *arg)
{
	struct load_job *job = arg;
	struct agent_memory *m = job->out;

	job->failed = ARRAY_GROW(m->blocks, m->n, BLOCKS_MAX, "blocks of a node", job->e) ||
		      block_value_parse(key, value, &m->blocks[m->n], job->e);
	m->n += !job->failed;
	return job->failed;
}

static int load_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct load_job *job = arg;
	const struct key all = { "b/" };
	const char *text;

	job->out->n = 0;
	job->e = e;
	if (lease_db_get(l, KEY_NODE, &text, e) || node_value_parse(text, &job->out->node, e))
		return -1;
	return lease_db_scan(l, &all, load_block, job, e) || job->failed ? -1 : 0;
}

int blocks_load(struct ipam *m, struct agent_memory *out, struct err *e)
{
	struct agent_memory memory = { .n = 0 };
	struct load_job job = { .out = &memory };

	if (run(m, STORE_READ, load_in_txn, &job, e)) {
		blocks_clear(&memory);
		return -1;
	}
	*out = memory;
	return 0;
}

void blocks_clear(struct agent_memory *memory)
{
	free(memory->blocks);
	*memory = (struct agent_memory){ .n = 0 };
}

/* ---- one block in a transaction ---- */

struct block_job {
	const struct block_key *key;
	const struct block_record *put;
	int result;
	uint64_t n;        /* addresses that are held */
	uint64_t unprobed; /* addresses that wait for a probe, or are damaged */
};

/* The block with its pool. The caller clears *pool. */
struct block_view {
	struct pool_entry pool;
	struct key_address at;
	struct ip_range range;
	struct key key;
};

static void clear_view(struct block_view *v)
{
	pool_entry_clear(&v->pool);
}
#define auto_view auto_clean(clear_view)

static int load_view(struct lease_db *l, const struct block_key *b, struct block_view *v,
		     struct err *e)
{
	const struct source *s = &v->pool.source;
	char text[IP_STR_LEN];
	bool found;

	if (pool_db_load(l, b->pool, &v->pool, &found, e))
		return -1;
	if (!found || !s->blocks.uid)
		return err_set(e, ERR_NOTFOUND, 0,
			       "pool %s: its definition in the cluster is not known on this node",
			       b->pool);
	v->range = pool_block_range(s->blocks.bits, b->start);
	if (!ip_in_prefix(s->subnet, b->start) || !ip_equal(v->range.first, b->start))
		return err_set(e, ERR_CONFIG, 0, "pool %s: no block of it starts at %s", b->pool,
			       ip_format(b->start, text));
	key_scope(v->at.scope, 'p', b->pool);
	v->at.ip = b->start;
	block_value_key(b, &v->key);
	return 0;
}

/* ---- put ---- */

/* A contested block that is lost at last is in conflict since it was contested. */
static int keep_since(struct lease_db *l, const char *key, struct block_record *r, struct err *e)
{
	struct block_record old = { .since = 0 };
	const char *text;

	r->since = 0;
	if (!block_is_in_conflict(r))
		return 0;
	if (lease_db_get(l, key, &text, e) || (text && block_value_parse(key, text, &old, e)))
		return -1;
	r->since = old.since ? old.since : l->now;
	return 0;
}

static int put_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct block_job *job = arg;
	struct block_record r = *job->put;
	auto_view struct block_view v = { .range = { .first = { .family = IP_NONE } } };
	char id[KEY_ID_LEN + 1];
	struct block_place place;
	const char *usage;
	struct key k;

	if (load_view(l, &r.key, &v, e) || keep_since(l, v.key.s, &r, e))
		return -1;
	pool_block_id(r.key.start, id);
	key_of_usage(&k, v.at.scope, id);
	if (block_place_begin(l, &v.at, id, &place, e) || lease_db_get(l, k.s, &usage, e))
		return -1;
	/* A search must not read a block in vain whose first address is masked. */
	if (!usage && r.state == BLOCK_GRANTED &&
	    block_cursor_set(l, &v.pool.source, r.key.start, e))
		return -1;
	if (lease_db_put(l, v.key.s, block_value_print(&r), e))
		return -1;
	return block_place_end(l, &place, e);
}

int blocks_put(struct ipam *m, const struct block_record *r, struct err *e)
{
	struct block_job job = { .put = r };

	return run(m, STORE_WRITE, put_in_txn, &job, e);
}

/* ---- the addresses of a block ---- */

struct address_scan {
	struct ip_range range;
	int64_t now, cooldown;
	uint64_t held, cooling;
	uint64_t unprobed; /* with the mark that a probe is needed, or damaged */
	struct keys *keys; /* all of them; NULL: not wanted */
	struct err *e;
	bool failed;
};

/* A record that cannot be read may be a living pod's. */
static int see_address(const char *key, const char *value, void *arg)
{
	struct address_scan *s = arg;
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	struct err why;

	if (key_parse_address(key, &a) || ip_cmp(a.ip, s->range.last) > 0)
		return 1;
	bool damaged = lease_parse(value, key, &rec, &why);
	if (damaged && why.code == ERR_NOMEM) {
		*s->e = why;
		s->failed = true;
		return 1;
	}
	s->unprobed += damaged || rec.probe;
	if (damaged || rec.state == LEASE_HELD)
		s->held++;
	else if (!lease_db_has_rested(rec.since, s->now, s->cooldown))
		s->cooling++;
	if (!s->keys)
		return 0;
	s->failed = ARRAY_GROW(s->keys->items, s->keys->n, BLOCKS_MAX, "addresses", s->e) != 0;
	if (!s->failed)
		(void)snprintf(s->keys->items[s->keys->n++].s, sizeof(struct key), "%s", key);
	return s->failed;
}

static int scan_block(struct lease_db *l, const struct block_view *v, struct address_scan *s,
		      struct err *e)
{
	struct key prefix, from;

	s->range = v->range;
	s->now = l->now;
	s->cooldown = v->pool.source.policy.cooldown;
	s->e = e;
	key_of_addresses(&prefix, v->at.scope, v->range.first.family);
	key_of_address(&from, v->at.scope, v->range.first);
	if (lease_db_scan_from(l, (struct store_span){ prefix.s, from.s }, see_address, s, e))
		return -1;
	return s->failed ? -1 : 0;
}

static int used_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct block_job *job = arg;
	auto_view struct block_view v = { .range = { .first = { .family = IP_NONE } } };
	struct address_scan scan = { .held = 0 };

	if (load_view(l, job->key, &v, e) || scan_block(l, &v, &scan, e))
		return -1;
	job->n = scan.held;
	job->unprobed = scan.unprobed;
	return 0;
}

int blocks_probed(struct ipam *m, const struct block_key *key, bool *out, struct err *e)
{
	struct block_job job = { .key = key };

	if (run(m, STORE_READ, used_in_txn, &job, e))
		return -1;
	*out = job.n && !job.unprobed;
	return 0;
}

int blocks_used(struct ipam *m, const struct block_key *key, uint32_t *out, struct err *e)
{
	struct block_job job = { .key = key };

	if (run(m, STORE_READ, used_in_txn, &job, e))
		return -1;
	*out = (uint32_t)job.n;
	return 0;
}

/* ---- drop and retire ---- */

static int drop_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct block_job *job = arg;
	auto_view struct block_view v = { .range = { .first = { .family = IP_NONE } } };
	auto_keys struct keys keys = { .n = 0 };
	struct address_scan scan = { .keys = &keys };
	char id[KEY_ID_LEN + 1];
	struct key_address a;
	struct key entry, usage;

	job->result = 0;
	if (load_view(l, job->key, &v, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	if (scan_block(l, &v, &scan, e))
		return -1;
	job->result = scan.held > 0;
	if (scan.held)
		return 0;
	key_of_usage(&usage, v.at.scope, pool_block_id(job->key->start, id));
	if (block_place(l, &v.at, &entry, e) || (*entry.s && lease_db_del(l, entry.s, e)))
		return -1;
	for (size_t i = 0; i < keys.n; i++) {
		if (key_parse_address(keys.items[i].s, &a) == 0 && lease_db_forget(l, &a, e))
			return -1;
	}
	return lease_db_del(l, usage.s, e) || lease_db_del(l, v.key.s, e) ? -1 : 0;
}

int blocks_drop(struct ipam *m, const struct block_key *key, struct err *e)
{
	struct block_job job = { .key = key };

	return run(m, STORE_RELEASE, drop_in_txn, &job, e) ? -1 : job.result;
}

static int retire_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct block_job *job = arg;
	auto_view struct block_view v = { .range = { .first = { .family = IP_NONE } } };
	struct address_scan scan = { .held = 0 };
	struct block_record r;
	const char *text;
	struct key entry;

	if (load_view(l, job->key, &v, e) || lease_db_get(l, v.key.s, &text, e))
		return -1;
	if (!text)
		return err_set(e, ERR_NOTFOUND, 0, "there is no record %s", v.key.s);
	if (block_value_parse(v.key.s, text, &r, e) || scan_block(l, &v, &scan, e))
		return -1;
	/* A parked address goes to the same pod again, which need not wait. */
	job->result = scan.held || (scan.cooling && !v.pool.source.blocks.moves) ||
		      (r.state != BLOCK_GRANTED && r.state != BLOCK_RETURNING);
	if (job->result || r.state == BLOCK_RETURNING)
		return 0;
	r.state = BLOCK_RETURNING;
	if (block_place(l, &v.at, &entry, e) || (*entry.s && lease_db_del(l, entry.s, e)))
		return -1;
	return lease_db_put(l, v.key.s, block_value_print(&r), e);
}

int blocks_retire(struct ipam *m, const struct block_key *key, struct err *e)
{
	struct block_job job = { .key = key };

	return run(m, STORE_RELEASE, retire_in_txn, &job, e) ? -1 : job.result;
}

/* ---- the node ---- */

static int put_node_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct node_record *r = arg;
	struct node_record old;
	const char *text;
	struct err why;

	if (lease_db_get(l, KEY_NODE, &text, e))
		return -1;
	/* After a power loss the node must still know the holder of its blocks. */
	if (!text || node_value_parse(text, &old, &why) || strcmp(old.holder, r->holder) != 0)
		lease_db_sync(l);
	return lease_db_put(l, KEY_NODE, node_value_print(r), e);
}

int blocks_put_node(struct ipam *m, const struct node_record *r, struct err *e)
{
	return run(m, STORE_WRITE, put_node_in_txn, (void *)(uintptr_t)r, e);
}

/* ---- spare ---- */

struct spare_job {
	const char *pool;
	uint64_t n;
};

/*
 * Each change of an address is followed by a count, and the store is locked meanwhile. So leases
 * are counted by their keys, and are not read.
 */
struct key_count {
	const struct ranges *usable;
	struct ip last;
	int64_t now, cooldown;
	uint64_t n;
};

static int count_address(const char *key, const char *value, void *arg)
{
	struct key_count *c = arg;
	struct key_address a;

	(void)value;
	if (key_parse_address(key, &a) || ip_cmp(a.ip, c->last) > 0)
		return 1;
	c->n += ranges_contain(c->usable, a.ip);
	return 0;
}

static int count_rested(const char *key, const char *value, void *arg)
{
	struct key_count *c = arg;
	char source[KEY_ID_LEN + 1];
	struct key_address a;
	int64_t since;

	(void)value;
	c->n += key_parse_rest(key, &a, source, &since) == 0 && ranges_contain(c->usable, a.ip) &&
		lease_db_has_rested(since, c->now, c->cooldown);
	return 0;
}

static int add_spare(struct lease_db *l, const struct pool_entry *pool, const struct key_free *f,
		     uint64_t *n, struct err *e)
{
	const struct source *s = &pool->source;
	const struct ip_range range = pool_block_range(s->blocks.bits, f->start);
	struct key_count all = { .usable = &s->usable, .last = range.last };
	struct key_count rested = { .usable = &s->usable,
				    .now = l->now,
				    .cooldown = s->policy.cooldown };
	char id[KEY_ID_LEN + 1];
	struct key prefix, from, rests;

	key_of_addresses(&prefix, s->scope, range.first.family);
	key_of_address(&from, s->scope, range.first);
	key_of_rests(&rests, s->scope, pool_block_id(f->start, id));
	if (lease_db_scan_from(l, (struct store_span){ prefix.s, from.s }, count_address, &all,
			       e) ||
	    lease_db_scan(l, &rests, count_rested, &rested, e))
		return -1;

	const u128 have = ranges_capacity_in(&s->usable, range) + rested.n;

	*n += have > all.n ? (uint64_t)(have - all.n) : 0;
	return 0;
}

/* A node whose number does not fit a pool with slices assigns nothing of it. 1: it does not. */
static int cut_slice(struct lease_db *l, struct source *s, struct err *e)
{
	uint32_t number;

	if (!s->slice.size)
		return 0;
	if (node_file_number(l->ipam->ctx, l->ipam->node, &number, e) ||
	    pool_slice_cut(s, number, e))
		return e->code == ERR_NOMEM ? -1 : 1;
	return 0;
}

static int spare_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct spare_job *job = arg;
	auto_pool_entry struct pool_entry pool = { .text = { .tree = NULL } };
	struct node_record node;
	const char *text;
	bool found;
	struct key_free f;
	struct key last;

	job->n = 0;
	if (pool_db_load(l, job->pool, &pool, &found, e) || lease_db_get(l, KEY_NODE, &text, e) ||
	    node_value_parse(text, &node, e))
		return -1;
	if (!found || !pool.source.blocks.uid ||
	    !node_may_give(&node, pool.source.blocks.strict, l->ipam->boot,
			   ctx_since_boot(l->ipam->ctx)))
		return 0;
	int rc = cut_slice(l, &pool.source, e);
	if (rc)
		return rc < 0 ? -1 : 0;
	struct block_query q = { .scope = pool.source.scope, .epoch = node.epoch };
	for (;;) {
		if (block_next(l, &q, &f, &found, e))
			return -1;
		if (!found)
			return 0;
		if (add_spare(l, &pool, &f, &job->n, e))
			return -1;
		key_of_free(&last, q.scope, &f);
		q.after = &last;
	}
}

int blocks_spare(struct ipam *m, const char *pool, uint64_t *out, struct err *e)
{
	struct spare_job job = { .pool = pool };

	if (run(m, STORE_READ, spare_in_txn, &job, e))
		return -1;
	*out = job.n;
	return 0;
}

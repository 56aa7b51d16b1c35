/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c: reads and writes the records of blocks, and counts the addresses of a block. */
#include "ipam/lease/blocks_priv.h"

#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool_blocks.h"
#include "ipam/lease/block_index.h"
#include "ipam/lease/pool_db.h"
#include "lib/base/array.h"

#define BLOCKS_MAX (1u << 24)

int blocks_run(struct ipam *m, enum store_mode mode,
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

static int load_lending(struct agent_memory *m, const char *key, const char *value, struct err *e)
{
	struct lending l;

	if (block_value_lends(key, value, &l, e))
		return -1;
	if (!l.n)
		return 0;
	return ARRAY_PUSH(m->lendings, m->n_lendings, BLOCKS_MAX, "blocks that lend", l, e);
}

static int load_block(const char *key, const char *value, void *arg)
{
	struct load_job *job = arg;
	struct agent_memory *m = job->out;

	job->failed = ARRAY_GROW(m->blocks, m->n, BLOCKS_MAX, "blocks of a node", job->e) ||
		      block_value_parse(key, value, &m->blocks[m->n], job->e) ||
		      load_lending(m, key, value, job->e);
	m->n += !job->failed;
	return job->failed;
}

static int load_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct load_job *job = arg;
	const struct key all = { "b/" }, loans = { "l/" };
	const char *text;

	job->out->n = 0;
	job->e = e;
	if (lease_db_get(l, KEY_NODE, &text, e) || node_value_parse(text, &job->out->node, e))
		return -1;
	if (lease_db_scan(l, &all, load_block, job, e) || job->failed)
		return -1;
	return lease_db_scan(l, &loans, load_block, job, e) || job->failed ? -1 : 0;
}

int blocks_load(struct ipam *m, struct agent_memory *out, struct err *e)
{
	struct agent_memory memory = { .n = 0 };
	struct load_job job = { .out = &memory };

	if (blocks_run(m, STORE_READ, load_in_txn, &job, e)) {
		blocks_clear(&memory);
		return -1;
	}
	*out = memory;
	return 0;
}

void blocks_clear(struct agent_memory *memory)
{
	free(memory->blocks);
	free(memory->lendings);
	*memory = (struct agent_memory){ .n = 0 };
}

/* ---- one block in a transaction ---- */

struct block_job {
	const struct block_key *key;
	const struct block_record *put;
	const struct lending *lends; /* with `put`; NULL: as before */
	int result;
	uint64_t n;        /* addresses that are held */
	uint64_t unprobed; /* addresses that wait for a probe, or are damaged */
	uint64_t lent;     /* addresses that other nodes have */
};

int block_view_load(struct lease_db *l, const struct block_key *b, struct block_view *v,
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
	if (b->one > (uint64_t)1 << s->blocks.bits)
		return err_set(e, ERR_CONFIG, 0, "pool %s: the block at %s has no address %u",
			       b->pool, ip_format(b->start, text), (unsigned)b->one - 1);
	v->is_loan = b->one > 0;
	if (b->one)
		v->range.first = v->range.last = block_key_ip(b);
	key_scope(v->at.scope, 'p', b->pool);
	v->at.ip = b->start;
	block_value_key(b, &v->key);
	return 0;
}

/* ---- put ---- */

/* A contested block that is lost at last is in conflict since it was contested. */
static int64_t since_of(const struct lease_db *l, const struct block_record *old,
			const struct block_record *r)
{
	if (!block_is_in_conflict(r))
		return 0;
	return old->since ? old->since : l->now;
}

static bool is_lent_same(const struct lending *a, const struct lending *b)
{
	bool same = a->n == b->n;

	for (unsigned i = 0; i < b->n && same; i++)
		same = a->loans[i].at == b->loans[i].at;
	return same;
}

/*
 * The first address that was never used may be another one after the change. A search must not read
 * a block in vain whose first address is masked, and must find one that came back.
 */
static int moves_cursor(struct lease_db *l, const struct block_whole *old,
			const struct block_whole *b, bool *moves, struct err *e)
{
	const struct block_record *r = &b->is;
	char scope[KEY_SCOPE_MAX], id[KEY_ID_LEN + 1];
	const char *usage;
	struct key k;

	key_scope(scope, 'p', r->key.pool);
	key_of_usage(&k, scope, pool_block_id(r->key.start, id));
	if (lease_db_get(l, k.s, &usage, e))
		return -1;
	*moves = r->state == BLOCK_GRANTED &&
		 (!usage || old->is.state < BLOCK_GRANTED || !is_lent_same(&old->lends, &b->lends));
	return 0;
}

static int blocks_put_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct block_job *job = arg;
	struct block_whole old = { .is.state = BLOCK_WANTED }, b = { .is = *job->put };
	const struct block_record *r = &b.is;
	auto_view struct block_view v = { .range = { .first = { .family = IP_NONE } } };
	char id[KEY_ID_LEN + 1];
	struct block_place place;
	bool moves, found;

	if (block_view_load(l, &r->key, &v, e) || block_db_whole(l, &v.key, &old, &found, e))
		return -1;
	b.lends = job->lends ? *job->lends : old.lends;
	b.is.since = since_of(l, &old.is, r);
	/* A power loss must neither bring back nor forget what another node has. */
	if (r->key.one || b.lends.n || old.lends.n)
		lease_db_sync(l);
	if (r->key.one)
		return lease_db_put(l, v.key.s, block_value_print(r), e);
	pool_block_id(r->key.start, id);
	if (block_place_begin(l, &v.at, id, &place, e) || moves_cursor(l, &old, &b, &moves, e) ||
	    lease_db_put(l, v.key.s, block_value_print_lending(r, &b.lends), e))
		return -1;
	if (moves && block_cursor_set(l, &v.pool.source, r->key.start, e))
		return -1;
	return block_place_end_record(l, &place, e);
}

int blocks_put_loans(struct ipam *m, const struct block_record *r, const struct lending *lends,
		     struct err *e)
{
	struct block_job job = { .put = r, .lends = lends };

	return blocks_run(m, STORE_WRITE, blocks_put_in_txn, &job, e);
}

/* ---- the addresses of a block ---- */

struct address_scan {
	const struct keys *loans; /* these addresses are not counted; NULL: all are */
	struct ip_range range;
	int64_t now, cooldown;
	uint64_t held, cooling;
	uint64_t unprobed; /* with the mark that a probe is needed, or damaged */
	struct keys *keys; /* all of them; NULL: not wanted */
	struct err *e;
	bool failed;
};

static bool is_borrowed(const struct keys *loans, const struct key_address *a)
{
	struct key k;

	key_of_loan(&k, a->scope, a->ip);
	for (size_t i = 0; i < loans->n; i++) {
		if (strcmp(loans->items[i].s, k.s) == 0)
			return true;
	}
	return false;
}

/* A record that cannot be read may be a living pod's. */
static int blocks_see_address(const char *key, const char *value, void *arg)
{
	struct address_scan *s = arg;
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	struct err why;

	if (key_parse_address(key, &a) || ip_cmp(a.ip, s->range.last) > 0)
		return 1;
	if (s->loans && is_borrowed(s->loans, &a))
		return 0;
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

/* This node has the block, so a pod with an address of it is one of the block. */
static int has_block(struct lease_db *l, const struct block_view *v, bool *has, struct err *e)
{
	struct block_record r;
	struct key k;
	bool found;

	key_of_block(&k, v->at.scope, v->at.ip);
	if (block_db_record(l, &k, &r, &found, e))
		return -1;
	*has = found && r.state >= BLOCK_GRANTED;
	return 0;
}

static int scan_block(struct lease_db *l, const struct block_view *v, struct address_scan *s,
		      struct err *e)
{
	auto_keys struct keys loans = { .n = 0 };
	struct key prefix, from;
	bool has = true;

	key_of_loans(&prefix, v->at.scope);
	if (!v->is_loan &&
	    (has_block(l, v, &has, e) || (!has && pool_db_keys(l, &prefix, &loans, e))))
		return -1;
	s->loans = loans.n ? &loans : NULL;
	s->range = v->range;
	s->now = l->now;
	s->cooldown = v->pool.source.policy.cooldown;
	s->e = e;
	key_of_addresses(&prefix, v->at.scope, v->range.first.family);
	key_of_address(&from, v->at.scope, v->range.first);
	if (lease_db_scan_from(l, (struct store_span){ prefix.s, from.s }, blocks_see_address, s,
			       e))
		return -1;
	return s->failed ? -1 : 0;
}

static int used_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct block_job *job = arg;
	auto_view struct block_view v = { .range = { .first = { .family = IP_NONE } } };
	struct address_scan scan = { .held = 0 };
	struct block_whole b = { .lends.n = 0 };
	bool found;

	if (block_view_load(l, job->key, &v, e) || scan_block(l, &v, &scan, e) ||
	    block_db_whole(l, &v.key, &b, &found, e))
		return -1;
	job->n = scan.held;
	job->unprobed = scan.unprobed;
	job->lent = b.lends.n;
	return 0;
}

int blocks_probed(struct ipam *m, const struct block_key *key, bool *out, struct err *e)
{
	struct block_job job = { .key = key };

	if (blocks_run(m, STORE_READ, used_in_txn, &job, e))
		return -1;
	*out = job.n && !job.unprobed;
	return 0;
}

int blocks_used(struct ipam *m, const struct block_key *key, uint32_t *out, struct err *e)
{
	struct block_job job = { .key = key };

	if (blocks_run(m, STORE_READ, used_in_txn, &job, e))
		return -1;
	*out = (uint32_t)(job.n + job.lent);
	return 0;
}

/* ---- drop and retire ---- */

/* Loans of the block that this node has, without the one with the key `except`. */
static int has_loans(struct lease_db *l, const struct block_view *v, const struct key *except,
		     bool *has, struct err *e)
{
	const struct ip_range range = pool_block_range(v->pool.source.blocks.bits, v->at.ip);
	auto_keys struct keys loans = { .n = 0 };
	struct key_address a;
	struct key k;

	*has = false;
	key_of_loans(&k, v->at.scope);
	if (pool_db_keys(l, &k, &loans, e))
		return -1;
	for (size_t i = 0; i < loans.n; i++)
		*has |= strcmp(loans.items[i].s, except->s) != 0 &&
			key_parse_loan(loans.items[i].s, &a) == 0 &&
			ip_cmp(a.ip, range.first) >= 0 && ip_cmp(a.ip, range.last) <= 0;
	return 0;
}

static int drop_loan(struct lease_db *l, const struct block_view *v, struct block_job *job,
		     struct err *e)
{
	const struct key_address *at = &v->at;
	auto_keys struct keys keys = { .n = 0 };
	struct address_scan scan = { .keys = &keys };
	char id[KEY_ID_LEN + 1];
	struct key_address a;
	bool has, others;
	struct key usage;

	lease_db_sync(l);
	if (has_block(l, v, &has, e) || has_loans(l, v, &v->key, &others, e))
		return -1;
	if (has)
		return lease_db_del(l, v->key.s, e);
	if (scan_block(l, v, &scan, e))
		return -1;
	job->result = scan.held > 0;
	if (scan.held)
		return 0;
	for (size_t i = 0; i < keys.n; i++) {
		if (key_parse_address(keys.items[i].s, &a) == 0 && lease_db_forget(l, &a, e))
			return -1;
	}
	key_of_usage(&usage, at->scope, pool_block_id(at->ip, id));
	if (!others && lease_db_del(l, usage.s, e))
		return -1;
	return lease_db_del(l, v->key.s, e);
}

/* A pool stays while a record of it does: the record is one that an older version left. */
static int drop_unknown(struct lease_db *l, const struct block_key *loan, struct err *e)
{
	struct key k;

	if (e->code != ERR_NOTFOUND)
		return -1;
	block_value_key(loan, &k);
	return loan->one ? lease_db_del(l, k.s, e) : 0;
}

static int drop_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct block_job *job = arg;
	auto_view struct block_view v = { .range = { .first = { .family = IP_NONE } } };
	auto_keys struct keys keys = { .n = 0 };
	struct address_scan scan = { .keys = &keys };
	char id[KEY_ID_LEN + 1];
	struct block_whole b = { .lends.n = 0 };
	struct key_address a;
	struct key entry, usage;
	bool found, loans;

	job->result = 0;
	if (block_view_load(l, job->key, &v, e))
		return drop_unknown(l, job->key, e);
	if (v.is_loan)
		return drop_loan(l, &v, job, e);
	if (scan_block(l, &v, &scan, e) || block_db_whole(l, &v.key, &b, &found, e))
		return -1;
	job->result = scan.held > 0 || b.lends.n > 0;
	if (job->result)
		return 0;
	key_of_usage(&usage, v.at.scope, pool_block_id(job->key->start, id));
	if (block_place(l, &v.at, &entry, e) || (*entry.s && lease_db_del(l, entry.s, e)))
		return -1;
	for (size_t i = 0; i < keys.n; i++) {
		if (key_parse_address(keys.items[i].s, &a) == 0 && lease_db_forget(l, &a, e))
			return -1;
	}
	/* The pods of loans count in it, too. */
	if (has_loans(l, &v, &v.key, &loans, e) || (!loans && lease_db_del(l, usage.s, e)))
		return -1;
	return lease_db_del(l, v.key.s, e);
}

int blocks_drop(struct ipam *m, const struct block_key *key, struct err *e)
{
	struct block_job job = { .key = key };

	return blocks_run(m, STORE_RELEASE, drop_in_txn, &job, e) ? -1 : job.result;
}

static int retire_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct block_job *job = arg;
	auto_view struct block_view v = { .range = { .first = { .family = IP_NONE } } };
	struct address_scan scan = { .held = 0 };
	struct block_record *r;
	struct block_whole b;
	struct key entry;
	bool found;

	if (block_view_load(l, job->key, &v, e) || block_db_whole(l, &v.key, &b, &found, e))
		return -1;
	if (!found)
		return err_set(e, ERR_NOTFOUND, 0, "there is no record %s", v.key.s);
	if (scan_block(l, &v, &scan, e))
		return -1;
	/* A parked address goes to the same pod again, which need not wait. */
	r = &b.is;
	job->result = scan.held || b.lends.n || (scan.cooling && !v.pool.source.blocks.moves) ||
		      (r->state != BLOCK_GRANTED && r->state != BLOCK_RETURNING);
	if (job->result || r->state == BLOCK_RETURNING)
		return 0;
	r->state = BLOCK_RETURNING;
	if (v.is_loan)
		return lease_db_put(l, v.key.s, block_value_print(r), e);
	if (block_place(l, &v.at, &entry, e) || (*entry.s && lease_db_del(l, entry.s, e)))
		return -1;
	return lease_db_put(l, v.key.s, block_value_print(r), e);
}

int blocks_retire(struct ipam *m, const struct block_key *key, struct err *e)
{
	struct block_job job = { .key = key };

	return blocks_run(m, STORE_RELEASE, retire_in_txn, &job, e) ? -1 : job.result;
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
	return blocks_run(m, STORE_WRITE, put_node_in_txn, (void *)(uintptr_t)r, e);
}

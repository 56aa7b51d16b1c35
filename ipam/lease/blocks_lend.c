/* SPDX-License-Identifier: Apache-2.0 */
/* blocks_lend.c: which addresses are free: to be lent, and to be assigned. */
#include "ipam/lease/blocks_priv.h"
#include "ipam/conf/pool_blocks.h"
#include "ipam/lease/block_index.h"

/* ---- lend ---- */

struct lend_job {
	const struct blocks_loan *want;
	struct block_whole b;
	struct loan loan;
	int result;
};

/* 1: *ip is an address of the block that may be lent. */
static int find_idle(struct lease_db *l, const struct block_view *v, const struct lend_job *job,
		     struct ip *ip, struct err *e)
{
	auto_clean(source_clear) struct source block = { .label = "" };
	const uint32_t one = job->want->one;
	struct key_address a = v->at;
	bool have;

	if (block_source_of(&v->pool.source, v->at.ip, &job->b.lends, &block, e))
		return -1;
	have = block.usable.n > 0;
	*ip = have ? block.usable.items[0].first : v->at.ip;
	for (; have; have = ranges_after(&block.usable, *ip, ip)) {
		if (one != LOAN_ANY && ip->v != v->at.ip.v + one - 1)
			continue;
		a.ip = *ip;
		int rc = lease_db_is_free(l, &a, v->pool.source.policy.cooldown, e);
		if (rc)
			return rc;
	}
	return 0;
}

static int lend_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct lend_job *job = arg;
	struct key_address lent;
	auto_view struct block_view v = { .range = { .first = { .family = IP_NONE } } };
	struct lending *lends = &job->b.lends;
	struct block_place place;
	char id[KEY_ID_LEN + 1];
	struct ip ip;
	bool found;

	job->result = 1;
	if (block_view_load(l, job->want->key, &v, e) ||
	    block_db_whole(l, &v.key, &job->b, &found, e))
		return -1;
	if (!found || job->b.is.state != BLOCK_GRANTED || lends->n == LOANS_MAX)
		return 0;
	int rc = find_idle(l, &v, job, &ip, e);
	if (rc <= 0)
		return rc;
	job->loan = (struct loan){ .at = (uint32_t)(ip.v - v.at.ip.v), .to = *job->want->to };
	lends->loans[lends->n++] = job->loan;
	job->result = 0;
	lease_db_sync(l);
	pool_block_id(v.at.ip, id);
	lent = v.at;
	lent.ip = ip;
	/* A resting lease would say later that a pod of this node has probed the address. */
	if (block_place_begin(l, &v.at, id, &place, e) || lease_db_forget(l, &lent, e) ||
	    lease_db_put(l, v.key.s, block_value_print_lending(&job->b.is, lends), e) ||
	    block_cursor_set(l, &v.pool.source, v.at.ip, e))
		return -1;
	return block_place_end_record(l, &place, e);
}

int blocks_lend(struct ipam *m, const struct blocks_loan *want, struct loan *out, struct err *e)
{
	struct lend_job job = { .want = want };

	if (blocks_run(m, STORE_WRITE, lend_in_txn, &job, e))
		return -1;
	if (job.result == 0)
		*out = job.loan;
	return job.result;
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

/* Usable addresses of the block that are lent. Most blocks lend none: they are not decoded. */
static int count_lent(struct lease_db *l, const struct source *s, struct ip start, uint64_t *n,
		      struct err *e)
{
	struct lending lends;
	const char *text;
	struct err why;
	struct key k;

	*n = 0;
	key_of_block(&k, s->scope, start);
	if (lease_db_get(l, k.s, &text, e))
		return -1;
	if (!text)
		return 0;
	/* verify repairs a damaged record */
	if (block_value_lends(k.s, text, &lends, &why))
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	for (unsigned i = 0; i < lends.n; i++)
		*n += ranges_contain(&s->usable, block_lent_ip(&lends, i));
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
	uint64_t lent;

	key_of_addresses(&prefix, s->scope, range.first.family);
	key_of_address(&from, s->scope, range.first);
	key_of_rests(&rests, s->scope, pool_block_id(f->start, id));
	if (lease_db_scan_from(l, (struct store_span){ prefix.s, from.s }, count_address, &all,
			       e) ||
	    lease_db_scan(l, &rests, count_rested, &rested, e))
		return -1;
	if (count_lent(l, s, f->start, &lent, e))
		return -1;

	const u128 have = ranges_capacity_in(&s->usable, range) + rested.n;

	*n += have > all.n + lent ? (uint64_t)(have - all.n - lent) : 0;
	return 0;
}

static int count_loan(const struct block_record *loan, void *arg)
{
	uint64_t *n = arg;

	(void)loan;
	++*n;
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
	struct block_query q = { .scope = pool.source.scope, .epoch = node.epoch };
	for (;;) {
		if (block_next(l, &q, &f, &found, e))
			return -1;
		if (!found)
			break;
		if (add_spare(l, &pool, &f, &job->n, e))
			return -1;
		key_of_free(&last, q.scope, &f);
		q.after = &last;
	}

	const struct loan_query loans = { &pool.source, &node, pool.source.policy.cooldown,
					  count_loan, &job->n };

	return block_free_loans(l, &loans, e);
}

int blocks_spare(struct ipam *m, const char *pool, uint64_t *out, struct err *e)
{
	struct spare_job job = { .pool = pool };

	if (blocks_run(m, STORE_READ, spare_in_txn, &job, e))
		return -1;
	*out = job.n;
	return 0;
}

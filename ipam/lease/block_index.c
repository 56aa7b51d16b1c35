/* SPDX-License-Identifier: Apache-2.0 */
/* block_index.c: keeps the entries of blocks in step with their leases, and reads them. */
#include "ipam/lease/block_index.h"

#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool_blocks.h"

/* ---- the place of a block ---- */

struct first_rest {
	bool found;
	int64_t since;
};

static int see_rest(const char *key, const char *value, void *arg)
{
	struct first_rest *f = arg;
	char source[KEY_ID_LEN + 1];
	struct key_address a;

	(void)value;
	f->found = key_parse_rest(key, &a, source, &f->since) == 0;
	return 1;
}

static int parse_whole(const char *key, const char *text, struct block_whole *out, struct err *e)
{
	return block_value_parse(key, text, &out->is, e) ||
			       block_value_lends(key, text, &out->lends, e)
		       ? -1
		       : 0;
}

/* A record that cannot be read must not keep a DEL from its work: verify repairs it. */
static int load_record(struct lease_db *l, const struct key_address *block, struct block_whole *out,
		       bool *found, struct err *e)
{
	const char *text;
	struct err why;
	struct key k;

	key_of_block(&k, block->scope, block->ip);
	if (lease_db_get(l, k.s, &text, e))
		return -1;
	*found = text && parse_whole(k.s, text, out, &why) == 0;
	if (!text || *found || why.code != ERR_NOMEM)
		return 0;
	return err_pass(e, &why);
}

/* *epoch: of the confirmation; 0: the block is not granted, or not confirmed. */
static int load_epoch(struct lease_db *l, const struct key_address *block, uint64_t *epoch,
		      bool *probe, struct err *e)
{
	struct block_whole b;
	bool found;

	if (load_record(l, block, &b, &found, e))
		return -1;
	*probe = found && b.is.probe;
	*epoch = found && b.is.state == BLOCK_GRANTED ? b.is.epoch : 0;
	return 0;
}

static int find_entry(struct lease_db *l, const struct key_address *block, uint64_t epoch,
		      struct key *out, struct err *e)
{
	struct first_rest first = { .found = false };
	struct key_free f = { .start = block->ip, .epoch = epoch };
	char id[KEY_ID_LEN + 1];
	struct source_usage t;
	struct key rests;

	out->s[0] = '\0';
	if (!epoch)
		return 0;
	pool_block_id(block->ip, id);
	if (lease_db_usage(l, block->scope, id, &t, e))
		return -1;
	key_of_rests(&rests, block->scope, id);
	if (t.done && lease_db_scan(l, &rests, see_rest, &first, e))
		return -1;
	if (t.done && !first.found)
		return 0;
	if (t.done)
		f.since = first.since > 0 ? first.since : 1;
	key_of_free(out, block->scope, &f);
	return 0;
}

int block_place(struct lease_db *l, const struct key_address *block, struct key *out, struct err *e)
{
	uint64_t epoch;
	bool probe;

	return load_epoch(l, block, &epoch, &probe, e) ? -1 : find_entry(l, block, epoch, out, e);
}

/* False: the lease is from another kind of source. */
static bool find_block(const struct key_address *a, const char *id, struct block_place *out)
{
	struct ip start;

	out->is_block = key_pool_of(a->scope) && pool_block_of(id, a->ip, &start);
	if (!out->is_block)
		return false;
	(void)snprintf(out->block.scope, sizeof(out->block.scope), "%s", a->scope);
	out->block.ip = start;
	return true;
}

int block_place_begin_known(struct lease_db *l, const struct key_address *a, const char *id,
			    struct block_place *out, struct err *e)
{
	if (!find_block(a, id, out))
		return 0;
	return find_entry(l, &out->block, out->epoch, &out->entry, e);
}

int block_place_begin(struct lease_db *l, const struct key_address *a, const char *id,
		      struct block_place *out, struct err *e)
{
	out->probe = false;
	if (!find_block(a, id, out))
		return 0;
	return load_epoch(l, &out->block, &out->epoch, &out->probe, e)
		       ? -1
		       : find_entry(l, &out->block, out->epoch, &out->entry, e);
}

static int move_entry(struct lease_db *l, const struct block_place *p, uint64_t epoch,
		      struct err *e)
{
	struct key now;

	if (find_entry(l, &p->block, epoch, &now, e))
		return -1;
	if (strcmp(now.s, p->entry.s) == 0)
		return 0;
	if (*p->entry.s && lease_db_del(l, p->entry.s, e))
		return -1;
	return *now.s ? l->t->store->ops->put(l->t, now.s, "", e) : 0;
}

int block_place_end(struct lease_db *l, const struct block_place *p, struct err *e)
{
	return p->is_block ? move_entry(l, p, p->epoch, e) : 0;
}

int block_place_end_record(struct lease_db *l, const struct block_place *p, struct err *e)
{
	uint64_t epoch;
	bool probe;

	if (!p->is_block)
		return 0;
	return load_epoch(l, &p->block, &epoch, &probe, e) ? -1 : move_entry(l, p, epoch, e);
}

/* ---- addresses that were never used ---- */

struct gap {
	const struct source *block;
	struct ip want;
	bool have;
};

/* Called for each record from the first candidate on. It stops at the first gap between them. */
static int see_address(const char *key, const char *value, void *arg)
{
	struct gap *g = arg;
	struct key_address a;

	(void)value;
	if (key_parse_address(key, &a) || ip_cmp(a.ip, g->want) < 0)
		return 0;
	if (ip_cmp(a.ip, g->want) > 0)
		return 1;
	g->have = ranges_after(&g->block->usable, g->want, &g->want);
	return !g->have;
}

int block_never_used(struct lease_db *l, const struct source *block, struct ip from, struct ip *out,
		     struct err *e)
{
	struct gap g = { .block = block };
	struct key prefix, first;

	g.have = ranges_next(&block->usable, from, &g.want);
	if (g.have) {
		key_of_addresses(&prefix, block->scope, g.want.family);
		key_of_address(&first, block->scope, g.want);
		if (lease_db_scan_from(l, (struct store_span){ prefix.s, first.s }, see_address, &g,
				       e))
			return -1;
	}
	*out = g.have ? g.want : (struct ip){ .family = IP_NONE };
	return 0;
}

const struct loan *block_lends(const struct lending *l, struct ip ip)
{
	return ip.v < l->key.start.v ? NULL : block_lent(l, ip.v - l->key.start.v);
}

int block_source_of(const struct source *pool, struct ip start, const struct lending *lends,
		    struct source *out, struct err *e)
{
	struct source s;

	if (pool_block_source(pool, start, &s, e))
		return -1;
	for (unsigned i = 0; i < lends->n; i++) {
		const struct ip lent = block_lent_ip(lends, i);

		if (ranges_remove(&s.usable, (struct ip_range){ lent, lent }, e)) {
			source_clear(&s);
			return -1;
		}
	}
	*out = s;
	return 0;
}

int block_source(struct lease_db *l, const struct source *pool, struct ip start, struct source *out,
		 struct err *e)
{
	struct key_address block = { .ip = start };
	struct block_whole b;
	bool found;

	(void)snprintf(block.scope, sizeof(block.scope), "%s", pool->scope);
	if (load_record(l, &block, &b, &found, e))
		return -1;
	return found ? block_source_of(pool, start, &b.lends, out, e)
		     : pool_block_source(pool, start, out, e);
}

int block_db_record(struct lease_db *l, const struct key *key, struct block_record *out,
		    bool *found, struct err *e)
{
	const char *text;

	if (lease_db_get(l, key->s, &text, e) || (text && block_value_parse(key->s, text, out, e)))
		return -1;
	*found = text != NULL;
	return 0;
}

int block_db_whole(struct lease_db *l, const struct key *key, struct block_whole *out, bool *found,
		   struct err *e)
{
	const char *text;

	if (lease_db_get(l, key->s, &text, e) || (text && parse_whole(key->s, text, out, e)))
		return -1;
	*found = text != NULL;
	return 0;
}

int block_loan(struct lease_db *l, const char *scope, struct ip ip, struct block_record *out,
	       struct err *e)
{
	struct key k;
	bool found;

	key_of_loan(&k, scope, ip);
	return block_db_record(l, &k, out, &found, e) ? -1 : found;
}

struct loan_scan {
	struct lease_db *l;
	const struct loan_query *q;
	struct err *e;
	bool failed;
};

static int see_loan(const char *key, const char *value, void *arg)
{
	struct loan_scan *s = arg;
	struct block_record r;
	struct key_address a;

	if (block_value_parse(key, value, &r, s->e) || key_parse_loan(key, &a)) {
		s->failed = true;
		return 1;
	}
	if (!block_may_give(s->q->node, &r) || !ranges_contain(&s->q->pool->usable, a.ip))
		return 0;
	int rc = lease_db_is_free(s->l, &a, s->q->cooldown, s->e);
	s->failed = rc < 0;
	return rc > 0 ? s->q->fn(&r, s->q->arg) : rc;
}

int block_free_loans(struct lease_db *l, const struct loan_query *q, struct err *e)
{
	struct loan_scan s = { l, q, e, false };
	struct key prefix;

	key_of_loans(&prefix, q->pool->scope);
	return lease_db_scan(l, &prefix, see_loan, &s, e) || s.failed ? -1 : 0;
}

int block_cursor_set(struct lease_db *l, const struct source *pool, struct ip start, struct err *e)
{
	auto_clean(source_clear) struct source block = { .label = "" };
	struct source_usage t;
	struct ip next;
	struct key k;

	if (block_source(l, pool, start, &block, e) ||
	    block_never_used(l, &block, start, &next, e) ||
	    lease_db_usage(l, block.scope, block.id, &t, e))
		return -1;
	t.done = !next.family;
	t.next = t.done ? pool_block_range(pool->blocks.bits, start).last : next;
	key_of_usage(&k, block.scope, block.id);
	return lease_db_put(l, k.s, source_usage_print(&t), e);
}

/* ---- search ---- */

struct next {
	const char *after;
	struct key_free *out;
	bool found;
};

static int see_entry(const char *key, const char *value, void *arg)
{
	struct next *n = arg;
	char scope[KEY_SCOPE_MAX];

	(void)value;
	if (n->after && strcmp(key, n->after) <= 0)
		return 0;
	n->found = key_parse_free(key, scope, n->out) == 0;
	return n->found;
}

int block_next(struct lease_db *l, const struct block_query *q, struct key_free *out, bool *found,
	       struct err *e)
{
	struct next n = { .after = q->after ? q->after->s : NULL, .out = out };
	struct key prefix, from;

	key_of_frees(&prefix, q->scope, q->epoch);
	key_of_free_from(&from, q->scope, q->epoch, q->since);
	const char *start = n.after && strcmp(n.after, from.s) > 0 ? n.after : from.s;
	if (lease_db_scan_from(l, (struct store_span){ prefix.s, start }, see_entry, &n, e))
		return -1;
	*found = n.found;
	return 0;
}

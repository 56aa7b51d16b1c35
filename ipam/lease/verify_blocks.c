/* SPDX-License-Identifier: Apache-2.0 */
/* verify_blocks.c: compares the index of blocks with the records that it follows from. */
#include "ipam/lease/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool_blocks.h"
#include "ipam/lease/block_index.h"
#include "ipam/lease/pool_db.h"
#include "lib/base/array.h"

#define ENTRIES_MAX (1u << 24)

static void verify_blocks_report(const struct verify_blocks *v, bool repaired, const char *fmt, ...)
	printf_like(3, 4);
static void verify_blocks_report(const struct verify_blocks *v, bool repaired, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	v->report(v->arg, repaired, text);
}

/* ---- records ---- */

/* A record of a block or a loan, with its pool. */
struct block_check {
	const char *key;
	struct key_address at;
	bool is_loan;
	struct pool_entry pool;
	bool known;     /* the pool */
	struct err why; /* the record is damaged */
};

static void verify_blocks_clear_check(struct block_check *b)
{
	pool_entry_clear(&b->pool);
}

struct held_scan {
	struct ip_range range;
	uint64_t held;
};

static int verify_blocks_count_held(const char *key, const char *value, void *arg)
{
	struct held_scan *s = arg;
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	struct err ignored;

	if (key_parse_address(key, &a) || ip_cmp(a.ip, s->range.last) > 0)
		return 1;
	/* what cannot be read may be in use */
	if (lease_parse(value, key, &rec, &ignored) || rec.state == LEASE_HELD)
		s->held++;
	return 0;
}

/* 1: the error is in a record, which is reported. -1: there is no memory. */
static int note_error(const struct err *why, struct err *e)
{
	if (why->code != ERR_NOMEM)
		return 1;
	return err_pass(e, why);
}

/* The owner of a loan without a record waits for this node, which looks for such loans then. */
static int look_for_loans(struct lease_db *l, struct err *e)
{
	struct node_record n;
	const char *text;
	struct err why;

	if (lease_db_get(l, KEY_NODE, &text, e))
		return -1;
	if (node_value_parse(text, &n, &why))
		return note_error(&why, e) < 0 ? -1 : 0;
	n.strays = true;
	return lease_db_put(l, KEY_NODE, node_value_print(&n), e);
}

/* A damaged record goes only if nothing lives in its block: it may be a granted one. */
static int see_damaged(struct lease_db *l, const struct verify_blocks *v,
		       const struct block_check *b, struct err *e)
{
	struct held_scan s = { .range = { b->at.ip, b->at.ip } };
	struct key prefix, from;

	if (!b->is_loan)
		s.range = pool_block_range(b->pool.source.blocks.bits, b->at.ip);
	key_of_addresses(&prefix, b->at.scope, b->at.ip.family);
	key_of_address(&from, b->at.scope, b->at.ip);
	if (lease_db_scan_from(l, (struct store_span){ prefix.s, from.s }, verify_blocks_count_held,
			       &s, e))
		return -1;
	verify_blocks_report(v, s.held == 0, "%s", b->why.msg);
	if (!v->repair || s.held)
		return 0;
	return lease_db_del(l, b->key, e) || (b->is_loan && look_for_loans(l, e)) ? -1 : 0;
}

/* The pool of a block; not known also if its definition is damaged. */
static int verify_blocks_load_pool(struct lease_db *l, struct block_check *b, struct err *e)
{
	const char *name, *text;
	struct err why;
	struct key k;

	b->is_loan = key_parse_loan(b->key, &b->at) == 0;
	name = b->is_loan || key_parse_block(b->key, &b->at) == 0 ? key_pool_of(b->at.scope) : NULL;
	if (!name)
		return 0;
	key_of_pool(&k, name);
	if (lease_db_get(l, k.s, &text, e))
		return -1;
	if (text && pool_load(name, text, &b->pool.text, &b->pool.source, &why))
		return note_error(&why, e) < 0 ? -1 : 0;
	b->known = text && b->pool.source.blocks.shared;
	return 0;
}

/* 1: the usage of the block is damaged, which is reported elsewhere. */
static int check_usage(struct lease_db *l, const struct block_check *b, struct err *e)
{
	char id[KEY_ID_LEN + 1];
	struct source_usage t;
	const char *text;
	struct err why;
	struct key k;

	key_of_usage(&k, b->at.scope, pool_block_id(b->at.ip, id));
	if (lease_db_get(l, k.s, &text, e))
		return -1;
	return source_usage_parse(text, k.s, &t, &why) ? note_error(&why, e) : 0;
}

/* 0: *place is the block's place in the index; a loan has none. 1: it cannot be said. */
static int verify_blocks_check_block(struct lease_db *l, const struct verify_blocks *v,
				     const char *key, struct key *place, struct err *e)
{
	auto_clean(verify_blocks_clear_check) struct block_check b = { .key = key };
	struct block_record r;
	const char *text;

	if (lease_db_get(l, key, &text, e))
		return -1;
	int bad = block_value_parse(key, text, &r, &b.why) ? note_error(&b.why, e) : 0;
	if (bad < 0 || verify_blocks_load_pool(l, &b, e))
		return -1;
	if (!b.known) {
		verify_blocks_report(v, false, "%s: a %s of a pool that this node does not know",
				     key, b.is_loan ? "loan" : "block");
		return 0;
	}
	if (bad)
		return see_damaged(l, v, &b, e);
	if (b.is_loan)
		return 0;
	if (v->repair && v->cursors && block_cursor_set(l, &b.pool.source, b.at.ip, e))
		return -1;
	int rc = check_usage(l, &b, e);
	return rc ? rc : block_place(l, &b.at, place, e);
}

/* ---- the index ---- */

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct key *)a)->s, ((const struct key *)b)->s);
}

static bool verify_blocks_has_key(const struct keys *k, const struct key *key)
{
	return k->n && bsearch(key, k->items, k->n, sizeof(*key), compare_keys);
}

static int compare_index(struct lease_db *l, const struct verify_blocks *v, const struct keys *want,
			 const struct keys *have, struct err *e)
{
	for (size_t i = 0; i < have->n; i++) {
		if (verify_blocks_has_key(want, &have->items[i]))
			continue;
		verify_blocks_report(v, true, "%s: the block has no place there", have->items[i].s);
		if (v->repair && lease_db_del(l, have->items[i].s, e))
			return -1;
	}
	for (size_t i = 0; i < want->n; i++) {
		if (verify_blocks_has_key(have, &want->items[i]))
			continue;
		verify_blocks_report(v, true, "%s: the entry is missing", want->items[i].s);
		if (v->repair && l->t->store->ops->put(l->t, want->items[i].s, "", e))
			return -1;
	}
	return 0;
}

/* ---- leases ---- */

struct lease_scan {
	struct lease_db *l;
	const struct verify_blocks *v;
	struct err *e;
	bool failed;
};

static int verify_blocks_see_lease(const char *key, const char *value, void *arg)
{
	struct lease_scan *s = arg;
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	const char *text;
	struct err why;
	struct ip start;
	struct key k, loan;

	if (key_parse_address(key, &a) || !key_pool_of(a.scope))
		return 0;
	if (lease_parse(value, key, &rec, &why)) {
		s->failed = note_error(&why, s->e) < 0;
		return s->failed;
	}
	if (rec.state != LEASE_HELD || !pool_block_of(rec.source, a.ip, &start))
		return 0;
	key_of_block(&k, a.scope, start);
	s->failed = lease_db_get(s->l, k.s, &text, s->e) != 0;
	/* Or another node lends it. */
	key_of_loan(&loan, a.scope, a.ip);
	if (!s->failed && !text)
		s->failed = lease_db_get(s->l, loan.s, &text, s->e) != 0;
	if (!s->failed && !text)
		verify_blocks_report(s->v, false, "%s: is leased, and its block has no record %s",
				     key, k.s);
	return s->failed;
}

int verify_blocks(struct lease_db *l, const struct verify_blocks *v, struct err *e)
{
	const struct key blocks = { "b/" }, loans = { "l/" }, index = { "f/" }, leases = { "a/" };
	auto_keys struct keys records = { .n = 0 }, want = { .n = 0 }, have = { .n = 0 };
	struct lease_scan scan = { .l = l, .v = v, .e = e };
	bool unknown = false;

	if (pool_db_keys(l, &blocks, &records, e) || pool_db_keys(l, &loans, &records, e))
		return -1;
	for (size_t i = 0; i < records.n; i++) {
		struct key place = { "" };
		int rc = verify_blocks_check_block(l, v, records.items[i].s, &place, e);

		if (rc < 0)
			return -1;
		unknown = unknown || rc > 0;
		if (rc || !*place.s)
			continue;
		if (ARRAY_GROW(want.items, want.n, ENTRIES_MAX, "blocks", e))
			return -1;
		want.items[want.n++] = place;
	}
	if (want.n)
		qsort(want.items, want.n, sizeof(struct key), compare_keys);
	if (pool_db_keys(l, &index, &have, e) ||
	    (!unknown && compare_index(l, v, &want, &have, e)) ||
	    lease_db_scan(l, &leases, verify_blocks_see_lease, &scan, e))
		return -1;
	return scan.failed ? -1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* address_find.c: the list of pools, and then the blocks with the address, one after the other. */
#include "railheadd/pools/address_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "ipam/block/record.h"
#include "ipam/lease/shared_pool.h"
#include "ipam/conf/pool_blocks.h"

/* A pool whose subnet has the address. */
struct found {
	char pool[GRID_POOL_MAX + 1];
	bool ending, usable;
	struct ip_range block;
};

struct address_find {
	struct ask is;
	struct ip ip;
	struct found found[ADDRESS_FIND_POOLS];
	size_t n, at;                /* at: the block that is read now */
	struct json *answer, *pools; /* answer: owned; pools: a part of it */
};

static void address_find_clear(void *a)
{
	json_free(((struct address_find *)a)->answer);
}

static int address_find_add_ip(struct json *o, const char *key, struct ip ip)
{
	char text[IP_STR_LEN];

	return json_add_str(o, key, ip_format(ip, text));
}

static int address_find_add_loan(struct json *o, const struct loan *l)
{
	struct json *loan = l ? json_add_object(o, "loan") : NULL;

	if (!l)
		return 0;
	return !loan || json_add_str(loan, "node", l->to.node) ||
			       json_add_bool(loan, "taken", l->taken) ||
			       json_add_bool(loan, "returned", l->returned)
		       ? -1
		       : 0;
}

/* b: all 0 if there is no such block. */
static int add_found(struct address_find *f, const struct block *b)
{
	const struct found *s = &f->found[f->at];
	const struct loan *loan = loans_find(b->loans, b->n_loans, f->ip.v - s->block.first.v);
	struct json *o = json_push_object(f->pools);

	return !o || json_add_str(o, "pool", s->pool) || json_add_bool(o, "deleted", s->ending) ||
			       address_find_add_ip(o, "first", s->block.first) ||
			       address_find_add_ip(o, "last", s->block.last) ||
			       json_add_bool(o, "usable", s->usable) ||
			       json_add_or_null(o, "owner", b->owner.node) ||
			       (*b->identity && json_add_str(o, "identity", b->identity)) ||
			       address_find_add_loan(o, loan) ||
			       json_add_or_null(o, "node",
						loan && loan->taken && !loan->returned
							? loan->to.node
							: b->owner.node)
		       ? -1
		       : 0;
}

static void read_block(struct address_find *f);

static void address_find_was_read(void *arg, const struct cluster_result *r)
{
	struct address_find *f = arg;
	struct block b = { .n_loans = 0 };
	struct err e;

	f->is.call = NULL;
	if (r->outcome != CLUSTER_OK && r->outcome != CLUSTER_NOT_FOUND) {
		ask_failed(&f->is, r);
	} else if (r->outcome == CLUSTER_OK &&
		   block_from_json(r->object->value, r->object->name, &b, &e)) {
		ask_finish(&f->is, NULL, &e);
	} else if (add_found(f, &b)) {
		ask_nomem(&f->is);
	} else {
		f->at++;
		read_block(f);
	}
}

static void read_block(struct address_find *f)
{
	struct cluster_store *s = f->is.store;
	char name[GRID_NAME_LEN];

	if (f->at == f->n) {
		ask_finish(&f->is, TAKE_PTR(f->answer), NULL);
		return;
	}
	(void)grid_name(f->found[f->at].pool, f->found[f->at].block.first, name);
	ask_sent(&f->is, s->ops->get(s, CLUSTER_BLOCK, name, address_find_was_read, f));
}

/* ---- the pools ---- */

/* A definition that cannot be read has no blocks, either. */
static void address_find_item(void *arg, const struct cluster_object *o)
{
	const struct shared_pool_def def = { o->name, "-", 0, o->value, NULL };
	struct address_find *f = arg;
	struct shared_pool_view v;
	struct err ignored;
	struct found *s = &f->found[f->n];

	if (f->n == ADDRESS_FIND_POOLS || strlen(o->name) > GRID_POOL_MAX ||
	    shared_pool_decode(&def, &v, &ignored))
		return;
	if (ip_in_prefix(v.source.subnet, f->ip)) {
		*s = (struct found){ .ending = o->ending,
				     .usable = ranges_contain(&v.source.usable, f->ip),
				     .block = pool_block_range(v.source.blocks.bits, f->ip) };
		(void)snprintf(s->pool, sizeof(s->pool), "%s", o->name);
		f->n++;
	}
	shared_pool_view_clear(&v);
}

static void address_find_listed(void *arg, const struct cluster_result *r, const char *revision)
{
	struct address_find *f = arg;

	(void)revision;
	f->is.call = NULL;
	if (r->outcome != CLUSTER_OK)
		ask_failed(&f->is, r);
	else
		read_block(f);
}

static void address_find_due(void *arg)
{
	static const struct cluster_selector pools = { .kind = CLUSTER_POOL };
	static const struct cluster_list_fns fns = { .item = address_find_item,
						     .done = address_find_listed };
	struct address_find *f = arg;

	ask_sent(&f->is, f->is.store->ops->list(f->is.store, &pools, &fns, f));
}

struct ask *address_find(const struct address_find_ask *ask, struct err *e)
{
	struct address_find f = { .is = { .base = ask->base,
					  .store = ask->store,
					  .due = address_find_due,
					  .clear = address_find_clear,
					  .end = ask->end,
					  .about = "address" },
				  .ip = ask->ip };

	if (ask_needs_store(ask->store, e))
		return NULL;
	f.answer = json_new_object();
	if (f.answer && address_find_add_ip(f.answer, "address", ask->ip) == 0 &&
	    json_add_str(f.answer, "here", ask->node) == 0)
		f.pools = json_add_array(f.answer, "pools");
	if (f.pools)
		return ask_new(&f.is, sizeof(f), e);
	json_free(f.answer);
	(void)err_nomem(e);
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* table.c: lists are kept as they come, and sorted once, when the answer is made. */
#include "railheadd/pools/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "ipam/lease/shared_pool.h"
#include "ipam/conf/pool.h"
#include "ipam/conf/pool_blocks.h"
#include "ipam/conf/range_list.h"
#include "lib/base/array.h"

#define COUNT_MAX (UINT64_C(1) << 53) /* a JSON number has no more digits */

void pool_table_clear(struct pool_table *t)
{
	for (size_t i = 0; i < t->n_pools; i++)
		json_free(t->pools[i].definition);
	free(t->pools);
	free(t->blocks);
	ranges_clear(&t->reserved);
	*t = (struct pool_table){ .pools = NULL };
}

static int table_add_pool(struct pool_table *t, const char *name, const struct cluster_object *o,
			  struct err *e)
{
	struct json *definition = o ? json_dup(o->value) : NULL;

	if (o && !definition)
		return err_nomem(e);
	if (ARRAY_GROW(t->pools, t->n_pools, POOL_TABLE_POOLS, "shared pools", e)) {
		json_free(definition);
		return -1;
	}

	struct pool_row *row = &t->pools[t->n_pools++];

	*row = (struct pool_row){ .ending = !o || o->ending, .definition = definition };
	(void)snprintf(row->name, sizeof(row->name), "%s", name);
	return 0;
}

static int table_add_block(struct pool_table *t, const struct cluster_object *o, struct err *e)
{
	struct pool_block b = { .node = "" };
	struct block is;
	struct err ignored;

	if (grid_parse(o->name, IP_V6, b.pool, &b.start) ||
	    block_from_json(o->value, o->name, &is, &ignored) || !*is.owner.node)
		return 0;
	(void)snprintf(b.node, sizeof(b.node), "%s", is.owner.node);
	return ARRAY_PUSH(t->blocks, t->n_blocks, POOL_TABLE_BLOCKS, "blocks", b, e);
}

/* By people, or the addresses of a node. An object that cannot be read reserves nothing. */
static int note_reserved(struct pool_table *t, const struct cluster_object *o, struct err *e)
{
	auto_ranges struct ranges of = { .n = 0 };

	if (strcmp(o->name, CLUSTER_RESERVED_NAME) != 0 && strcmp(o->name, o->node) != 0)
		return 0;
	if (cluster_reserved_decode(o->value, &of, e) || ranges_copy(&of, &t->reserved, e))
		return e->code == ERR_NOMEM ? -1 : 0;
	return 0;
}

int pool_table_object(struct pool_table *t, const struct cluster_object *o, struct err *e)
{
	if (o->kind == CLUSTER_RESERVED)
		return note_reserved(t, o, e);
	if (o->kind == CLUSTER_BLOCK)
		return table_add_block(t, o, e);
	return strlen(o->name) > GRID_POOL_MAX ? 0 : table_add_pool(t, o->name, o, e);
}

/* ---- sort ---- */

static int table_by_name(const void *a, const void *b)
{
	const struct pool_row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_pool_and_node(const void *a, const void *b)
{
	const struct pool_block *x = a, *y = b;
	int order = strcmp(x->pool, y->pool);

	return order ? order : strcmp(x->node, y->node);
}

static void sort_pools(struct pool_table *t)
{
	if (t->n_pools)
		qsort(t->pools, t->n_pools, sizeof(*t->pools), table_by_name);
}

/* A row for each pool that is gone, and has blocks. */
static int table_add_gone(struct pool_table *t, struct err *e)
{
	size_t known = t->n_pools;
	const char *last = "";

	for (size_t i = 0; i < t->n_blocks; i++) {
		const char *name = t->blocks[i].pool;
		struct pool_row key = { .ending = false };

		if (strcmp(name, last) == 0)
			continue;
		last = name;
		memcpy(key.name, name, sizeof(key.name));
		if (known && bsearch(&key, t->pools, known, sizeof(key), table_by_name))
			continue;
		if (table_add_pool(t, name, NULL, e))
			return -1;
	}
	return 0;
}

/* ---- the answer ---- */

struct answer {
	struct json *pools;
	size_t left, more; /* rows of byNode that may still be shown, and those that are left out */
	size_t block;      /* the first block of the next pool: both are in the order of names */
};

/* One pool, and its blocks in the order of nodes. */
struct pool_view {
	const struct pool_row *row;
	const struct pool_block *blocks;
	size_t n;
	bool readable;
	struct shared_pool_view is; /* if it is readable; without the reserved addresses */
	u128 reserved;
};

static int table_reserve(struct pool_view *v, const struct ranges *reserved, struct err *e)
{
	auto_json struct json *list = range_list_print_in(reserved, v->is.source.subnet);
	u128 all = ranges_capacity(&v->is.source.usable);

	if (!list)
		return err_nomem(e);
	if (pool_reserve(&v->is.source, list, e))
		return -1;
	v->reserved = all - ranges_capacity(&v->is.source.usable);
	return 0;
}

/* -1: no memory. */
static int table_look(struct pool_view *v, const struct ranges *reserved)
{
	const struct shared_pool_def def = { v->row->name, "-", 0, v->row->definition, NULL };
	struct err why = { .code = 0 };

	if (!v->row->definition)
		return 0;
	v->readable = shared_pool_decode(&def, &v->is, &why) == 0;
	if (v->readable && table_reserve(v, reserved, &why)) {
		shared_pool_view_clear(&v->is);
		v->readable = false;
	}
	return !v->readable && why.code == ERR_NOMEM ? -1 : 0;
}

static u128 addresses_in(const struct pool_view *v, const struct pool_block *b)
{
	struct ip start = { v->is.source.subnet.addr.family, b->start.v };

	return v->readable ? ranges_capacity_in(&v->is.source.usable,
						pool_block_range(v->is.source.blocks.bits, start))
			   : 0;
}

static int table_add_count(const struct pool_view *v, struct json *o, const char *key, u128 n)
{
	if (!v->readable)
		return 0;
	return json_add_num(o, key, n < COUNT_MAX ? (double)n : (double)COUNT_MAX);
}

static int table_add_node(const struct pool_view *v, struct json *list, const char *node,
			  size_t blocks, u128 own)
{
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "node", node) || json_add_int(o, "blocks", (int64_t)blocks) ||
			       table_add_count(v, o, "inBlocks", own)
		       ? -1
		       : 0;
}

static int table_add_nodes(struct answer *a, const struct pool_view *v, struct json *o)
{
	struct json *list = json_add_array(o, "byNode");
	const struct pool_block *b = v->blocks;
	int64_t nodes = 0;
	u128 all = 0;

	for (size_t i = 0, next; list && i < v->n; i = next) {
		u128 own = 0;

		for (next = i; next < v->n && strcmp(b[next].node, b[i].node) == 0; next++)
			own += addresses_in(v, &b[next]);
		nodes++;
		all += own;
		if (a->left == 0)
			a->more++;
		else if (a->left--, table_add_node(v, list, b[i].node, next - i, own))
			return -1;
	}
	return !list || table_add_count(v, o, "inBlocks", all) ||
			       json_add_int(o, "blocks", (int64_t)v->n) ||
			       json_add_int(o, "nodes", nodes)
		       ? -1
		       : 0;
}

static int add_view(struct answer *a, const struct pool_view *v)
{
	const struct pool_row *row = v->row;
	struct json *o = json_push_object(a->pools);

	if (!o || json_add_str(o, "name", row->name) || json_add_bool(o, "deleted", row->ending) ||
	    (row->definition && json_add_copy(o, "definition", row->definition)))
		return -1;
	if (v->readable &&
	    (table_add_count(v, o, "addresses", ranges_capacity(&v->is.source.usable)) ||
	     table_add_count(v, o, "reserved", v->reserved) ||
	     table_add_count(v, o, "allBlocks", grid_count(&v->is.pool.grid))))
		return -1;
	return table_add_nodes(a, v, o);
}

static int table_add_row(struct answer *a, const struct pool_row *row, const struct pool_table *t)
{
	struct pool_view v = { .row = row, .blocks = t->blocks + a->block };
	int rc;

	while (a->block < t->n_blocks && strcmp(t->blocks[a->block].pool, row->name) == 0) {
		a->block++;
		v.n++;
	}
	if (table_look(&v, &t->reserved))
		return -1;
	rc = add_view(a, &v);
	if (v.readable)
		shared_pool_view_clear(&v.is);
	return rc;
}

struct json *pool_table_json(struct pool_table *t)
{
	auto_json struct json *tree = json_new_object();
	struct answer a = { tree ? json_add_array(tree, "pools") : NULL, POOL_TABLE_SHOWN, 0, 0 };
	struct err e;

	if (t->n_blocks)
		qsort(t->blocks, t->n_blocks, sizeof(*t->blocks), by_pool_and_node);
	sort_pools(t);
	if (!a.pools || table_add_gone(t, &e))
		return NULL;
	sort_pools(t);
	for (size_t i = 0; i < t->n_pools; i++) {
		if (table_add_row(&a, &t->pools[i], t))
			return NULL;
	}
	return json_add_int(tree, "more", (int64_t)a.more) ? NULL : TAKE_PTR(tree);
}

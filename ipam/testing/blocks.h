/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h: the calls of the node agent as calls of one line on a struct fixture. For test programs
 * only.
 */
#ifndef RAILHEAD_IPAM_TESTING_BLOCKS_H
#define RAILHEAD_IPAM_TESTING_BLOCKS_H

#include "ipam/lease/blocks.h"
#include "ipam/lease/shared_pool.h"
#include "ipam/testing/fixture.h"

/* shared_pool_put: 0, or the error's code. */
static inline int w_shared(struct fixture *w, const char *name, const char *uid, const char *def)
{
	auto_json struct json *j = NULL;
	struct shared_pool_def d = { .name = name, .uid = uid, .generation = 1 };

	ck_assert_msg(json_parse(def, strlen(def), "test", &j, &w->e) == 0, "%s: %s", def,
		      w->e.msg);
	d.definition = j;
	return shared_pool_put(&w->m, &d, &w->e) ? (int)w->e.code : 0;
}

static inline struct block_key w_block_key(const char *pool, const char *start)
{
	struct block_key k = { .start = { .family = IP_NONE } };

	ck_assert_int_eq(ip_parse(start, &k.start), 0);
	(void)snprintf(k.pool, sizeof(k.pool), "%s", pool);
	return k;
}

/* What the block lends stays. */
static inline int blocks_put(struct ipam *m, const struct block_record *r, struct err *e)
{
	return blocks_put_loans(m, r, NULL, e);
}

/* A block in a state, confirmed in an epoch: 0, or the error's code. */
static inline int w_block(struct fixture *w, const char *pool, const char *start,
			  enum block_state state, uint64_t epoch)
{
	const struct block_record r = {
		.key = w_block_key(pool, start), .state = state, .token = 7, .epoch = epoch
	};

	return blocks_put(&w->m, &r, &w->e) ? (int)w->e.code : 0;
}

/* The node renewed in this epoch, in the present boot, and may assign until give_until. */
static inline void w_node(struct fixture *w, uint64_t epoch, int64_t give_until)
{
	struct node_record n = { .holder = "holder", .epoch = epoch, .give_until = give_until };

	(void)snprintf(n.boot, sizeof(n.boot), "%s", w->m.boot);
	ck_assert_msg(blocks_put_node(&w->m, &n, &w->e) == 0, "%s", w->e.msg);
}

static inline uint32_t w_used(struct fixture *w, const char *pool, const char *start)
{
	const struct block_key k = w_block_key(pool, start);
	uint32_t n = UINT32_MAX;

	ck_assert_msg(blocks_used(&w->m, &k, &n, &w->e) == 0, "%s", w->e.msg);
	return n;
}

static inline uint64_t w_spare(struct fixture *w, const char *pool)
{
	uint64_t n = UINT64_MAX;

	ck_assert_msg(blocks_spare(&w->m, pool, &n, &w->e) == 0, "%s", w->e.msg);
	return n;
}

static inline int w_drop(struct fixture *w, const char *pool, const char *start)
{
	const struct block_key k = w_block_key(pool, start);

	return blocks_drop(&w->m, &k, &w->e);
}

static inline int w_retire(struct fixture *w, const char *pool, const char *start)
{
	const struct block_key k = w_block_key(pool, start);

	return blocks_retire(&w->m, &k, &w->e);
}

#endif

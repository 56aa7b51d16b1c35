/* SPDX-License-Identifier: Apache-2.0 */
/* dead_node_test.c: what is taken from a node that is said to be off. */
#include "cluster/testing/loop.h"
#include "lib/testing/testing.h"
#include "railheadd/pools/reclaim_priv.h"
#include "railheadd/testing/memory_store.h"

#define OF_N2 "rail0-0000000000000000000000000a010000"
#define OF_N3 "rail0-0000000000000000000000000a010008"
#define HOLD  100

static const struct cluster_version none;
static int64_t since_boot;

static int64_t boottime(void *clock)
{
	(void)clock;
	return since_boot;
}

/* n2 lends an address to n3. */
static void put_loan(struct memory_store *m)
{
	memory_store_put(m, CLUSTER_BLOCK, OF_N2, "n2",
			 "{\"node\":\"n2\",\"token\":\"1111111111111111+\",\"loans\":[{\"at\":1,"
			 "\"node\":\"n3\",\"token\":\"2222222222222222\",\"taken\":true}]}");
}

static bool has(struct memory_store *m, const char *block, const char *part)
{
	auto_free char *text = memory_store_text(m, CLUSTER_BLOCK, block);

	return text && strstr(text, part) != NULL;
}

static void look(struct event_base *base, struct dead_node *d)
{
	since_boot += HOLD;
	dead_node_look(d);
	loop_turn(base);
}

static void look_for_long(struct event_base *base, struct dead_node *d)
{
	for (unsigned i = 0; i < 20; i++)
		look(base, d);
}

/* A store that was restored shows again what was taken. */
START_TEST(loans_that_a_dead_node_has_again_are_returned_again)
{
	struct event_base *base = loop_new();
	struct memory_store *m = memory_store_new(base);
	struct ctx ctx;
	struct reclaim_conf conf = {
		.ctx = &ctx, .base = base, .store = memory_store_ops(m), .node = "n1", .hold = HOLD
	};
	struct dead_node *d;

	ctx_init(&ctx, "test");
	ctx.boottime = boottime;
	d = dead_node_new(&conf, "n3", &none);
	ck_assert_ptr_nonnull(d);
	put_loan(m);
	look_for_long(base, d);
	ck_assert(has(m, OF_N2, "returned"));
	ck_assert(d->reported);
	put_loan(m);
	memory_store_put(m, CLUSTER_BLOCK, OF_N3, "n3",
			 "{\"node\":\"n3\",\"token\":\"3333333333333333\"}");
	look_for_long(base, d);
	ck_assert(!has(m, OF_N3, "node"));
	ck_assert(has(m, OF_N2, "returned"));
	dead_node_free(d);
	conf.store->ops->close(conf.store);
	loop_free(base);
}
END_TEST

/*
 * The store had forgotten the loan, and its owner was away. It comes back when all is taken, and
 * writes the loan again. Lists of the whole pool are rare, and never end.
 */
START_TEST(a_loan_that_its_owner_writes_late_is_returned)
{
	struct event_base *base = loop_new();
	struct memory_store *m = memory_store_new(base);
	struct ctx ctx;
	struct reclaim_conf conf = {
		.ctx = &ctx, .base = base, .store = memory_store_ops(m), .node = "n1", .hold = HOLD
	};
	struct dead_node *d;
	unsigned lists = 0;

	ctx_init(&ctx, "test");
	ctx.boottime = boottime;
	d = dead_node_new(&conf, "n3", &none);
	ck_assert_ptr_nonnull(d);
	look_for_long(base, d);
	ck_assert(d->reported);
	for (unsigned i = 0; i < 1000; i++) {
		look(base, d);
		lists += !d->which.node;
	}
	ck_assert_uint_ge(lists, 3);
	ck_assert_uint_le(lists, 8);
	put_loan(m);
	for (unsigned i = 0; i < 2000 && !has(m, OF_N2, "returned"); i++)
		look(base, d);
	ck_assert(has(m, OF_N2, "returned"));
	dead_node_free(d);
	conf.store->ops->close(conf.store);
	loop_free(base);
}
END_TEST

TEST_PROGRAM("dead_node", loans_that_a_dead_node_has_again_are_returned_again,
	     a_loan_that_its_owner_writes_late_is_returned)

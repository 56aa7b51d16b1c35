/* SPDX-License-Identifier: Apache-2.0 */
/* block_take_test.c: one block of a node that is off, and nothing of one that lives. */
#include "cluster/testing/loop.h"
#include "lib/testing/testing.h"
#include "railheadd/pools/block_take.h"
#include "railheadd/testing/memory_store.h"

#define FIRST  "rail0-0000000000000000000000000a010000"
#define SECOND "rail0-0000000000000000000000000a010008"
#define HOLD   (100 * INT64_C(1000000))
#define BEAT   "{\"holder\":\"h\",\"boot\":\"b\",\"count\":1}"

static struct event_base *base;
static struct memory_store *m;
static struct ctx ctx;
static struct reclaim_conf conf;

struct end {
	bool done;
	struct err why; /* code 0: taken */
};

static void ended(void *arg, const struct err *why)
{
	struct end *end = arg;

	end->done = true;
	end->why = why ? *why : (struct err){ .code = 0 };
}

static bool has_ended(const void *arg)
{
	return ((const struct end *)arg)->done;
}

static void begin(void)
{
	base = loop_new();
	m = memory_store_new(base);
	ctx_init(&ctx, "test");
	conf = (struct reclaim_conf){ .ctx = &ctx,
				      .base = base,
				      .store = memory_store_ops(m),
				      .node = "n1",
				      .hold = HOLD,
				      .look = HOLD / 10 };
	memory_store_put(m, CLUSTER_BLOCK, FIRST, "n2",
			 "{\"node\":\"n2\",\"holder\":\"h\",\"token\":\"1111111111111111\"}");
	memory_store_put(m, CLUSTER_BLOCK, SECOND, "n2",
			 "{\"node\":\"n2\",\"holder\":\"h\",\"token\":\"2222222222222222\"}");
	memory_store_put(m, CLUSTER_HEARTBEAT, "n2", "n2", BEAT);
}

static void finish(void)
{
	conf.store->ops->close(conf.store);
	loop_free(base);
}

static struct block_take *start(const char *node, const char *block, struct end *end)
{
	const struct block_take_end to = { ended, end };
	struct block_take *t;
	struct err e;

	*end = (struct end){ .done = false };
	t = block_take_begin(&conf, node, block, &to, &e);
	ck_assert_msg(t != NULL, "%s", e.msg);
	return t;
}

static int take(const char *node, const char *block, struct end *end)
{
	(void)start(node, block, end);
	loop_until(base, has_ended, end);
	return (int)end->why.code;
}

static bool says(const char *block, const char *part)
{
	auto_free char *text = memory_store_text(m, CLUSTER_BLOCK, block);

	return text && strstr(text, part);
}

START_TEST(one_block_is_taken_and_the_others_stay)
{
	struct end end;
	int64_t from;

	begin();
	from = ctx_since_boot(&ctx);
	ck_assert_int_eq(take("n2", FIRST, &end), 0);
	ck_assert(ctx_since_boot(&ctx) - from >= HOLD);
	ck_assert(!says(FIRST, "\"node\"") && says(FIRST, "\"probe\":true"));
	ck_assert(says(SECOND, "\"node\":\"n2\""));
	finish();
}
END_TEST

/* Its heartbeat moves once, just before the time is over. */
START_TEST(a_node_that_lives_keeps_its_block)
{
	struct end end;
	int64_t from;

	begin();
	(void)start("n2", FIRST, &end);
	from = ctx_since_boot(&ctx);
	while (ctx_since_boot(&ctx) - from < HOLD / 2)
		loop_turn(base);
	ck_assert(!end.done);
	memory_store_put(m, CLUSTER_HEARTBEAT, "n2", "n2", BEAT);
	loop_until(base, has_ended, &end);
	ck_assert_int_eq(end.why.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(end.why.msg, "node n2 is alive: its heartbeat moves"));
	ck_assert(says(FIRST, "\"node\":\"n2\""));
	finish();
}
END_TEST

START_TEST(a_wrong_name_is_refused_at_once)
{
	const struct block_take_end to = { ended, NULL };
	struct end end;
	struct err e;

	begin();
	ck_assert_int_eq(take("n3", FIRST, &end), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(end.why.msg, "is of node n2, not of node n3"));
	ck_assert_int_eq(take("n2", "rail0-0000000000000000000000000a010010", &end), ERR_NOTFOUND);
	ck_assert_ptr_null(block_take_begin(&conf, "n1", FIRST, &to, &e));
	ck_assert_ptr_nonnull(strstr(e.msg, "is this node"));
	ck_assert(says(FIRST, "\"node\":\"n2\""));
	finish();
}
END_TEST

/* A store that was away may have been restored. */
START_TEST(a_store_that_is_away_ends_it)
{
	struct end end;

	begin();
	memory_store_fail(m, CLUSTER_AWAY, 1);
	ck_assert_int_eq(take("n2", FIRST, &end), ERR_AGAIN);
	block_take_cancel(start("n2", FIRST, &end));
	loop_turn(base);
	ck_assert(!end.done && says(FIRST, "\"node\":\"n2\""));
	finish();
}
END_TEST

TEST_PROGRAM("block_take", one_block_is_taken_and_the_others_stay,
	     a_node_that_lives_keeps_its_block, a_wrong_name_is_refused_at_once,
	     a_store_that_is_away_ends_it)

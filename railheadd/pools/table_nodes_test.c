/* SPDX-License-Identifier: Apache-2.0 */
/* table_nodes_test.c: which nodes have taken over a pool. */
#include "railheadd/pools/table_nodes.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define S INT64_C(1000000000)

static struct pool_asked rail0 = { .name = "rail0", .uid = "u1", .generation = 3 };

static struct node_row row(const char *uid, int64_t generation, const char *waits)
{
	struct node_row r = { .name = "n1", .beats = true, .silent = 2 * S };

	(void)snprintf(r.pool.name, sizeof(r.pool.name), "rail0");
	(void)snprintf(r.pool.uid, sizeof(r.pool.uid), "%s", uid);
	(void)snprintf(r.pool.waits, sizeof(r.pool.waits), "%s", waits);
	r.pool.generation = generation;
	return r;
}

static enum pool_node state(struct node_row r)
{
	return pool_node_of(&rail0, &r, 10 * S);
}

START_TEST(done_is_this_generation_of_this_pool)
{
	struct node_row r = row("u1", 3, "");

	ck_assert_int_eq(state(r), POOL_NODE_DONE);
	ck_assert_int_eq(state(row("u1", 2, "")), POOL_NODE_WAITS);
	/* Of a store that was restored. */
	ck_assert_int_eq(state(row("u1", 4, "")), POOL_NODE_WAITS);
	ck_assert_int_eq(state(row("u0", 3, "")), POOL_NODE_WAITS);
	ck_assert_int_eq(state(row("u1", 3, "block")), POOL_NODE_WAITS);
	r.pool.name[0] = '\0';
	ck_assert_int_eq(state(r), POOL_NODE_WAITS);
}
END_TEST

START_TEST(a_silent_node_is_named_as_one)
{
	struct node_row r = row("u1", 2, "");

	r.silent = 10 * S;
	ck_assert_int_eq(state(r), POOL_NODE_SILENT);
	r.silent = 0;
	r.beats = false;
	ck_assert_int_eq(state(r), POOL_NODE_SILENT);
	/* What it reported stays true: it has said so, and cannot forget it. */
	r.pool.generation = 3;
	ck_assert_int_eq(state(r), POOL_NODE_DONE);
	r.pool.generation = 2;
	r.described = r.is.forgotten = true;
	ck_assert_int_eq(state(r), POOL_NODE_FORGOTTEN);
	(void)snprintf(r.watch.at.version, sizeof(r.watch.at.version), "later");
	ck_assert_int_eq(state(r), POOL_NODE_SILENT);
}
END_TEST

static struct json *two_nodes(void)
{
	struct node_row rows[] = { row("u1", 3, ""), row("u1", 2, "it overlaps") };
	const struct node_table t = { rows, 2 };

	(void)snprintf(rows[1].name, sizeof(rows[1].name), "n2");
	return pool_nodes_json(&rail0, &t, 10 * S);
}

START_TEST(who_waits_comes_first)
{
	auto_json struct json *definition = json_new_object(), *answer = NULL;

	rail0.definition = definition;
	answer = two_nodes();
	auto_free char *text = json_print(answer, false);

	ck_assert_str_eq(text, "{\"name\":\"rail0\",\"uid\":\"u1\",\"generation\":3,"
			       "\"definition\":{},\"nodes\":["
			       "{\"name\":\"n2\",\"state\":\"waits\",\"generation\":2,"
			       "\"why\":\"it overlaps\",\"heartbeatSeconds\":2},"
			       "{\"name\":\"n1\",\"state\":\"done\",\"generation\":3,"
			       "\"heartbeatSeconds\":2}],"
			       "\"done\":1,\"waits\":1,\"silent\":0,\"forgotten\":0,"
			       "\"more\":0}");
}
END_TEST

static int print(void *arg, struct err *e)
{
	auto_json struct json *answer = two_nodes();

	(void)arg;
	return answer ? 0 : err_nomem(e);
}

START_TEST(memory_fails)
{
	auto_json struct json *definition = json_new_object();

	rail0.definition = definition;
	ck_assert_str_eq(alloc_fail_each(print, NULL), "ok");
}
END_TEST

TEST_PROGRAM("pool_nodes", done_is_this_generation_of_this_pool, a_silent_node_is_named_as_one,
	     who_waits_comes_first, memory_fails)

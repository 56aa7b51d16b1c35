/* SPDX-License-Identifier: Apache-2.0 */
/* nodes_test.c: questions about the nodes of a cluster store in memory. */
#include "railheadd/pools/nodes.h"

#include <event2/event.h>
#include <stdio.h>

#include "cluster/testing/loop.h"
#include "ipam/block/object_json.h"
#include "lib/testing/testing.h"
#include "railheadd/testing/memory_store.h"

static struct event_base *base;
static struct memory_store *store;
static struct nodes *n;
static struct ctx ctx;
static int64_t clock_ns;

/* How a question ended: names with the seconds of their heartbeats and their blocks. */
struct asked {
	bool done;
	char text[512];
	struct err why;
};

static int64_t now(void *clock)
{
	return *(const int64_t *)clock;
}

static void begin(bool has_store)
{
	struct nodes_conf conf = { .ctx = &ctx, .node = "n1" };
	struct err e;

	ctx_init(&ctx, "test");
	ctx.clock = &clock_ns;
	ctx.boottime = now;
	base = loop_new();
	store = memory_store_new(base);
	conf.base = base;
	conf.store = has_store ? memory_store_ops(store) : NULL;
	ck_assert_int_eq(nodes_new(&conf, &n, &e), 0);
}

static void end(void)
{
	nodes_free(n);
	memory_store_ops(store)->ops->close(memory_store_ops(store));
	loop_free(base);
}

static void done(void *arg, const struct json *answer, const struct err *why)
{
	struct asked *a = arg;
	char text[128];

	ck_assert(!a->done && !answer == (why != NULL));
	a->done = true;
	if (why)
		a->why = *why;
	json_each (o, json_get(answer, "nodes")) {
		const struct json *beat = json_get(o, "heartbeat");

		(void)snprintf(text, sizeof(text), "%s %.0f %.0f ", json_str(json_get(o, "name")),
			       json_len(beat) ? json_num(json_get(beat, "seconds")) : -1,
			       json_num(json_get(o, "blocks")));
		testing_append(a->text, sizeof(a->text), text);
	}
}

static void done_states(void *arg, const struct json *answer, const struct err *why)
{
	struct asked *a = arg;
	char text[128];

	ck_assert_msg(!why, "%s", why ? why->msg : "");
	a->done = true;
	json_each (o, json_get(answer, "nodes")) {
		(void)snprintf(text, sizeof(text), "%s %s ", json_str(json_get(o, "name")),
			       json_str(json_get(o, "state")));
		testing_append(a->text, sizeof(a->text), text);
	}
}

static struct ask *ask(struct asked *a)
{
	const struct ask_end how = { done, a };
	struct err e;

	*a = (struct asked){ .done = false };
	return nodes_ask(n, &how, &e);
}

static struct ask *ask_pool(const char *pool, struct asked *a)
{
	const struct ask_end how = { done, a };

	*a = (struct asked){ .done = false };
	return nodes_ask_pool(n, pool, &how, &a->why);
}

static bool is_done(const void *arg)
{
	return ((const struct asked *)arg)->done;
}

static void answers(const char *want)
{
	struct asked a;

	ck_assert_ptr_nonnull(ask(&a));
	loop_until(base, is_done, &a);
	ck_assert_str_eq(a.text, want);
}

static void objects(void)
{
	memory_store_put(store, CLUSTER_NODE, "n1", "n1", "{}");
	memory_store_put(store, CLUSTER_NODE, "n2", "n2", "{}");
	memory_store_put(store, CLUSTER_HEARTBEAT, "n1", "n1", "{\"count\":1}");
	memory_store_put(store, CLUSTER_HEARTBEAT, "n2", "n2", "{\"count\":1}");
	memory_store_put(store, CLUSTER_BLOCK, "p-00", "n2", "{}");
	memory_store_put(store, CLUSTER_BLOCK, "p-01", "", "{}");
}

START_TEST(a_node_whose_heartbeat_does_not_move)
{
	begin(true);
	objects();
	answers("n1 0 0 n2 0 1 ");
	clock_ns += INT64_C(130000000000);
	memory_store_put(store, CLUSTER_HEARTBEAT, "n1", "n1", "{\"count\":2}");
	answers("n1 0 0 n2 130 1 ");
	memory_store_delete(store, CLUSTER_HEARTBEAT, "n2");
	answers("n1 0 0 n2 -1 1 ");
	end();
}
END_TEST

START_TEST(two_questions_at_a_time)
{
	struct asked a, b;

	begin(true);
	objects();
	ck_assert(ask(&a) && ask(&b));
	loop_until(base, is_done, &a);
	loop_until(base, is_done, &b);
	ck_assert_str_eq(a.text, b.text);
	end();
}
END_TEST

START_TEST(a_store_that_is_away_or_refuses)
{
	struct asked a;

	begin(true);
	objects();
	memory_store_fail(store, CLUSTER_AWAY, 1);
	ck_assert_ptr_nonnull(ask(&a));
	loop_until(base, is_done, &a);
	ck_assert_int_eq(a.why.code, ERR_AGAIN);
	memory_store_fail(store, CLUSTER_REFUSED, 1);
	ck_assert_ptr_nonnull(ask(&a));
	loop_until(base, is_done, &a);
	ck_assert_int_eq(a.why.code, ERR_FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(a.why.msg, "nodes: "));
	answers("n1 0 0 n2 0 1 ");
	end();
}
END_TEST

START_TEST(questions_that_are_cancelled)
{
	struct asked a, b, c;

	begin(true);
	objects();
	memory_store_hold(store, true);
	struct ask *first = ask(&a), *second = ask(&b);

	loop_turn(base);
	ask_cancel(first);
	ck_assert_ptr_nonnull(ask(&c));
	ask_cancel(second);
	end();
	ck_assert(!a.done && !b.done && !c.done);
}
END_TEST

START_TEST(without_a_store)
{
	struct asked a;
	const struct ask_end how = { done, &a };
	struct err e;

	begin(false);
	ck_assert_ptr_null(nodes_ask(n, &how, &e));
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.detail, "agent.json"));
	end();
}
END_TEST

START_TEST(which_nodes_have_taken_a_pool_over)
{
	struct asked a;

	begin(true);
	objects();
	memory_store_put(store, CLUSTER_POOL, "rail00", "", "{}");
	ck_assert_ptr_nonnull(ask_pool("rail0", &a));
	loop_until(base, is_done, &a);
	ck_assert_int_eq(a.why.code, ERR_NOTFOUND);
	memory_store_put(store, CLUSTER_POOL, "rail0", "", "{}");
	ck_assert_ptr_nonnull(ask_pool("rail0", &a));
	loop_until(base, is_done, &a);
	/* Neither has reported anything. */
	ck_assert_str_eq(a.text, "n1 -1 0 n2 -1 0 ");
	ck_assert_ptr_null(ask_pool("a-name-that-no-shared-pool-can-have", &a));
	ck_assert_int_eq(a.why.code, ERR_CONFIG);
	end();
}
END_TEST

static void says_of_rail1(const char *node, uint64_t elsewhere, const char *pools)
{
	auto_json struct json *value = NULL;
	auto_free char *text = NULL;
	struct err e;

	ck_assert_int_eq(json_parse(pools, strlen(pools), "value", &value, &e), 0);
	ck_assert_int_eq(node_elsewhere_put(value, elsewhere), 0);
	text = json_print(value, false);
	memory_store_put(store, CLUSTER_NODE, node, node, text);
}

/* Nodes do not name pools that are for other nodes. */
START_TEST(which_nodes_have_taken_over_a_pool_for_others)
{
	static const char rail0[] = "{\"pools\":[{\"name\":\"rail0\",\"uid\":\"uid-1\","
				    "\"generation\":1}]}";
	struct asked a = { .done = false };
	const struct ask_end how = { done_states, &a };
	uint64_t one = node_pool_mark("uid-2", 1), two = node_pool_mark("uid-3", 1);

	begin(true);
	memory_store_put(store, CLUSTER_POOL, "rail0", "", "{}");
	memory_store_put(store, CLUSTER_POOL, "rail2", "", "{}");
	memory_store_put(store, CLUSTER_POOL, "rail1", "", "{}");
	says_of_rail1("n1", one + two, rail0);
	says_of_rail1("n2", one, rail0);
	says_of_rail1("n3", 0, rail0);
	says_of_rail1("n4", node_pool_mark("uid-1", 1) + one + two, "{}");
	says_of_rail1("n5", one,
		      "{\"pools\":[{\"name\":\"rail0\"},{\"name\":\"rail1\",\"uid\":7},"
		      "{\"name\":\"gone\"},7]}");
	ck_assert_ptr_nonnull(nodes_ask_pool(n, "rail1", &how, &a.why));
	loop_until(base, is_done, &a);
	ck_assert_str_eq(a.text, "n2 silent n3 silent n5 silent n1 done n4 done ");
	end();
}
END_TEST

START_TEST(which_nodes_have_taken_reserved_addresses_over)
{
	struct asked a = { .done = false };
	const struct ask_end how = { done_states, &a };

	begin(true);
	objects();
	memory_store_put(store, CLUSTER_NODE, "n2", "n2",
			 "{\"reserved\":{\"name\":\"cluster\",\"uid\":\"\"}}");
	ck_assert_ptr_nonnull(nodes_ask_reserved(n, &how, &a.why));
	loop_until(base, is_done, &a);
	ck_assert_str_eq(a.text, "n1 silent n2 done ");
	a = (struct asked){ .done = false };
	memory_store_put(store, CLUSTER_RESERVED, "cluster", "", "{}");
	ck_assert_ptr_nonnull(nodes_ask_reserved(n, &how, &a.why));
	loop_until(base, is_done, &a);
	ck_assert_str_eq(a.text, "n1 silent n2 silent ");
	end();
}
END_TEST

static void done_rails(void *arg, const struct json *answer, const struct err *why)
{
	struct asked *a = arg;
	auto_free char *text = json_print(answer, false);

	ck_assert_msg(!why, "%s", why ? why->msg : "");
	a->done = true;
	testing_append(a->text, sizeof(a->text), text);
}

static void done_many(void *arg, const struct json *answer, const struct err *why)
{
	struct asked *a = arg;

	ck_assert_msg(!why, "%s", why ? why->msg : "");
	a->done = true;
	(void)snprintf(a->text, sizeof(a->text), "%zu nodes, %.0f more, from %s",
		       json_len(json_get(answer, "nodes")), json_num(json_get(answer, "more")),
		       json_text(answer, "from"));
}

static void rails_behind(const char *after, const char *answer)
{
	struct asked a = { .done = false };
	const struct ask_end how = { done_rails, &a };

	ck_assert_ptr_nonnull(nodes_ask_rails(n, after, "", &how, &a.why));
	loop_until(base, is_done, &a);
	ck_assert_str_eq(a.text, answer);
}

START_TEST(how_the_rails_of_nodes_are_cabled)
{
	begin(true);
	memory_store_put(store, CLUSTER_NODE, "n1", "n1", "{\"rails\":[{\"rail\":0}]}");
	memory_store_put(store, CLUSTER_NODE, "n2", "n2", "{}");
	rails_behind("", "{\"more\":0,\"nodes\":[{\"name\":\"n1\",\"rails\":[{\"rail\":0}]},"
			 "{\"name\":\"n2\"}]}");
	rails_behind("n1", "{\"more\":0,\"nodes\":[{\"name\":\"n2\"}]}");
	end();
}
END_TEST

/* More than an answer has room for: the next question goes on behind the last one, in the page that
 * has it. */
START_TEST(rails_of_many_nodes)
{
	enum { NODES = 10, BYTES = 100000 };
	static char text[BYTES + 32];
	struct asked a = { .done = false };

	begin(true);
	memset(text, 'x', sizeof(text));
	memcpy(text, "{\"rails\":[\"", 11);
	(void)snprintf(text + BYTES, sizeof(text) - BYTES, "\"]}");
	for (int i = 0; i < NODES; i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "n%d", i);
		memory_store_put(store, CLUSTER_NODE, name, name, text);
	}
	const struct ask_end how = { done_many, &a };

	ck_assert_ptr_nonnull(nodes_ask_rails(n, "", "", &how, &a.why));
	loop_until(base, is_done, &a);
	ck_assert_str_eq(a.text, "7 nodes, 2 more, from 6");
	a = (struct asked){ .done = false };
	ck_assert_ptr_nonnull(nodes_ask_rails(n, "n6", "6", &how, &a.why));
	loop_until(base, is_done, &a);
	ck_assert_str_eq(a.text, "3 nodes, 0 more, from ");
	end();
}
END_TEST

TEST_PROGRAM("railheadd/pools/nodes", how_the_rails_of_nodes_are_cabled, rails_of_many_nodes,
	     which_nodes_have_taken_over_a_pool_for_others,
	     which_nodes_have_taken_reserved_addresses_over, which_nodes_have_taken_a_pool_over,
	     a_node_whose_heartbeat_does_not_move, two_questions_at_a_time,
	     a_store_that_is_away_or_refuses, questions_that_are_cancelled, without_a_store)

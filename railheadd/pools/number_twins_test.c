/* SPDX-License-Identifier: Apache-2.0 */
/* number_twins_test.c: nodes of a cluster store in memory that have the number of this one. */
#include "railheadd/pools/number_twins.h"

#include <event2/event.h>
#include <stdio.h>

#include "cluster/testing/loop.h"
#include "lib/testing/testing.h"
#include "railheadd/testing/memory_store.h"

static struct event_base *base;
static struct memory_store *store;
static struct number_twins *t;
static struct ctx ctx;

/* No pause is longer than it must be. */
static uint64_t no_random(void *arg)
{
	(void)arg;
	return 0;
}

static void begin(void)
{
	struct number_twins_conf conf = {
		.ctx = &ctx, .node = "n1", .soon = 10000000, .random = no_random
	};
	struct err e;

	ctx_init(&ctx, "test");
	base = loop_new();
	store = memory_store_new(base);
	conf.base = base;
	conf.store = memory_store_ops(store);
	ck_assert_int_eq(number_twins_new(&conf, &t, &e), 0);
}

static void end(void)
{
	number_twins_free(t);
	memory_store_ops(store)->ops->close(memory_store_ops(store));
	loop_free(base);
}

static void node(const char *name, const char *value)
{
	memory_store_put(store, CLUSTER_NODE, name, name, value);
}

/* "NUMBER: NODE NODE" */
static bool twins_are(const void *arg)
{
	const struct number_twin *twins;
	char text[256];
	int64_t number;
	size_t n = number_twins_list(t, &twins, &number);

	(void)snprintf(text, sizeof(text), "%lld:", (long long)number);
	for (size_t i = 0; i < n; i++) {
		testing_append(text, sizeof(text), " ");
		testing_append(text, sizeof(text), twins[i].node);
		ck_assert_int_gt(twins[i].since, 0);
	}
	return strcmp(text, arg) == 0;
}

static bool lists_are(const void *arg)
{
	struct memory_counts c = memory_store_counts(store);

	return c.lists == *(const unsigned *)arg && c.running == 0;
}

START_TEST(nodes_with_the_number_of_this_one_are_found)
{
	begin();
	node("n1", "{\"number\":7}");
	node("n2", "{\"number\":7}");
	node("n3", "{\"number\":8}");
	node("n4", "{\"number\":\"7\"}");
	node("n5", "{}");
	node("n6", "{\"number\":7.0,\"holder\":\"h\"}");
	number_twins_written(t, 7);
	loop_until(base, twins_are, "7: n2 n6");
	end();
}
END_TEST

START_TEST(a_new_number_is_looked_for_at_once)
{
	const unsigned one = 1, two = 2;

	begin();
	node("n2", "{\"number\":7}");
	number_twins_written(t, 7);
	loop_until(base, twins_are, "7: n2");
	number_twins_written(t, 7);
	loop_until(base, lists_are, &one);
	number_twins_written(t, 8);
	ck_assert(twins_are("8:"));
	loop_until(base, lists_are, &two);
	ck_assert(twins_are("8:"));
	number_twins_written(t, 7);
	loop_until(base, twins_are, "7: n2");
	end();
}
END_TEST

START_TEST(without_a_number_nothing_is_listed)
{
	const unsigned none = 0;

	begin();
	node("n2", "{}");
	number_twins_written(t, -1);
	number_twins_written(t, 7);
	number_twins_written(t, -1);
	ck_assert_int_eq(event_base_loop(base, EVLOOP_NONBLOCK), 1);
	ck_assert(lists_are(&none));
	ck_assert(twins_are("-1:"));
	end();
}
END_TEST

/* A correction on the other node is seen without a restart here. */
START_TEST(a_twin_is_looked_at_again)
{
	begin();
	node("n2", "{\"number\":7}");
	number_twins_written(t, 7);
	loop_until(base, twins_are, "7: n2");
	node("n2", "{\"number\":8}");
	loop_until(base, twins_are, "7:");
	end();
}
END_TEST

START_TEST(a_list_that_fails_is_repeated)
{
	begin();
	node("n2", "{\"number\":7}");
	memory_store_fail(store, CLUSTER_AWAY, 1);
	number_twins_written(t, 7);
	loop_until(base, twins_are, "7: n2");
	end();
}
END_TEST

START_TEST(more_twins_than_are_named)
{
	char name[16];

	begin();
	for (int i = 10; i < 30; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		node(name, "{\"number\":0}");
	}
	number_twins_written(t, 0);
	loop_until(base, twins_are, "0: n10 n11 n12 n13 n14 n15 n16 n17");
	end();
}
END_TEST

START_TEST(numbers_in_the_value_of_a_node)
{
	static const char *const none[] = { "{}", "{\"number\":-1}", "{\"number\":4294967296}",
					    "{\"number\":\"1\"}", "{\"number\":null}" };
	auto_json struct json *value = json_new_object();
	struct err e;

	ck_assert_int_eq(node_number_put(value, -1), 0);
	ck_assert_int_eq(node_number_of(value), -1);
	ck_assert_int_eq(node_number_put(value, 4294967295), 0);
	ck_assert_int_eq(node_number_of(value), 4294967295);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		auto_json struct json *tree = NULL;

		ck_assert_int_eq(json_parse(none[i], strlen(none[i]), "value", &tree, &e), 0);
		ck_assert_int_eq(node_number_of(tree), -1);
	}
}
END_TEST

TEST_PROGRAM("number_twins", nodes_with_the_number_of_this_one_are_found,
	     a_new_number_is_looked_for_at_once, without_a_number_nothing_is_listed,
	     a_twin_is_looked_at_again, a_list_that_fails_is_repeated, more_twins_than_are_named,
	     numbers_in_the_value_of_a_node)

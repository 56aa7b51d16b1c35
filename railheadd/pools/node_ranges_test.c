/* SPDX-License-Identifier: Apache-2.0 */
/* node_ranges_test.c: the addresses of many nodes, in whatever order they come. */
#include "railheadd/pools/node_ranges.h"

#include <stdio.h>

#include "lib/testing/testing.h"

#define NODES 1024
#define RAILS 8

static int see(struct node_ranges *t, unsigned node, const char *value)
{
	auto_json struct json *v = NULL;
	struct cluster_object o = { .kind = CLUSTER_RESERVED };
	struct err e;

	ck_assert_int_eq(json_parse(value, strlen(value), "v", &v, &e), 0);
	o.value = v;
	(void)snprintf(o.name, sizeof(o.name), "n%u", node);
	return node_ranges_see(t, &o, &e);
}

static size_t add_up(const struct node_ranges *t, const struct ranges *own, struct ranges *all)
{
	size_t left = 99;
	struct err e;

	ck_assert_int_eq(node_ranges_add(t, own, all, &left, &e), 0);
	return left;
}

static struct ip ip_of(const char *text)
{
	struct ip ip;

	ck_assert_int_eq(ip_parse(text, &ip), 0);
	return ip;
}

START_TEST(addresses_of_many_nodes_are_few_ranges)
{
	struct node_ranges t = { .n = 0 };
	auto_ranges struct ranges all = { .n = 0 }, own = { .n = 0 };

	for (unsigned i = 0; i < NODES; i++) {
		const unsigned node = i * 389 % NODES;
		char value[512] = "{\"ranges\":[";

		for (unsigned rail = 0; rail < RAILS; rail++) {
			char text[32];

			(void)snprintf(text, sizeof(text), "%s\"10.%u.%u.%u\"", rail ? "," : "",
				       rail, node / 256, node % 256);
			testing_append(value, sizeof(value), text);
		}
		testing_append(value, sizeof(value), "]}");
		ck_assert_int_eq(see(&t, node, value), 0);
	}
	ck_assert_uint_eq(add_up(&t, &own, &all), 0);
	ck_assert_uint_eq(all.n, RAILS);
	ck_assert(ranges_capacity(&all) == NODES * RAILS);
	node_ranges_clear(&t);
}
END_TEST

/* Each has another one of these as its own. */
static void fill(struct node_ranges *t, unsigned step, struct ranges *all, const char *own)
{
	auto_ranges struct ranges of = { .n = 0 };
	struct err e;

	for (unsigned i = 0; i < NODES; i++) {
		const unsigned node = i * step % NODES;
		char value[64];

		(void)snprintf(value, sizeof(value), "{\"ranges\":[\"10.1.%u.%u\"]}", node / 128,
			       node % 128 * 2);
		ck_assert_int_eq(see(t, node, value), 0);
	}
	ck_assert_int_eq(ranges_add(&of, (struct ip_range){ ip_of(own), ip_of(own) }, &e), 0);
	ck_assert_uint_eq(add_up(t, &of, all), NODES - NODE_RANGES_ALL - 1);
	ck_assert(ranges_contain(all, ip_of(own)));
	ck_assert_int_eq(ranges_remove(all, (struct ip_range){ ip_of(own), ip_of(own) }, &e), 0);
	node_ranges_clear(t);
}

START_TEST(beyond_the_limit_all_nodes_leave_out_the_same)
{
	struct node_ranges t = { .n = 0 };
	auto_ranges struct ranges a = { .n = 0 }, other = { .n = 0 };

	fill(&t, 1, &a, "10.1.7.254");
	fill(&t, 389, &other, "10.1.7.252");
	ck_assert_uint_eq(a.n, NODE_RANGES_ALL);
	ck_assert(ranges_same(&a, &other));
	ck_assert(ranges_contain(&a, ip_of("10.1.0.0")) && !ranges_contain(&a, ip_of("10.1.7.0")));
}
END_TEST

START_TEST(an_object_that_cannot_be_read_is_not_gone)
{
	struct node_ranges t = { .n = 0 };

	ck_assert_int_eq(see(&t, 2, "{\"ranges\":[\"10.1.0.2\"]}"), 0);
	ck_assert_int_eq(see(&t, 2, "{\"ranges\":[\"10.1.0.0/24\"]}"), -1);
	ck_assert_int_eq(see(&t, 2, "{\"ranges\":3}"), -1);
	ck_assert_str_eq(node_ranges_who(&t, ip_of("10.1.0.2")), "n2");
	node_ranges_begun(&t);
	ck_assert_int_eq(see(&t, 2, "{\"ranges\":[7]}"), -1);
	node_ranges_listed(&t);
	ck_assert_str_eq(node_ranges_who(&t, ip_of("10.1.0.2")), "n2");
	ck_assert_int_eq(see(&t, 2, "{\"ranges\":[\"10.1.0.3\"]}"), 0);
	ck_assert_ptr_null(node_ranges_who(&t, ip_of("10.1.0.2")));
	node_ranges_begun(&t);
	node_ranges_listed(&t);
	ck_assert_uint_eq(t.n, 0);
	node_ranges_clear(&t);
}
END_TEST

TEST_PROGRAM("node_ranges", addresses_of_many_nodes_are_few_ranges,
	     beyond_the_limit_all_nodes_leave_out_the_same,
	     an_object_that_cannot_be_read_is_not_gone)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_plan_test.c: the plan of a given cluster, and rules that hold for random ones: subnets are
 * disjoint and inside of the supernet, each node has its addresses, and the pools are valid.
 */
#include "ipam/conf/rail_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "ipam/conf/pool.h"
#include "ipam/conf/pool_blocks.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static struct rail_plan plan(struct rail_ask ask, const char *supernet)
{
	struct rail_plan p;
	struct err e = { 0 };

	ask.label = "leaf";
	ck_assert_int_eq(ip_parse_prefix(supernet, &ask.supernet), 0);
	ck_assert_msg(rail_plan_make(&ask, &p, &e) == 0, "%s: %s", supernet, e.msg);
	return p;
}

static void refused(struct rail_ask ask, const char *supernet, const char *msg, const char *hint)
{
	struct rail_plan p;
	struct err e = { 0 };

	ask.label = "leaf";
	ck_assert_int_eq(ip_parse_prefix(supernet, &ask.supernet), 0);
	ck_assert_int_ne(rail_plan_make(&ask, &p, &e), 0);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_msg(strstr(e.msg, msg) != NULL, "\"%s\" is not in: %s", msg, e.msg);
	ck_assert_msg(strstr(e.detail, hint) != NULL, "\"%s\" is not in: %s", hint, e.detail);
}

static void is_prefix(struct ip_prefix p, const char *want)
{
	char text[PREFIX_STR_LEN];

	ck_assert_str_eq(ip_format_prefix(p, text), want);
}

static void is_ip(struct ip a, const char *want)
{
	char text[IP_STR_LEN];

	ck_assert_str_eq(ip_format(a, text), want);
}

START_TEST(a_rail_is_one_prefix_and_a_leaf_group_a_subnet_of_it)
{
	struct rail_plan p = plan((struct rail_ask){ .count = 8, .nodes = 1024 }, "10.0.0.0/12");
	struct rail_leaf l = rail_plan_leaf(&p, 7, 31);

	ck_assert_uint_eq(p.groups, 32);
	ck_assert_uint_eq(p.ask.block, 8);
	is_prefix(rail_plan_rail(&p, 0), "10.0.0.0/15");
	is_prefix(rail_plan_rail(&p, 7), "10.14.0.0/15");
	is_prefix(l.subnet, "10.14.124.0/22");
	is_ip(l.gateway, "10.14.124.1");
	is_ip(l.hosts.first, "10.14.124.2");
	is_ip(l.hosts.last, "10.14.124.33");
	is_ip(l.pods.first, "10.14.124.40");
	is_ip(l.pods.last, "10.14.127.247");
	ck_assert_uint_eq(l.first_node, 992);
	ck_assert_uint_eq(l.n_nodes, 32);
}
END_TEST

START_TEST(the_last_leaf_group_has_the_rest_of_the_nodes)
{
	struct rail_plan p = plan((struct rail_ask){ .count = 2, .nodes = 33 }, "10.0.0.0/16");
	struct rail_leaf l = rail_plan_leaf(&p, 1, 1);

	ck_assert_uint_eq(p.groups, 2);
	ck_assert_uint_eq(l.first_node, 32);
	ck_assert_uint_eq(l.n_nodes, 1);
	ck_assert_int_eq(ip_cmp(l.hosts.first, l.hosts.last), 0);
}
END_TEST

START_TEST(a_leaf_group_of_ipv6_has_a_64)
{
	struct rail_plan p = plan((struct rail_ask){ .count = 8, .nodes = 64 }, "fd00:1::/48");
	struct rail_leaf l = rail_plan_leaf(&p, 1, 1);

	is_prefix(l.subnet, "fd00:1:0:2001::/64");
	is_ip(l.gateway, "fd00:1:0:2001::1");
	is_ip(l.pods.first, "fd00:1:0:2001::28");
	is_ip(l.pods.last, "fd00:1:0:2001::3ff");
}
END_TEST

static void pools_are(const struct rail_plan *p, const char *want)
{
	auto_json struct json *list = rail_plan_pools(p, 0);
	auto_free char *text = json_print(list, false);

	ck_assert_str_eq(text, want);
}

/* Those nodes keep blocks ahead, so each node counts one more. */
START_TEST(a_pool_is_for_the_nodes_of_its_leaf_group)
{
	struct rail_plan p =
		plan((struct rail_ask){ .count = 2, .nodes = 2, .leaf = 1 }, "10.0.0.0/24");

	ck_assert_uint_eq(p.blocks, 3);
	/* To the rail, and with a higher metric to the others. */
	pools_are(&p, "[{\"name\":\"rail0-g0\",\"subnet\":\"10.0.0.0/26\",\"ranges\":"
		      "[\"10.0.0.8-10.0.0.55\"],\"gateway\":\"10.0.0.1\",\"routes\":["
		      "{\"dst\":\"10.0.0.0/25\",\"gw\":\"10.0.0.1\"},"
		      "{\"dst\":\"10.0.0.0/24\",\"gw\":\"10.0.0.1\",\"priority\":1000}],"
		      "\"blockSize\":8,\"warm\":8,\"nodes\":{\"leaf\":[\"g0\"]}},"
		      "{\"name\":\"rail0-g1\",\"subnet\":\"10.0.0.64/26\",\"ranges\":"
		      "[\"10.0.0.72-10.0.0.119\"],\"gateway\":\"10.0.0.65\",\"routes\":["
		      "{\"dst\":\"10.0.0.0/25\",\"gw\":\"10.0.0.65\"},"
		      "{\"dst\":\"10.0.0.0/24\",\"gw\":\"10.0.0.65\",\"priority\":1000}],"
		      "\"blockSize\":8,\"warm\":8,\"nodes\":{\"leaf\":[\"g1\"]}}]");
	/* One leaf group is named and labelled, too: others may come. */
	p = plan((struct rail_ask){ .count = 1, .nodes = 2 }, "10.0.0.0/24");
	pools_are(&p, "[{\"name\":\"rail0-g0\",\"subnet\":\"10.0.0.0/26\",\"ranges\":"
		      "[\"10.0.0.8-10.0.0.55\"],\"gateway\":\"10.0.0.1\",\"routes\":["
		      "{\"dst\":\"10.0.0.0/24\",\"gw\":\"10.0.0.1\"}],"
		      "\"blockSize\":8,\"warm\":8,\"nodes\":{\"leaf\":[\"g0\"]}}]");
}
END_TEST

START_TEST(a_supernet_that_is_too_small_says_which_one_fits)
{
	struct rail_ask ask = { .count = 8, .nodes = 1024 };

	refused(ask, "10.1.0.0/16", "10.1.0.0/16 is too small", "10.0.0.0/14 fits");
	refused(ask, "fd00::/58", "need a /56", "fd00::/56 fits");
	ask.per_node = 65536;
	ask.leaf = 1024;
	ask.nodes = 65536;
	ask.count = 4;
	refused(ask, "10.0.0.0/8", "more than /0", "IPv6");
}
END_TEST

START_TEST(bad_numbers_are_named)
{
	refused((struct rail_ask){ .nodes = 1 }, "10.0.0.0/8", "rails: 0 is not", "");
	refused((struct rail_ask){ .count = 65, .nodes = 1 }, "10.0.0.0/8", "1 to 64", "");
	refused((struct rail_ask){ .count = 1 }, "10.0.0.0/8", "nodes: 0 is not", "");
	refused((struct rail_ask){ .count = 1, .nodes = 1, .block = 12 }, "10.0.0.0/8",
		"12 is not a power of two", "");
	refused((struct rail_ask){ .count = 1, .nodes = 1 }, "10.0.0.1/8", "write 10.0.0.0/8", "");
	refused((struct rail_ask){ .count = 8, .nodes = 4128 }, "10.0.0.0/8",
		"more than 1024 pools", "at least 33 nodes");
}
END_TEST

static int make_pools(void *arg, struct err *e)
{
	struct json *list = rail_plan_pools(arg, 1);

	json_free(list);
	return list ? 0 : err_nomem(e);
}

START_TEST(failed_allocations_give_no_pools)
{
	struct rail_plan p = plan((struct rail_ask){ .count = 2, .nodes = 64 }, "10.0.0.0/16");

	ck_assert_str_eq(alloc_fail_each(make_pools, &p), "ok");
}
END_TEST

/* ---- random plans ---- */

static uint64_t some(unsigned *seed, uint64_t max)
{
	return 1 + (uint64_t)rand_r(seed) % max;
}

/* The pool is valid, and each node of the leaf group can have its addresses as whole blocks. */
static void check_pool(const struct rail_plan *p, const struct json *pool, struct rail_leaf l)
{
	auto_json struct json *def = json_dup(pool);
	auto_clean(source_clear) struct source s = { .label = "" };
	const char *name = json_str(json_get(pool, "name"));
	uint64_t blocks = 0, size = p->ask.block;
	struct err e = { 0 };

	json_del(def, "name");
	ck_assert_msg(pool_check_keys(def, &e) == 0 && pool_is_restricted(name, def, &e) == 0 &&
			      pool_decode(name, def, &s, &e) == 0,
		      "%s", e.msg);
	ck_assert(s.subnet.len == l.subnet.len && ip_equal(s.subnet.addr, l.subnet.addr));
	ck_assert(!ranges_contain(&s.usable, l.gateway));
	for (struct ip a = l.hosts.first; ip_cmp(a, l.hosts.last) <= 0; a.v++)
		ck_assert(ip_in_prefix(l.subnet, a) && !ranges_contain(&s.usable, a));
	for (struct ip a = l.pods.first; ip_cmp(a, l.pods.last) < 0; a.v += size) {
		struct ip_range block = pool_block_range(s.blocks.bits, a);

		ck_assert(ip_equal(block.first, a));
		ck_assert_msg(ranges_cover(&s.usable, block), "%s: a block is masked", name);
		blocks++;
		if (blocks > 100000) /* the rest is the same */
			break;
	}
	ck_assert_uint_ge(blocks * size, l.n_nodes * p->ask.per_node > 100000
						 ? 100000
						 : l.n_nodes * p->ask.per_node);
	ck_assert(ranges_capacity(&s.usable) / size >= p->blocks);
}

static void check_plan(const struct rail_plan *p)
{
	struct ip_range before = { .first = { .family = IP_NONE } };
	uint64_t nodes = 0;

	for (uint64_t r = 0; r < p->ask.count; r++) {
		auto_json struct json *list = rail_plan_pools(p, r);
		const struct json *pool = json_first(list);
		struct ip_prefix rail = rail_plan_rail(p, r);

		ck_assert_uint_eq(json_len(list), p->groups);
		ck_assert(ip_in_prefix(p->ask.supernet, ip_network(rail)));
		ck_assert(ip_in_prefix(p->ask.supernet, ip_last(rail)));
		for (uint64_t g = 0; g < p->groups; g++, pool = json_next(pool)) {
			struct rail_leaf l = rail_plan_leaf(p, r, g);
			struct ip_range now = { ip_network(l.subnet), ip_last(l.subnet) };

			/* In order and disjoint, so no two of them overlap. */
			ck_assert(before.first.family == IP_NONE ||
				  ip_cmp(before.last, now.first) < 0);
			ck_assert(ip_equal(now.first, l.subnet.addr));
			ck_assert(ip_in_prefix(rail, now.first) && ip_in_prefix(rail, now.last));
			check_pool(p, pool, l);
			before = now;
			nodes += l.n_nodes;
		}
	}
	ck_assert_uint_eq(nodes, p->ask.count * p->ask.nodes);
}

/* One step smaller must be refused, and the hint must fit. */
static void check_smallest(struct rail_ask ask)
{
	struct rail_plan p;
	struct err e = { 0 };
	char text[PREFIX_STR_LEN];
	uint8_t len = (uint8_t)ip_bits(ask.supernet.addr.family);

	for (;; len--) {
		ask.supernet.len = len;
		ask.supernet.addr = ip_network(ask.supernet);
		if (rail_plan_make(&ask, &p, &e) == 0)
			break;
		ck_assert_msg(strstr(e.msg, "is too small") != NULL, "%s", e.msg);
	}
	check_plan(&p);
	ask.supernet.len++;
	(void)ip_format_prefix((struct ip_prefix){ ip_network(p.ask.supernet), len }, text);
	ck_assert_int_ne(rail_plan_make(&ask, &p, &e), 0);
	ck_assert_msg(strstr(e.detail, text) != NULL, "%s is not in: %s", text, e.detail);
}

START_TEST(random_plans_are_sound)
{
	unsigned seed = 20261122;
	struct ip_prefix v4, v6;

	ck_assert_int_eq(ip_parse_prefix("10.0.0.0/8", &v4), 0);
	ck_assert_int_eq(ip_parse_prefix("fd00:7::/32", &v6), 0);
	for (int i = 0; i < 15; i++) {
		struct rail_ask ask = {
			.count = some(&seed, 8),
			.leaf = some(&seed, 64),
			.per_node = some(&seed, 40),
			.block = (uint64_t)1 << (some(&seed, 7) - 1),
			.label = "leaf",
		};
		struct rail_plan p;
		struct err e = { 0 };

		ask.nodes = some(&seed, ask.leaf * (RAIL_PLAN_POOLS_MAX / 8));
		ask.supernet = i % 2 ? v6 : v4;
		ck_assert_msg(rail_plan_make(&ask, &p, &e) == 0, "%s", e.msg);
		check_plan(&p);
		check_smallest(ask);
	}
}
END_TEST

TEST_PROGRAM("rail_plan", a_rail_is_one_prefix_and_a_leaf_group_a_subnet_of_it,
	     the_last_leaf_group_has_the_rest_of_the_nodes, a_leaf_group_of_ipv6_has_a_64,
	     a_pool_is_for_the_nodes_of_its_leaf_group,
	     a_supernet_that_is_too_small_says_which_one_fits, bad_numbers_are_named,
	     failed_allocations_give_no_pools, random_plans_are_sound)

/* SPDX-License-Identifier: Apache-2.0 */
/* grid_test.c: blocks of random pools are disjoint, complete and in an order without repetition. */
#include "ipam/block/grid.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"

static struct ranges ranges_of(const char *const *text, size_t n)
{
	struct ranges s = { 0 };
	struct ip_range r;
	struct err e;

	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(ip_parse_range(text[i], &r), 0);
		ck_assert_int_eq(ranges_add(&s, r, &e), 0);
	}
	return s;
}

static struct grid grid_of(const char *subnet, unsigned bits, const struct ranges *usable)
{
	struct grid g = { .bits = bits, .usable = usable };

	ck_assert_int_eq(ip_parse_prefix(subnet, &g.subnet), 0);
	return g;
}

static const char *nth(const struct grid *g, u128 i)
{
	static char text[IP_STR_LEN];

	return ip_format(grid_nth(g, i), text);
}

START_TEST(blocks_lie_on_multiples_of_their_size)
{
	const char *text[] = { "10.0.0.10-10.0.0.40" };
	auto_ranges struct ranges usable = ranges_of(text, 1);
	struct grid g = grid_of("10.0.0.0/24", 4, &usable);

	ck_assert_uint_eq((unsigned)grid_count(&g), 3);
	ck_assert_str_eq(nth(&g, 0), "10.0.0.0");
	ck_assert_str_eq(nth(&g, 1), "10.0.0.16");
	ck_assert_str_eq(nth(&g, 2), "10.0.0.32");
	ck_assert(grid_has(&g, grid_nth(&g, 2)));
	ck_assert(!grid_has(&g, usable.items[0].first));
	ck_assert_uint_eq((unsigned)grid_usable(&g, grid_nth(&g, 0)), 6);
	ck_assert_uint_eq((unsigned)grid_usable(&g, grid_nth(&g, 1)), 16);
	ck_assert_uint_eq((unsigned)grid_usable(&g, grid_nth(&g, 2)), 9);
}
END_TEST

START_TEST(two_ranges_of_one_block_count_once)
{
	const char *text[] = { "10.0.0.1-10.0.0.3", "10.0.0.8", "10.0.0.15-10.0.0.16", "10.0.1.0" };
	auto_ranges struct ranges usable = ranges_of(text, 4);
	struct grid g = grid_of("10.0.0.0/16", 4, &usable);

	ck_assert_uint_eq((unsigned)grid_count(&g), 3);
	ck_assert_str_eq(nth(&g, 0), "10.0.0.0");
	ck_assert_str_eq(nth(&g, 1), "10.0.0.16");
	ck_assert_str_eq(nth(&g, 2), "10.0.1.0");
}
END_TEST

START_TEST(blocks_without_a_usable_address_do_not_count)
{
	const char *text[] = { "10.0.0.1-10.0.0.15", "10.0.0.32-10.0.0.40" };
	auto_ranges struct ranges usable = ranges_of(text, 2);
	struct grid g = grid_of("10.0.0.0/24", 4, &usable);
	struct ip gap = { IP_V4, 0x0a000010 }, v6 = { IP_V6, 0x0a000020 };

	ck_assert_uint_eq((unsigned)grid_count(&g), 2);
	ck_assert(!grid_has(&g, gap));
	ck_assert(!grid_has(&g, v6));
}
END_TEST

START_TEST(an_ipv6_subnet_is_not_counted_one_by_one)
{
	const char *text[] = { "fd00::1-fd00::ffff:ffff:ffff:ffff" };
	auto_ranges struct ranges usable = ranges_of(text, 1);
	struct grid g = grid_of("fd00::/64", 0, &usable);
	u128 n = grid_count(&g);
	struct grid_order o = grid_order(n, 7);

	ck_assert(n == (u128)1 << 63);
	for (unsigned i = 0; i < 1000; i++)
		ck_assert(grid_has(&g, grid_nth(&g, grid_order_at(&o, i))));
}
END_TEST

START_TEST(a_pool_without_blocks_has_an_empty_order)
{
	struct grid_order o = grid_order(0, 1);

	ck_assert(o.n == 0 && o.first == 0 && o.step == 0);
}
END_TEST

START_TEST(an_order_visits_each_block_once)
{
	static bool seen[1000];

	for (unsigned n = 1; n < 1000; n += n < 40 ? 1 : 37) {
		for (uint64_t seed = 0; seed < 5; seed++) {
			struct grid_order o = grid_order(n, seed);

			memset(seen, 0, sizeof(seen));
			for (unsigned i = 0; i < n; i++) {
				unsigned at = (unsigned)grid_order_at(&o, i);

				ck_assert_uint_lt(at, n);
				ck_assert(!seen[at]);
				seen[at] = true;
			}
		}
	}
}
END_TEST

/* Two nodes that begin together must not try the same blocks in the same order. */
START_TEST(nodes_begin_at_different_blocks)
{
	unsigned same = 0;
	char name[16];

	for (unsigned i = 0; i < 1024; i++) {
		(void)snprintf(name, sizeof(name), "node%u", i);

		struct grid_order o = grid_order(65536, grid_hash(name, "uid"));

		same += grid_order_at(&o, 0) % 64 == 0;
		ck_assert_uint_ne(grid_hash(name, "uid"), grid_hash(name, "other"));
	}
	/* 16 of 1,024 are expected; four times as many would be a hash that does not mix. */
	ck_assert_uint_lt(same, 64);
}
END_TEST

START_TEST(names_are_read_back)
{
	char name[GRID_NAME_LEN], pool[GRID_POOL_MAX + 1];
	struct ip start = { IP_V6, (u128)0xfd00 << 112 | 0xabc }, back;

	grid_name("rail-0", start, name);
	ck_assert_str_eq(name, "rail-0-fd000000000000000000000000000abc");
	ck_assert_int_eq(grid_parse(name, IP_V6, pool, &back), 0);
	ck_assert_str_eq(pool, "rail-0");
	ck_assert(ip_equal(start, back));
	ck_assert_int_eq(grid_parse(name, IP_V4, pool, &back), -1);
	ck_assert_int_eq(grid_parse("rail-0-00", IP_V4, pool, &back), -1);
	ck_assert_int_eq(grid_parse("-0000000000000000000000000a000000", IP_V4, pool, &back), -1);
	ck_assert_int_eq(grid_parse("rail0", IP_V4, pool, &back), -1);
	ck_assert_int_eq(grid_parse("r-0000000000000000000000000a0000000", IP_V4, pool, &back), -1);
	ck_assert_int_eq(grid_parse("a-name-of-a-pool-with-31-bytes--"
				    "-0000000000000000000000000a000000",
				    IP_V4, pool, &back),
			 -1);
	ck_assert_int_eq(grid_parse("r-0000000000000000000000000A000000", IP_V4, pool, &back), -1);
}
END_TEST

TEST_PROGRAM("grid", blocks_lie_on_multiples_of_their_size, two_ranges_of_one_block_count_once,
	     blocks_without_a_usable_address_do_not_count, an_ipv6_subnet_is_not_counted_one_by_one,
	     a_pool_without_blocks_has_an_empty_order, an_order_visits_each_block_once,
	     nodes_begin_at_different_blocks, names_are_read_back)

/* SPDX-License-Identifier: Apache-2.0 */
/* ranges_test.c: sets of ranges against a simple model, and their limits. */
#include "ipam/conf/ranges.h"
#include "lib/testing/testing.h"

static struct ip ip(const char *s)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(s, &a), 0);
	return a;
}

static struct ip_range range(const char *s)
{
	struct ip_range r;

	ck_assert_int_eq(ip_parse_range(s, &r), 0);
	return r;
}

static void add(struct ranges *s, const char *r)
{
	struct err e;

	ck_assert_int_eq(ranges_add(s, range(r), &e), 0);
}

static void drop(struct ranges *s, const char *r)
{
	struct err e;

	ck_assert_int_eq(ranges_remove(s, range(r), &e), 0);
}

/* The set as text: "first-last first-last". */
static void is(const struct ranges *s, const char *want)
{
	char have[512] = "", a[IP_STR_LEN];

	for (size_t i = 0; i < s->n; i++) {
		if (i)
			testing_append(have, sizeof(have), " ");
		testing_append(have, sizeof(have), ip_format(s->items[i].first, a));
		testing_append(have, sizeof(have), "-");
		testing_append(have, sizeof(have), ip_format(s->items[i].last, a));
	}
	ck_assert_str_eq(have, want);
}

START_TEST(joins_what_overlaps_or_touches)
{
	auto_ranges struct ranges s = { 0 };

	add(&s, "10.0.0.10-10.0.0.19");
	add(&s, "10.0.0.30-10.0.0.39");
	is(&s, "10.0.0.10-10.0.0.19 10.0.0.30-10.0.0.39");
	add(&s, "10.0.0.20-10.0.0.25");
	is(&s, "10.0.0.10-10.0.0.25 10.0.0.30-10.0.0.39");
	add(&s, "10.0.0.26-10.0.0.29");
	is(&s, "10.0.0.10-10.0.0.39");
	add(&s, "10.0.0.0/24");
	is(&s, "10.0.0.0-10.0.0.255");
	add(&s, "10.0.0.7");
	is(&s, "10.0.0.0-10.0.0.255");
	add(&s, "10.0.1.5");
	add(&s, "10.0.0.255-10.0.1.4");
	is(&s, "10.0.0.0-10.0.1.5");
}
END_TEST

START_TEST(families_do_not_touch)
{
	auto_ranges struct ranges s = { 0 };

	add(&s, "255.255.255.255");
	add(&s, "::2:0:0");
	add(&s, "::-::ffff:ffff");
	is(&s, "255.255.255.255-255.255.255.255 ::-::ffff:ffff ::2:0:0-::2:0:0");
	ck_assert(!ranges_contain(&s, ip("1.2.3.4")));
	ck_assert(ranges_contain(&s, ip("::1.2.3.4")));
}
END_TEST

START_TEST(ranges_are_removed_and_split)
{
	auto_ranges struct ranges s = { 0 };

	drop(&s, "10.0.0.0/8");
	add(&s, "10.0.0.0/24");
	add(&s, "10.0.2.0/24");
	drop(&s, "10.0.1.0/24");
	is(&s, "10.0.0.0-10.0.0.255 10.0.2.0-10.0.2.255");
	drop(&s, "10.0.0.0");
	drop(&s, "10.0.0.255");
	drop(&s, "10.0.0.100-10.0.0.199");
	is(&s, "10.0.0.1-10.0.0.99 10.0.0.200-10.0.0.254 10.0.2.0-10.0.2.255");
	drop(&s, "10.0.0.50-10.0.2.9");
	is(&s, "10.0.0.1-10.0.0.49 10.0.2.10-10.0.2.255");
	drop(&s, "0.0.0.0/0");
	is(&s, "");
}
END_TEST

START_TEST(the_next_address_is_found)
{
	auto_ranges struct ranges s = { 0 };
	struct ip a;

	ck_assert(!ranges_next(&s, ip("0.0.0.0"), &a));
	add(&s, "10.0.0.5-10.0.0.6");
	add(&s, "10.0.0.9");
	add(&s, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	ck_assert(ranges_next(&s, ip("0.0.0.0"), &a) && ip_equal(a, ip("10.0.0.5")));
	ck_assert(ranges_next(&s, ip("10.0.0.6"), &a) && ip_equal(a, ip("10.0.0.6")));
	ck_assert(ranges_after(&s, ip("10.0.0.6"), &a) && ip_equal(a, ip("10.0.0.9")));
	ck_assert(ranges_after(&s, ip("10.0.0.9"), &a) && a.family == IP_V6);
	ck_assert(!ranges_after(&s, a, &a));
}
END_TEST

START_TEST(the_capacity_is_counted)
{
	auto_ranges struct ranges s = { 0 }, all = { 0 }, half = { 0 };

	ck_assert(ranges_capacity(&s) == 0);
	add(&s, "10.0.0.5-10.0.0.6");
	add(&s, "fd00::/64");
	ck_assert(ranges_capacity(&s) == ((u128)1 << 64) + 2);
	add(&all, "::/0");
	ck_assert(ranges_capacity(&all) == ~(u128)0);
	add(&half, "10.0.0.0/8");
	add(&half, "::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	ck_assert(ranges_capacity(&half) == ~(u128)0);
}
END_TEST

START_TEST(overlaps_are_found)
{
	auto_ranges struct ranges a = { 0 }, b = { 0 };
	struct ip_range where;

	ck_assert(!ranges_overlap(&a, &b, &where));
	add(&a, "10.0.0.0-10.0.0.9");
	add(&a, "10.0.0.20-10.0.0.29");
	add(&b, "10.0.0.10-10.0.0.19");
	add(&b, "10.0.0.30");
	ck_assert(!ranges_overlap(&a, &b, &where));
	ck_assert(!ranges_overlap(&b, &a, &where));
	add(&b, "10.0.0.28-10.0.0.40");
	ck_assert(ranges_overlap(&a, &b, &where));
	ck_assert(ip_equal(where.first, ip("10.0.0.28")) && ip_equal(where.last, ip("10.0.0.29")));
	ck_assert(ranges_overlap(&b, &a, &where));
	ck_assert(ip_equal(where.first, ip("10.0.0.28")) && ip_equal(where.last, ip("10.0.0.29")));
}
END_TEST

START_TEST(the_number_of_ranges_is_bounded)
{
	auto_ranges struct ranges s = { 0 };
	struct ip_range r = { ip("10.0.0.0"), ip("10.0.0.0") };
	struct err e = { 0 };

	for (int i = 0; i < RANGES_MAX; i++) {
		ck_assert_int_eq(ranges_add(&s, r, &e), 0);
		r.first.v += 2;
		r.last.v += 2;
	}
	ck_assert_int_eq(ranges_add(&s, r, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_uint_eq(s.n, RANGES_MAX);
	/* splitting one would also be one too many */
	r.first = r.last = ip("10.0.0.1");
	ck_assert_int_eq(ranges_add(&s, r, &e), 0);
	r.first = r.last = ip("10.0.8.0");
	ck_assert_int_eq(ranges_add(&s, r, &e), 0);
	r = range("10.0.0.1");
	ck_assert_int_eq(ranges_remove(&s, r, &e), -1);
}
END_TEST

enum { MODEL_SIZE = 96 };

/* One assert for all of it: Check writes to a file at each. */
static bool agrees(const struct ranges *s, const bool *model)
{
	unsigned count = 0, want = MODEL_SIZE;

	for (unsigned i = MODEL_SIZE; i-- > 0;) {
		struct ip a = { IP_V4, i }, next = { IP_NONE, 0 };

		count += model[i];
		want = model[i] ? i : want;
		if (ranges_contain(s, a) != model[i] ||
		    ranges_next(s, a, &next) != (want < MODEL_SIZE) ||
		    (want < MODEL_SIZE && next.v != want))
			return false;
	}
	return ranges_capacity(s) == count;
}

/* Against a plain bitmap, with a generator that is the same everywhere. */
START_TEST(agrees_with_a_bitmap)
{
	auto_ranges struct ranges s = { 0 };
	bool model[MODEL_SIZE] = { false };
	uint32_t seed = 12345;
	struct err e;

	for (int step = 0; step < 20000; step++) {
		seed = seed * 1664525 + 1013904223;
		unsigned first = (seed >> 8) % MODEL_SIZE, len = (seed >> 20) % 9;
		unsigned last = first + len < MODEL_SIZE ? first + len : MODEL_SIZE - 1;
		bool up = seed >> 31;
		struct ip_range r = { { IP_V4, first }, { IP_V4, last } };

		ck_assert_int_eq(up ? ranges_add(&s, r, &e) : ranges_remove(&s, r, &e), 0);
		for (unsigned i = first; i <= last; i++)
			model[i] = up;
		ck_assert_msg(agrees(&s, model), "step %d", step);
	}
}
END_TEST

TEST_PROGRAM("ranges", joins_what_overlaps_or_touches, families_do_not_touch,
	     ranges_are_removed_and_split, the_next_address_is_found, the_capacity_is_counted,
	     overlaps_are_found, the_number_of_ranges_is_bounded, agrees_with_a_bitmap)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_slice_test.c: slices of given pools, and rules that hold for random pools: the parts are
 * disjoint, they are inside the pool, and a change of ranges, excludes or gateway moves none.
 */
#include "ipam/conf/pool_slice.h"

#include <stdio.h>

#include "ipam/conf/pool.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static struct json *parse(const char *text)
{
	struct json *j = NULL;
	struct err e;

	ck_assert_msg(json_parse(text, strlen(text), "test", &j, &e) == 0, "%s", text);
	return j;
}

/* The slice of a number as "first-last first-last", or the message of the error. */
static const char *slice_of(const char *def, uint32_t number)
{
	static char text[1024];
	auto_json struct json *j = parse(def);
	auto_clean(source_clear) struct source s = { .label = "" };
	char a[IP_STR_LEN], b[IP_STR_LEN];
	struct err e = { 0 };

	*text = '\0';
	if (pool_decode("p", j, &s, &e) || pool_slice_cut(&s, number, &e)) {
		ck_assert_int_eq(e.code, ERR_CONFIG);
		(void)snprintf(text, sizeof(text), "%s", e.msg);
		return text;
	}
	for (size_t i = 0; i < s.usable.n; i++) {
		if (i)
			testing_append(text, sizeof(text), " ");
		testing_append(text, sizeof(text), ip_format(s.usable.items[i].first, a));
		testing_append(text, sizeof(text), "-");
		testing_append(text, sizeof(text), ip_format(s.usable.items[i].last, b));
	}
	return text;
}

static void pool_slice_is(const char *def, uint32_t number, const char *want)
{
	ck_assert_str_eq(slice_of(def, number), want);
}

#define P28 "{\"subnet\":\"10.1.0.0/16\",\"slice\":{\"prefix\":28}"

START_TEST(a_slice_is_a_part_of_an_absolute_grid)
{
	pool_slice_is(P28 "}", 1, "10.1.0.16-10.1.0.31");
	pool_slice_is(P28 "}", 0, "10.1.0.1-10.1.0.15");
	pool_slice_is(P28 "}", 4095, "10.1.255.240-10.1.255.254");
	pool_slice_is(P28 ",\"gateway\":\"10.1.0.20\"}", 1,
		      "10.1.0.16-10.1.0.19 10.1.0.21-10.1.0.31");
	pool_slice_is(P28 ",\"ranges\":[\"10.1.0.24-10.1.0.40\"]}", 1, "10.1.0.24-10.1.0.31");
	pool_slice_is(P28 ",\"ranges\":[\"10.1.0.24-10.1.0.40\"]}", 2, "10.1.0.32-10.1.0.40");
	pool_slice_is(P28 ",\"excludes\":[\"10.1.0.16/29\"]}", 1, "10.1.0.24-10.1.0.31");
	pool_slice_is("{\"subnet\":\"10.1.0.0/24\",\"slice\":{\"size\":10}}", 3,
		      "10.1.0.30-10.1.0.39");
	pool_slice_is("{\"subnet\":\"10.1.0.0/24\",\"slice\":{\"size\":1}}", 254,
		      "10.1.0.254-10.1.0.254");
	pool_slice_is("{\"subnet\":\"fd00::/64\",\"slice\":{\"prefix\":112}}", 17,
		      "fd00::11:0-fd00::11:ffff");
	pool_slice_is("{\"subnet\":\"fd00::/64\",\"slice\":{\"prefix\":112}}", 0,
		      "fd00::1-fd00::ffff");
	pool_slice_is("{\"subnet\":\"10.0.0.0/31\",\"slice\":{\"size\":1}}", 1,
		      "10.0.0.1-10.0.0.1");
	pool_slice_is("{\"subnet\":\"10.1.0.0/16\",\"slice\":{\"size\":8,\"start\":\"10.1.4.0\"}}",
		      2, "10.1.4.16-10.1.4.23");
	pool_slice_is("{\"subnet\":\"0.0.0.0/0\",\"slice\":{\"prefix\":0}}", 0,
		      "0.0.0.1-255.255.255.254");
	pool_slice_is("{\"subnet\":\"::/0\",\"slice\":{\"prefix\":0}}", 0,
		      "::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe");
	pool_slice_is("{\"subnet\":\"ff00::/8\",\"slice\":{\"prefix\":9}}", 1,
		      "ff80::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}
END_TEST

START_TEST(a_pool_without_slices_is_not_cut)
{
	pool_slice_is("{\"subnet\":\"10.0.0.0/29\"}", 4000000000u, "10.0.0.1-10.0.0.6");
}
END_TEST

START_TEST(a_number_that_does_not_fit_names_the_highest_one)
{
	pool_slice_is(
		P28 "}", 4096,
		"pool p: the node's number 4096 is outside of the pool: subnet 10.1.0.0/16 has "
		"4096 slices, and the highest number that fits is 4095");
	/* 256 addresses are 25 slices of 10; the last 6 addresses belong to nobody */
	pool_slice_is(
		"{\"subnet\":\"10.1.0.0/24\",\"slice\":{\"size\":10}}", 25,
		"pool p: the node's number 25 is outside of the pool: subnet 10.1.0.0/24 has 25 "
		"slices, and the highest number that fits is 24");
	pool_slice_is(
		"{\"subnet\":\"10.1.0.0/28\",\"slice\":{\"prefix\":28}}", 1,
		"pool p: the node's number 1 is outside of the pool: subnet 10.1.0.0/28 has 1 "
		"slice, and the highest number that fits is 0");
	pool_slice_is(
		P28 ",\"ranges\":[\"10.1.1.0-10.1.1.255\"]}", 1,
		"pool p: slice 1 (10.1.0.16-10.1.0.31) has no address: ranges, excludes, gateway, "
		"network and broadcast leave none");
}
END_TEST

/* The list of reserved addresses is the cluster's, and may have the whole pool. */
START_TEST(a_pool_of_reserved_addresses_has_no_slice)
{
	auto_json struct json *j = parse(P28 "}");
	auto_clean(source_clear) struct source s = { .label = "" };
	struct err e = { 0 };

	ck_assert_int_eq(pool_decode("p", j, &s, &e), 0);
	s.usable.n = 0;
	ck_assert_int_eq(pool_slice_cut(&s, 1, &e), -1);
	ck_assert_str_eq(e.msg, "pool p: the cluster reserves all of its addresses");
}
END_TEST

START_TEST(bad_slices_are_refused)
{
	static const struct {
		const char *slice, *want;
	} bad[] = {
		{ "{}", "needs one of" },
		{ "{\"prefix\":28,\"size\":16}", "needs one of" },
		{ "{\"prefix\":15}", "slice.prefix: 15 is not from 16" },
		{ "{\"prefix\":33}", "slice.prefix: 33 is not from 16" },
		{ "{\"size\":0}", "slice.size" },
		{ "{\"size\":65537}", "no room" },
		{ "{\"size\":16,\"start\":\"10.2.0.0\"}", "slice.start" },
		{ "{\"size\":16,\"start\":\"x\"}", "slice.start" },
		{ "{\"size\":16,\"start\":\"fd00::\"}", "slice.start" },
		{ "{\"size\":16,\"start\":\"10.1.255.241\"}", "no room" },
		{ "{\"prefix\":28,\"start\":\"10.1.0.8\"}", "does not begin a /28" },
		{ "{\"prefix\":28,\"blocks\":1}", "blocks" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char def[256];

		(void)snprintf(def, sizeof(def), "{\"subnet\":\"10.1.0.0/16\",\"slice\":%s}",
			       bad[i].slice);
		const char *have = slice_of(def, 0);
		ck_assert_msg(strstr(have, bad[i].want), "%s: %s", bad[i].slice, have);
	}
}
END_TEST

START_TEST(a_pool_has_slices_or_blocks_or_is_of_one_node)
{
	ck_assert_ptr_nonnull(strstr(slice_of(P28 ",\"blockSize\":16}", 0), "never both"));
	ck_assert_ptr_nonnull(strstr(slice_of(P28 ",\"thisNodeOnly\":true}", 0), "thisNodeOnly"));
}
END_TEST

/* An older version must find no subnet: it would assign addresses of all nodes. */
START_TEST(the_record_of_a_sliced_pool_is_no_definition)
{
	auto_json struct json *def = parse(P28 "}"), *plain = parse("{\"subnet\":\"10.0.0.0/24\"}");
	auto_free char *text = pool_record(def), *same = pool_record(plain);
	auto_json struct json *record = parse(text);
	auto_pool_text struct pool_text back = { .tree = NULL };
	struct err e;

	ck_assert_ptr_null(json_get(record, "subnet"));
	ck_assert_str_eq(same, "{\"subnet\":\"10.0.0.0/24\"}");
	ck_assert_int_eq(pool_parse(text, "t", &back, &e), 0);
	ck_assert_str_eq(json_str(json_get(back.def, "subnet")), "10.1.0.0/16");
	pool_text_clear(&back);
	ck_assert_int_eq(pool_parse(same, "t", &back, &e), 0);
	ck_assert_str_eq(json_str(json_get(back.def, "subnet")), "10.0.0.0/24");
}
END_TEST

/* ---- random pools ---- */

struct dice {
	uint64_t seed;
};

static unsigned below(struct dice *d, unsigned n)
{
	d->seed = d->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(d->seed >> 33) % n;
}

#define SUBNET_SIZE 256

/* 0 to 3 ranges or excludes of a /24 as JSON, in key order of random choice. */
static void random_list(struct dice *d, const char *key, unsigned least, char *out, size_t size)
{
	unsigned n = least + below(d, 3);
	char item[64];

	*out = '\0';
	for (unsigned i = 0; i < n; i++) {
		unsigned a = below(d, SUBNET_SIZE), b = a + below(d, SUBNET_SIZE - a);

		(void)snprintf(item, sizeof(item), "%s\"10.0.0.%u-10.0.0.%u\"%s", i ? "," : "", a,
			       least ? b : a + (b - a) / 8, i + 1 == n ? "]" : "");
		if (!i) {
			testing_append(out, size, ",\"");
			testing_append(out, size, key);
			testing_append(out, size, "\":[");
		}
		testing_append(out, size, item);
	}
}

/* A definition with this slice and a random mask. */
static void random_pool(struct dice *d, const char *slice, char *out, size_t size)
{
	char ranges[300] = "", excludes[300], gateway[40] = "";

	if (below(d, 2))
		random_list(d, "ranges", 1, ranges, sizeof(ranges));
	random_list(d, "excludes", 0, excludes, sizeof(excludes));
	if (below(d, 2))
		(void)snprintf(gateway, sizeof(gateway), ",\"gateway\":\"10.0.0.%u\"",
			       below(d, SUBNET_SIZE));
	(void)snprintf(out, size, "{\"subnet\":\"10.0.0.0/24\",\"slice\":%s%s%s%s}", slice, ranges,
		       excludes, gateway);
}

static void random_slice(struct dice *d, char out[80])
{
	unsigned start = below(d, 4) ? 0 : below(d, 64);

	if (below(d, 2))
		(void)snprintf(out, 80, "{\"prefix\":%u}", 24 + below(d, 9));
	else
		(void)snprintf(out, 80, "{\"size\":%u,\"start\":\"10.0.0.%u\"}", 1 + below(d, 100),
			       start);
}

#define NOBODY (-1)

/* owner[a]: the number whose slice has 10.0.0.a. Checks that no other has it, and that the pool
 * does. */
static bool owners_of(const char *def, int owner[SUBNET_SIZE])
{
	auto_json struct json *j = parse(def);
	auto_clean(source_clear) struct source whole = { .label = "" };
	struct err e;

	for (unsigned a = 0; a < SUBNET_SIZE; a++)
		owner[a] = NOBODY;
	if (pool_decode("p", j, &whole, &e))
		return false;
	for (uint32_t n = 0; n < pool_slice_count(&whole.slice, whole.subnet); n++) {
		auto_clean(source_clear) struct source s = { .label = "" };
		struct ip_range r = pool_slice_range(&whole.slice, n);
		u128 size = 0;

		ck_assert_int_eq(pool_decode("p", j, &s, &e), 0);
		if (pool_slice_cut(&s, n, &e) == 0) {
			size = ranges_capacity(&s.usable);
			for (unsigned a = 0; a < SUBNET_SIZE; a++) {
				struct ip ip = { IP_V4, ((u128)10 << 24) + a };
				uint64_t of = 0;

				if (!ranges_contain(&s.usable, ip))
					continue;
				ck_assert_msg(owner[a] == NOBODY, "%s: .%u twice", def, a);
				ck_assert(ranges_contain(&whole.usable, ip));
				ck_assert(pool_slice_of(&whole, ip, &of) && of == n);
				owner[a] = (int)n;
			}
		}
		ck_assert(size == ranges_capacity_in(&whole.usable, r));
	}
	return true;
}

START_TEST(slices_of_random_pools_are_disjoint_and_stay_where_they_are)
{
	int before[SUBNET_SIZE], after[SUBNET_SIZE];
	char slice[80], a[900], b[900];
	struct dice d = { 20261122 };
	unsigned compared = 0;

	for (unsigned i = 0; i < 200; i++) {
		random_slice(&d, slice);
		random_pool(&d, slice, a, sizeof(a));
		random_pool(&d, slice, b, sizeof(b));
		if (!owners_of(a, before) || !owners_of(b, after))
			continue;
		for (unsigned k = 0; k < SUBNET_SIZE; k++) {
			if (before[k] == NOBODY || after[k] == NOBODY)
				continue;
			ck_assert_msg(before[k] == after[k], "%s and %s: .%u moved", a, b, k);
			compared++;
		}
	}
	ck_assert_uint_gt(compared, 1000);
}
END_TEST

static int decode_and_cut(void *arg, struct err *e)
{
	auto_clean(source_clear) struct source s = { .label = "" };
	auto_json struct json *j = NULL;
	const char *text = arg;

	return json_parse(text, strlen(text), "test", &j, e) || pool_decode("p", j, &s, e) ||
	       pool_slice_cut(&s, 1, e);
}

START_TEST(out_of_memory)
{
	char def[] = P28 ",\"excludes\":[\"10.1.0.20\"]}";

	ck_assert_str_eq(alloc_fail_each(decode_and_cut, def), "ok");
}
END_TEST

TEST_PROGRAM("pool_slice", a_slice_is_a_part_of_an_absolute_grid, a_pool_without_slices_is_not_cut,
	     a_number_that_does_not_fit_names_the_highest_one,
	     a_pool_of_reserved_addresses_has_no_slice, bad_slices_are_refused,
	     a_pool_has_slices_or_blocks_or_is_of_one_node,
	     the_record_of_a_sliced_pool_is_no_definition,
	     slices_of_random_pools_are_disjoint_and_stay_where_they_are, out_of_memory)

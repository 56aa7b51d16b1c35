/* SPDX-License-Identifier: Apache-2.0 */
/* pool_blocks_test.c: the keys of a pool with blocks, its record, and the blocks that it is cut
 * into. */
#include "ipam/conf/pool_blocks.h"

#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool.h"
#include "lib/testing/testing.h"

static struct err e;

static struct json *parse(const char *text)
{
	struct json *j = NULL;

	ck_assert_msg(json_parse(text, strlen(text), "test", &j, &e) == 0, "%s: %s", text, e.msg);
	return j;
}

/* Decodes pool `name`; the error's message if it is refused, else "". */
static const char *decode(const char *name, const char *text, struct pool_blocks *out)
{
	auto_json struct json *j = parse(text);
	auto_clean(source_clear) struct source s = { .label = "" };

	if (pool_check_keys(j, &e) || pool_decode(name, j, &s, &e))
		return e.msg;
	*out = s.blocks;
	return "";
}

#define SUBNET "{\"subnet\":\"10.1.0.0/24\""

START_TEST(keys_of_blocks_are_decoded)
{
	struct pool_blocks b;

	ck_assert_str_eq(decode("rail0", SUBNET ",\"blockSize\":16}", &b), "");
	ck_assert(b.shared && b.bits == 4 && b.warm == 16 && !b.strict);
	ck_assert_int_eq(b.idle, INT64_C(600000000000));
	ck_assert_str_eq(decode("rail0",
				SUBNET ",\"blockSize\":1,\"warm\":0,\"idle\":5,"
				       "\"fence\":\"strict\"}",
				&b),
			 "");
	ck_assert(b.shared && b.bits == 0 && b.warm == 0 && b.strict && b.idle == 5000000000);
	ck_assert_str_eq(decode("rail0", "{\"subnet\":\"fd00::/64\",\"blockSize\":65536}", &b), "");
	ck_assert_uint_eq(b.bits, 16);
	ck_assert_str_eq(decode("Rail_0", SUBNET "}", &b), "");
	ck_assert(!b.shared);
}
END_TEST

/* Other pools with `sticky` keep what they had: a block of several addresses belongs to a node. */
START_TEST(sticky_addresses_of_single_blocks_move)
{
	struct pool_blocks b;

	ck_assert_str_eq(decode("r", SUBNET ",\"blockSize\":1,\"sticky\":true,\"warm\":4}", &b),
			 "");
	ck_assert(b.moves && b.warm == 0 && b.idle == 0);
	ck_assert_int_eq(b.keep, 86400 * INT64_C(1000000000));
	ck_assert_str_eq(
		decode("r", SUBNET ",\"blockSize\":1,\"sticky\":true,\"stickyKeep\":5}", &b), "");
	ck_assert_int_eq(b.keep, 5 * INT64_C(1000000000));
	ck_assert_str_eq(decode("r", SUBNET ",\"blockSize\":2,\"sticky\":true}", &b), "");
	ck_assert(!b.moves && b.keep == 0 && b.warm == 2 && b.idle > 0);
}
END_TEST

START_TEST(an_unknown_state_is_open)
{
	auto_json struct json *adopting = parse("{\"state\":\"adopting\"}"),
			      *other = parse("{\"state\":\"later\"}");

	ck_assert_int_eq(pool_state_of(adopting), POOL_ADOPTING);
	ck_assert_int_eq(pool_state_of(other), POOL_OPEN);
	ck_assert_int_eq(pool_state_of(NULL), POOL_OPEN);
}
END_TEST

static const struct {
	const char *name, *keys, *want;
} bad[] = {
	{ "r", "\"blockSize\":3", "blockSize: 3 is not a power of two" },
	{ "r", "\"blockSize\":0", "blockSize" },
	{ "r", "\"blockSize\":131072", "blockSize" },
	{ "r", "\"blockSize\":512", "blockSize: 512 is more than the subnet has addresses" },
	{ "r", "\"blockSize\":\"16\"", "blockSize" },
	{ "r", "\"blockSize\":16,\"warm\":-1", "warm" },
	{ "r", "\"blockSize\":16,\"idle\":-1", "idle" },
	{ "r", "\"blockSize\":16,\"fence\":\"maybe\"", "fence" },
	{ "r", "\"blockSize\":1,\"stickyKeep\":5", "stickyKeep: only a pool with \"sticky\"" },
	{ "r", "\"blockSize\":2,\"sticky\":true,\"stickyKeep\":5", "\"blockSize\": 1" },
	{ "r", "\"blockSize\":1,\"sticky\":true,\"stickyKeep\":0", "stickyKeep" },
	{ "r", "\"sticky\":true,\"stickyKeep\":5", "stickyKeep: only a pool with blocks" },
	{ "r", "\"warm\":1", "warm: only a pool with blocks has it" },
	{ "r", "\"fence\":\"off\"", "fence: only a pool with blocks has it" },
	{ "r", "\"blockSize\":16,\"slice\":{\"size\":16}", "never both" },
	{ "r", "\"blockSize\":16,\"slice\":{\"size\":16},\"state\":\"adopting\"", "never both" },
	{ "r", "\"blockSize\":16,\"state\":\"gone\"", "state" },
	{ "r", "\"slice\":{\"size\":16},\"state\":\"adopting\"", "state: only a pool with blocks" },
	{ "r", "\"blockSize\":16,\"thisNodeOnly\":true", "thisNodeOnly: blocks are for" },
	{ "r", "\"blockSize\":16,\"quota\":3", "quota" },
	{ "Rail", "\"blockSize\":16", "\"Rail\"" },
	{ "rail-", "\"blockSize\":16", "\"rail-\"" },
	{ "a234567890123456789012345678901", "\"blockSize\":16", "at most 30" },
};

START_TEST(bad_keys_are_refused)
{
	struct pool_blocks b;
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		(void)snprintf(text, sizeof(text), SUBNET ",%s}", bad[i].keys);
		const char *have = decode(bad[i].name, text, &b);
		ck_assert_msg(strstr(have, bad[i].want), "%s: %s", bad[i].keys, have);
		(void)snprintf(text, sizeof(text), "pool %s: ", bad[i].name);
		ck_assert_msg(strncmp(have, text, strlen(text)) == 0, "%s", have);
	}
}
END_TEST

/* An older version must find no subnet: it would assign addresses of all nodes. */
START_TEST(the_record_hides_the_subnet_from_older_versions)
{
	auto_json struct json *def = parse(SUBNET ",\"blockSize\":16}");
	auto_free char *by_hand = pool_record(def),
		       *shared = pool_record_shared(
			       &(struct pool_text){ .def = def, .uid = "u1", .generation = 7 });
	auto_json struct json *old = parse(by_hand);
	auto_pool_text struct pool_text text = { .tree = NULL };
	auto_clean(source_clear) struct source s = { .label = "" };
	auto_pool_text struct pool_text t = { .tree = NULL };

	ck_assert_ptr_null(json_get(old, "subnet"));
	ck_assert_int_eq(pool_load("rail0", shared, &text, &s, &e), 0);
	ck_assert_str_eq(s.blocks.uid, "u1");
	ck_assert_int_eq(text.generation, 7);
	ck_assert_int_eq(pool_parse(by_hand, "d/rail0", &t, &e), 0);
	ck_assert_ptr_null(t.uid);
	ck_assert_str_eq(json_str(json_get(t.def, "subnet")), "10.1.0.0/24");
}
END_TEST

START_TEST(a_damaged_record_is_refused)
{
	static const char *const texts[] = { "{\"shared\":{}}", "{\"shared\":3}",
					     "{\"shared\":{\"definition\":{},\"uid\":\"\"}}",
					     "{\"shared\":{\"definition\":{},\"uid\":3}}" };
	struct pool_text t;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		ck_assert_int_eq(pool_parse(texts[i], "d/rail0", &t, &e), -1);
		ck_assert_msg(strncmp(e.msg, "d/rail0: shared", 15) == 0, "%s", e.msg);
	}
}
END_TEST

static struct ip ip(const char *text)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(text, &a), 0);
	return a;
}

/* The block of an address: its range, its id, and back from the id. */
static void block_is(unsigned bits, const char *a, const char *first, const char *last)
{
	struct ip_range r = pool_block_range(bits, ip(a));
	char id[KEY_ID_LEN + 1];
	struct ip start;

	ck_assert(ip_equal(r.first, ip(first)) && ip_equal(r.last, ip(last)));
	ck_assert(pool_block_of(pool_block_id(r.first, id), ip(a), &start));
	ck_assert(ip_equal(start, r.first));
	ck_assert(pool_block_of(id, r.last, &start) && ip_equal(start, r.first));
}

START_TEST(a_block_is_found_by_its_id)
{
	char id[KEY_ID_LEN + 1];
	struct ip start;

	block_is(4, "10.1.0.21", "10.1.0.16", "10.1.0.31");
	block_is(0, "10.1.0.21", "10.1.0.21", "10.1.0.21");
	block_is(16, "fd00::1:0:0:5", "fd00::1:0:0:0", "fd00::1:0:0:ffff");
	block_is(4, "fd00:0:0:1:ffff:ffff:ffff:fff7", "fd00:0:0:1:ffff:ffff:ffff:fff0",
		 "fd00:0:0:1:ffff:ffff:ffff:ffff");
	ck_assert_str_eq(pool_block_id(ip("10.1.0.16"), id), "x00000000a010010");
	ck_assert(!pool_block_of(id, ip("10.1.0.15"), &start));
	ck_assert(!pool_block_of("0123456789abcdef", ip("10.1.0.15"), &start));
	ck_assert(!pool_block_of("", ip("10.1.0.15"), &start));
	ck_assert(!pool_block_of("x0000000a0100100", ip("10.1.0.16"), &start));
	ck_assert(!pool_block_of("x00000000a010010z", ip("10.1.0.16"), &start));
	/* An address too far behind the start is of another block. */
	ck_assert(!pool_block_of(id, ip("10.2.0.16"), &start));
}
END_TEST

START_TEST(a_block_has_the_usable_addresses_of_its_pool)
{
	auto_json struct json *def = parse(SUBNET ",\"blockSize\":8,\"excludes\":[\"10.1.0.3\"],"
						  "\"gateway\":\"10.1.0.6\"}");
	auto_clean(source_clear) struct source s = { .label = "" }, b = { .label = "" };

	ck_assert_int_eq(pool_decode("r", def, &s, &e), 0);
	ck_assert_int_eq(pool_block_source(&s, ip("10.1.0.0"), &b, &e), 0);
	ck_assert_uint_eq(b.usable.n, 3);
	ck_assert(ranges_capacity(&b.usable) == 5);
	ck_assert(ranges_contain(&b.usable, ip("10.1.0.7")));
	ck_assert(!ranges_contain(&b.usable, ip("10.1.0.8")));
	ck_assert_str_eq(b.id, "x00000000a010000");
	ck_assert_str_eq(b.scope, s.scope);
}
END_TEST

TEST_PROGRAM("pool_blocks", keys_of_blocks_are_decoded, sticky_addresses_of_single_blocks_move,
	     an_unknown_state_is_open, bad_keys_are_refused,
	     the_record_hides_the_subnet_from_older_versions, a_damaged_record_is_refused,
	     a_block_is_found_by_its_id, a_block_has_the_usable_addresses_of_its_pool)

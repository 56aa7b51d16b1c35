/* SPDX-License-Identifier: Apache-2.0 */
/* block_value_test.c: records of blocks and of the node survive a round trip; errors name key and
 * value. */
#include "ipam/lease/block_value.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define KEY "b/p/rail0/4/0a010010"
#define SIX "fd000000000000000000000100000000"

static struct err e;

static const char *refused(const char *key, const char *text)
{
	struct block_record r;

	ck_assert_int_eq(block_value_parse(key, text, &r, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	return e.msg;
}

START_TEST(block_round_trip)
{
	struct block_record r = { .key = { .pool = "rail0", .start = { IP_V4, 0x0a010010 } },
				  .token = UINT64_C(0xfedcba9876543210),
				  .epoch = UINT64_MAX,
				  .identity = "ns/web-0/net1",
				  .probe = true,
				  .unwanted = true };
	struct block_record again;
	struct key k;

	for (r.state = BLOCK_WANTED; r.state <= BLOCK_LOST; r.state++) {
		auto_free char *text = block_value_print(&r);

		block_value_key(&r.key, &k);
		ck_assert_str_eq(k.s, KEY);
		ck_assert_int_eq(block_value_parse(k.s, text, &again, &e), 0);
		ck_assert(block_key_equal(&r.key, &again.key) && again.state == r.state);
		ck_assert(again.token == r.token && again.epoch == r.epoch && again.probe);
		ck_assert(again.unwanted);
		ck_assert_str_eq(again.identity, r.identity);
	}
}
END_TEST

START_TEST(a_pod_with_all_names_has_an_identity)
{
	static const char *const bad[][3] = {
		{ "", "web-0", "net1" },
		{ "ns", "", "net1" },
		{ "ns/web", "0", "net1" },
		{ "ns", "web/0", "net1" },
	};
	struct owner o = { .ns = "ns", .pod = "web-0", .ifname = "net1" };
	char text[IDENTITY_LEN], longest[400] = "";

	block_identity(&o, text);
	ck_assert_str_eq(text, "ns/web-0/net1");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		o = (struct owner){ .ns = bad[i][0], .pod = bad[i][1], .ifname = bad[i][2] };
		block_identity(&o, text);
		ck_assert_str_eq(text, "");
	}
	memset(longest, 'a', sizeof(longest) - 1);
	o = (struct owner){ .ns = "ns", .pod = longest, .ifname = "net1" };
	block_identity(&o, text);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(damaged_block_names_key_and_value)
{
	ck_assert_str_eq(
		refused(KEY, "{\"state\":\"lent\"}"),
		"the store's record b/p/rail0/4/0a010010 is damaged "
		"({\"state\":\"lent\"}): block.state: must be one of wanted, asked, granted, "
		"returning, contested, lost, lending, got \"lent\"");
	ck_assert_ptr_nonnull(strstr(refused(KEY, "{\"state\":\"lost\",\"token\":\"12\"}"),
				     "token: \"12\" is not 16 hexadecimal digits"));
	ck_assert_ptr_nonnull(strstr(refused(KEY, "{\"state\":\"lost\",\"epoch\":\"-1\"}"),
				     "epoch: \"-1\" is not a number"));
	ck_assert_ptr_nonnull(
		strstr(refused("b/n/net/4/0a010010", "{\"state\":\"lost\"}"), "not the key"));
	ck_assert_ptr_nonnull(
		strstr(refused("b/p/x/4/0a0100", "{\"state\":\"lost\"}"), "not the key"));
	ck_assert_ptr_nonnull(
		strstr(refused(KEY, "{\"state\":\"lost\",\"token\":\"0x34567890123456\"}"),
		       "is not 16 hexadecimal digits"));
	ck_assert_ptr_nonnull(strstr(refused("b/p/a-name-of-a-pool-that-has-31-bytes/4/0a010010",
					     "{\"state\":\"lost\"}"),
				     "not the key"));
	(void)refused(KEY, "[");
	(void)refused(KEY, "{}");
}
END_TEST

#define LOAN_KEY "l/p/rail0/4/0a010012"

START_TEST(loan_round_trip)
{
	struct block_record r = { .key = { "rail0", { IP_V4, 0x0a010010 }, 3 },
				  .state = BLOCK_GRANTED,
				  .token = 9,
				  .lender = "n2" };
	struct block_record again;
	struct key k;
	auto_free char *text = block_value_print(&r);

	block_value_key(&r.key, &k);
	ck_assert_str_eq(k.s, LOAN_KEY);
	ck_assert_int_eq(block_value_parse(k.s, text, &again, &e), 0);
	ck_assert(block_key_equal(&r.key, &again.key) && again.token == 9);
	ck_assert_str_eq(again.lender, "n2");
}
END_TEST

START_TEST(what_a_block_lends_survives_a_round_trip)
{
	struct block_record r = { .key = { .pool = "rail0", .start = { IP_V4, 0x0a010010 } },
				  .state = BLOCK_GRANTED };
	const struct lending lends = { .key = r.key,
				       .n = 2,
				       .loans = {
					       { .at = 3, .taken = true, .to = { "n2", "h2", 7 } },
					       { .at = 0, .to = { "n3", "h3", 8 } } } };
	struct block_record again;
	struct lending l;
	auto_free char *text = block_value_print_lending(&r, &lends);

	ck_assert_int_eq(block_value_parse(KEY, text, &again, &e), 0);
	ck_assert_int_eq(again.state, BLOCK_GRANTED);
	ck_assert_int_eq(block_value_lends(KEY, text, &l, &e), 0);
	ck_assert_uint_eq(l.n, 2);
	ck_assert(block_key_equal(&l.key, &r.key));
	ck_assert(l.loans[0].taken && !l.loans[1].taken);
	ck_assert_ptr_eq(block_lent(&l, 0), &l.loans[1]);
	ck_assert_ptr_null(block_lent(&l, 1));
	auto_free char *none = block_value_print(&r);
	ck_assert_int_eq(block_value_lends(KEY, none, &l, &e), 0);
	ck_assert_uint_eq(l.n, 0);
}
END_TEST

/* Its start would be that of another block. */
START_TEST(an_address_beside_its_key_is_refused)
{
	ck_assert_ptr_nonnull(
		strstr(refused(KEY, "{\"state\":\"granted\",\"at\":4}"), "only the loan"));
	ck_assert_ptr_nonnull(
		strstr(refused(LOAN_KEY, "{\"state\":\"granted\",\"at\":4294967295}"), "at"));
	ck_assert_ptr_nonnull(strstr(refused("l/p/rail0/6/" SIX, "{\"state\":\"granted\",\"at\":"
								 "4294967294}"),
				     "at"));
	ck_assert_ptr_nonnull(
		strstr(refused(LOAN_KEY, "{\"state\":\"granted\",\"at\":2,\"lent\":[{\"at\":1,"
					 "\"node\":\"n2\"}]}"),
		       "the loan of an address lends nothing"));
}
END_TEST

START_TEST(node_round_trip)
{
	struct node_record n = { .holder = "0123456789abcdef0123456789abcdef",
				 .boot = "11111111-1111-1111-1111-111111111111",
				 .epoch = 7,
				 .give_until = INT64_MAX,
				 .fence_until = 99,
				 .beat = { "uid", "123" },
				 .beats = UINT64_MAX,
				 .frozen = 77,
				 .strays = true };
	struct node_record again;
	auto_free char *text = node_value_print(&n);

	ck_assert_ptr_null(strstr(text, "giveUntil"));
	ck_assert_int_eq(node_value_parse(text, &again, &e), 0);
	ck_assert_str_eq(again.holder, n.holder);
	ck_assert_str_eq(again.boot, n.boot);
	ck_assert(again.epoch == 7 && again.give_until == INT64_MAX && again.beats == UINT64_MAX);
	ck_assert_int_eq(again.frozen, 77);
	ck_assert(again.strays);
	ck_assert_int_eq(again.fence_until, 99);
	ck_assert_str_eq(again.beat.uid, "uid");
	ck_assert_str_eq(again.beat.version, "123");
	n.give_until = INT64_C(9007199254740993); /* no double is this number */
	auto_free char *limited = node_value_print(&n);
	ck_assert_int_eq(node_value_parse(limited, &again, &e), 0);
	ck_assert_int_eq(again.give_until, n.give_until);
}
END_TEST

static const char *damaged_node(const char *text)
{
	struct node_record n;

	ck_assert_int_eq(node_value_parse(text, &n, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	return e.msg;
}

START_TEST(no_node_record_may_give_nothing)
{
	struct node_record n = { .epoch = 9 };

	ck_assert_int_eq(node_value_parse(NULL, &n, &e), 0);
	ck_assert(n.epoch == 0 && n.frozen == 0 && !node_may_give(&n, false, "", -1));
	(void)damaged_node("[");
	(void)damaged_node("{\"boot\":7}");
	ck_assert_ptr_nonnull(strstr(damaged_node("{\"frozen\":\"x\"}"), "frozen: \"x\""));
	ck_assert_ptr_nonnull(strstr(damaged_node("{\"fenceUntil\":\"-\"}"), "fenceUntil: \"-\""));
	ck_assert_int_eq(node_value_parse("{\"beats\":\"x\"}", &n, &e), -1);
	ck_assert_str_eq(e.msg, "the store's record m/node is damaged ({\"beats\":\"x\"}): beats: "
				"\"x\" is not a number");
}
END_TEST

static int parse_and_print(void *arg, struct err *why)
{
	struct block_record r;
	struct node_record n;

	(void)arg;
	if (block_value_parse(KEY, "{\"state\":\"granted\",\"probe\":true}", &r, why) ||
	    node_value_parse("{\"epoch\":\"1\",\"giveUntil\":\"5\",\"fenceUntil\":\"6\","
			     "\"frozen\":\"7\"}",
			     &n, why))
		return -1;
	auto_free char *a = block_value_print(&r), *b = node_value_print(&n);
	return a && b ? 0 : -1;
}

/* An absent member is 0, and is not printed. */
START_TEST(members_without_a_value_are_left_out)
{
	struct block_record r;
	struct node_record n;

	ck_assert_int_eq(block_value_parse(KEY, "{\"state\":\"lost\"}", &r, &e), 0);
	auto_free char *block = block_value_print(&r);
	ck_assert_str_eq(block, "{\"state\":\"lost\",\"token\":\"0000000000000000\"}");
	ck_assert_int_eq(node_value_parse("{}", &n, &e), 0);
	auto_free char *node = node_value_print(&n);
	ck_assert_str_eq(node, "{\"holder\":\"\",\"boot\":\"\",\"uid\":\"\",\"version\":\"\"}");
}
END_TEST

START_TEST(the_text_stays_the_same)
{
	struct block_record r = { .state = BLOCK_GRANTED,
				  .token = 0xabc,
				  .epoch = UINT64_MAX,
				  .since = 5,
				  .identity = "a/b/c",
				  .lender = "n",
				  .probe = true,
				  .unwanted = true };
	struct lending l = { .n = 1, .loans = { { .at = 3, .to = { "b", "h", 2 } } } };
	struct node_record n = { "h", "b", UINT64_MAX, 7, 8, { "u", "v" }, 9, 10, true };

	auto_free char *lends = block_value_print_lending(&r, &l);
	ck_assert_str_eq(lends,
			 "{\"state\":\"lending\",\"token\":\"0000000000000abc\",\"epoch\":"
			 "\"18446744073709551615\",\"since\":\"5\",\"identity\":\"a/b/c\","
			 "\"lender\":\"n\",\"probe\":true,\"unwanted\":true,\"lent\":[{\"at\":3,"
			 "\"node\":\"b\",\"holder\":\"h\",\"token\":\"0000000000000002\"}]}");
	r = (struct block_record){ .state = BLOCK_GRANTED, .key = { .one = 5 } };
	auto_free char *loan = block_value_print(&r);
	ck_assert_str_eq(loan, "{\"state\":\"granted\",\"token\":\"0000000000000000\",\"at\":4}");
	auto_free char *node = node_value_print(&n);
	ck_assert_str_eq(node,
			 "{\"holder\":\"h\",\"boot\":\"b\",\"epoch\":\"18446744073709551615\","
			 "\"giveUntil\":\"7\",\"fenceUntil\":\"8\",\"uid\":\"u\",\"version\":\"v\","
			 "\"beats\":\"9\",\"frozen\":\"10\",\"strays\":true}");
	n = (struct node_record){ .give_until = -1, .fence_until = -1, .frozen = -1 };
	auto_free char *early = node_value_print(&n);
	ck_assert_str_eq(early, "{\"holder\":\"\",\"boot\":\"\",\"giveUntil\":\"0\",\"uid\":\"\","
				"\"version\":\"\"}");
}
END_TEST

START_TEST(without_memory_nothing_is_damaged)
{
	ck_assert_str_eq(alloc_fail_each(parse_and_print, NULL), "ok");
}
END_TEST

TEST_PROGRAM("block_value", the_text_stays_the_same, loan_round_trip,
	     what_a_block_lends_survives_a_round_trip, an_address_beside_its_key_is_refused,
	     block_round_trip, a_pod_with_all_names_has_an_identity,
	     damaged_block_names_key_and_value, node_round_trip, no_node_record_may_give_nothing,
	     members_without_a_value_are_left_out, without_memory_nothing_is_damaged)

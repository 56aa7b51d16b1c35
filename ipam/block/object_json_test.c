/* SPDX-License-Identifier: Apache-2.0 */
/* object_json_test.c: values of blocks and heartbeats are read back; bad ones are refused by key.
 */
#include "ipam/block/object_json.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static int read_block(const char *text, struct block *out, struct err *e)
{
	auto_json struct json *tree = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), "test", &tree, e), 0);
	return block_from_json(tree, "block rail0-0a", out, e);
}

static struct block round_trip(const struct block *b)
{
	auto_json struct json *tree = block_to_json(b);
	struct block back;
	struct err e;

	ck_assert_ptr_nonnull(tree);
	ck_assert_int_eq(block_from_json(tree, "block", &back, &e), 0);
	return back;
}

START_TEST(a_block_is_read_back)
{
	struct block b = { .pool_uid = "uid-1",
			   .owner = { "node-a", "0123456789abcdef0123456789abcdef", UINT64_MAX },
			   .asker = { "node-b", "ffffffffffffffffffffffffffffffff", 7 },
			   .contested = true,
			   .kept = true,
			   .migrates = true,
			   .touched = 1ULL << 50,
			   .used = 16,
			   .probe = true };
	struct block back = round_trip(&b);

	ck_assert_str_eq(back.pool_uid, b.pool_uid);
	ck_assert(party_equal(&back.owner, &b.owner));
	ck_assert(party_equal(&back.asker, &b.asker));
	ck_assert(back.contested && back.kept && back.migrates && back.probe);
	ck_assert_uint_eq(back.touched, b.touched);
	ck_assert_uint_eq(back.used, 16);
}
END_TEST

START_TEST(a_free_block_has_no_owner_and_no_ask)
{
	struct block b = { .pool_uid = "uid-1" }, back = round_trip(&b);

	ck_assert_str_eq(back.owner.node, "");
	ck_assert_uint_eq(back.owner.token, 0);
	ck_assert_str_eq(back.asker.node, "");
	ck_assert(!back.contested && !back.kept && !back.migrates && !back.probe);
}
END_TEST

static const struct block LENDING = {
	.pool_uid = "uid-1",
	.owner = { "node-a", "0123456789abcdef0123456789abcdef", 9 },
	.asker = { "node-d", "ffffffffffffffffffffffffffffffff", 7 },
	.asks_one = 4,
	.n_loans = 2,
	.loans = { { .at = 0, .taken = true, .returned = true, .to = { "node-b", "b", 1 } },
		   { .at = 3, .to = { "node-c", "c", 2 } } },
};

START_TEST(loans_are_read_back)
{
	struct block b = LENDING, back = round_trip(&b);

	ck_assert(party_equal(&back.owner, &b.owner) && back.asks_one == 4);
	ck_assert_uint_eq(back.n_loans, 2);
	ck_assert(back.loans[0].taken && back.loans[0].returned && back.loans[0].at == 0);
	ck_assert(!back.loans[1].taken && !back.loans[1].returned && back.loans[1].at == 3);
	ck_assert(party_equal(&back.loans[1].to, &b.loans[1].to));
	b.asks_one = LOAN_ANY;
	b.owner = (struct block_party){ 0 };
	back = round_trip(&b);
	ck_assert(back.asks_one == LOAN_ANY && !*back.owner.node && !back.owner.token);
	ck_assert_uint_eq(back.n_loans, 2);
}
END_TEST

/* The token of a block is 16 digits to an agent that does not know loans: it leaves this one alone.
 */
START_TEST(a_block_with_loans_has_a_token_that_older_agents_refuse)
{
	auto_json struct json *v = block_to_json(&LENDING);
	struct block back;
	struct err e;

	ck_assert_str_eq(json_str(json_get(v, "token")), "0000000000000009+");
	json_del(v, "loans");
	ck_assert_int_eq(block_from_json(v, "block", &back, &e), -1);
	ck_assert_str_eq(e.msg, "block.token: \"0000000000000009+\" is of a block with loans, and "
				"it has none");
	ck_assert_int_eq(read_block("{\"token\":\"0000000000000009\",\"loans\":[{\"at\":1,"
				    "\"node\":\"b\"}]}",
				    &back, &e),
			 -1);
	ck_assert_int_eq(read_block("{\"token\":\"+\",\"loans\":[{\"node\":\"b\"}]}", &back, &e),
			 -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "at"));
}
END_TEST

START_TEST(a_block_lends_an_address_once)
{
	struct block back;
	struct err e;

	ck_assert_int_eq(read_block("{\"token\":\"+\",\"loans\":[{\"at\":1,\"node\":\"b\"},"
				    "{\"at\":0,\"node\":\"b\"},{\"at\":1,\"node\":\"c\"}]}",
				    &back, &e),
			 -1);
	ck_assert_str_eq(e.msg, "block rail0-0a.loans: address 1 twice");
}
END_TEST

static void prints(struct json *tree, const char *expected)
{
	auto_json struct json *own = tree;
	auto_free char *text = own ? json_print(own, false) : NULL;

	ck_assert_str_eq(text, expected);
}

START_TEST(the_text_stays_the_same)
{
	struct block b = LENDING;
	struct node_pool p = { "rail0", "u", 3, "why" };
	auto_json struct json *list = json_new_array(), *o = json_new_object();

	prints(block_to_json(&b),
	       "{\"poolUID\":\"uid-1\",\"node\":\"node-a\",\"holder\":"
	       "\"0123456789abcdef0123456789abcdef\",\"touched\":0,\"used\":0,\"ask\":{\"node\":"
	       "\"node-d\",\"holder\":\"ffffffffffffffffffffffffffffffff\",\"token\":"
	       "\"0000000000000007\",\"loan\":4},\"token\":\"0000000000000009+\",\"loans\":["
	       "{\"at\":0,\"node\":\"node-b\",\"holder\":\"b\",\"token\":\"0000000000000001\","
	       "\"taken\":true,\"returned\":true},{\"at\":3,\"node\":\"node-c\",\"holder\":\"c\","
	       "\"token\":\"0000000000000002\"}]}");
	b.n_loans = 0;
	b.contested = b.migrates = b.kept = b.probe = true;
	b.asks_one = LOAN_ANY;
	(void)strcpy(b.identity, "a/b/c");
	(void)strcpy(b.parked_by, "n");
	b.parked = 5;
	prints(block_to_json(&b),
	       "{\"poolUID\":\"uid-1\",\"node\":\"node-a\",\"holder\":"
	       "\"0123456789abcdef0123456789abcdef\",\"token\":\"0000000000000009\",\"touched\":0,"
	       "\"used\":0,\"probe\":true,\"ask\":{\"node\":\"node-d\",\"holder\":"
	       "\"ffffffffffffffffffffffffffffffff\",\"token\":\"0000000000000007\","
	       "\"contested\":true,\"migrates\":true,\"any\":true,\"kept\":true},"
	       "\"identity\":\"a/b/c\",\"parked\":{\"by\":\"n\",\"at\":5}}");
	b = (struct block){ .identity = "a/b/c" };
	prints(block_to_json(&b), "{\"poolUID\":\"\",\"touched\":0,\"used\":0,"
				  "\"identity\":\"a/b/c\",\"parked\":{\"at\":0}}");
	prints(heartbeat_to_json(&(struct heartbeat){ "h", "b", "m", 9, true }),
	       "{\"holder\":\"h\",\"boot\":\"b\",\"machine\":\"m\",\"twin\":true,\"count\":9}");
	prints(heartbeat_to_json(&(struct heartbeat){ .count = 0 }),
	       "{\"holder\":\"\",\"boot\":\"\",\"count\":0}");
	prints(node_to_json(&(struct cluster_node){ "h", "b", "m", "1", true, { "u", "2" } }),
	       "{\"holder\":\"h\",\"boot\":\"b\",\"machine\":\"m\",\"version\":\"1\","
	       "\"forgotten\":{\"uid\":\"u\",\"version\":\"2\"}}");
	prints(node_to_json(&(struct cluster_node){ .forgotten = false }),
	       "{\"holder\":\"\",\"boot\":\"\",\"version\":\"\"}");
	ck_assert(!node_pool_add(list, &p));
	*p.waits = '\0';
	ck_assert(!node_pool_add(list, &p) && !node_reserved_put(o, &p));
	prints(TAKE_PTR(list),
	       "[{\"name\":\"rail0\",\"uid\":\"u\",\"generation\":3,\"waits\":\"why\"},"
	       "{\"name\":\"rail0\",\"uid\":\"u\",\"generation\":3}]");
	prints(TAKE_PTR(o), "{\"reserved\":{\"name\":\"rail0\",\"uid\":\"u\",\"generation\":3}}");
}
END_TEST

START_TEST(a_parked_block_is_read_back)
{
	struct block b = { .identity = "ns/web-0/net1",
			   .parked_by = "node-a",
			   .parked = 1764000000 };
	struct block back = round_trip(&b);

	ck_assert(block_is_parked(&back));
	ck_assert_str_eq(back.identity, "ns/web-0/net1");
	ck_assert_str_eq(back.parked_by, "node-a");
	ck_assert_int_eq(back.parked, 1764000000);
	/* Its next owner has not confirmed it yet. */
	(void)snprintf(b.owner.node, sizeof(b.owner.node), "node-b");
	back = round_trip(&b);
	ck_assert(!block_is_parked(&back));
	ck_assert_str_eq(back.parked_by, "node-a");
	b.parked_by[0] = '\0';
	b.parked = 0;
	back = round_trip(&b);
	ck_assert_str_eq(back.identity, "ns/web-0/net1");
	ck_assert_str_eq(back.parked_by, "");
	ck_assert_int_eq(back.parked, 0);
}
END_TEST

START_TEST(keys_of_a_newer_agent_are_ignored)
{
	struct block b;
	struct err e;

	ck_assert_int_eq(read_block("{\"poolUID\":\"u\",\"colour\":{\"a\":1}}", &b, &e), 0);
	ck_assert_str_eq(b.pool_uid, "u");
}
END_TEST

START_TEST(a_bad_value_is_refused_with_its_key)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "{\"token\":\"12\"}", "token" },
		{ "{\"token\":\"0x34567890123456\"}", "token" },
		{ "{\"ask\":{\"token\":\"no\"}}", "ask.token" },
		{ "{\"ask\":[]}", "ask" },
		{ "{\"used\":-1}", "used" },
		{ "{\"touched\":1.5}", "touched" },
		{ "{\"holder\":\"0123456789abcdef0123456789abcdef0\"}", "holder" },
	};
	struct block b;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(read_block(bad[i].text, &b, &e), -1);
		ck_assert_msg(strstr(e.msg, bad[i].says) && strstr(e.msg, "block rail0-0a"), "%s",
			      e.msg);
	}
}
END_TEST

START_TEST(a_heartbeat_is_read_back)
{
	struct heartbeat h = { "0123456789abcdef0123456789abcdef", "boot-1", "machine-1", 42,
			       true },
			 back;
	auto_json struct json *tree = heartbeat_to_json(&h);
	struct err e;

	ck_assert_int_eq(heartbeat_from_json(tree, "heartbeat", &back, &e), 0);
	ck_assert_str_eq(back.holder, h.holder);
	ck_assert_str_eq(back.boot, h.boot);
	ck_assert_str_eq(back.machine, h.machine);
	ck_assert_uint_eq(back.count, 42);
	ck_assert(back.twin);
}
END_TEST

START_TEST(a_node_is_read_back)
{
	struct cluster_node n = { .holder = "0123456789abcdef0123456789abcdef",
				  .boot = "boot-1",
				  .machine = "machine-1",
				  .version = "0.1.0" },
			    back;
	struct err e;

	for (int forgotten = 0; forgotten < 2; forgotten++) {
		n.forgotten = forgotten;
		if (forgotten)
			n.evidence = (struct cluster_version){ "u1", "12-ab" };
		auto_json struct json *tree = node_to_json(&n);
		ck_assert_int_eq(node_from_json(tree, "node", &back, &e), 0);
		ck_assert_str_eq(back.holder, n.holder);
		ck_assert_str_eq(back.boot, n.boot);
		ck_assert_str_eq(back.machine, n.machine);
		ck_assert_str_eq(back.version, n.version);
		ck_assert(back.forgotten == n.forgotten);
		ck_assert_str_eq(back.evidence.uid, n.evidence.uid);
		ck_assert_str_eq(back.evidence.version, n.evidence.version);
	}
}
END_TEST

static int print_each(void *arg, struct err *e)
{
	const struct block b = { .pool_uid = "uid-1",
				 .owner = { "node-a", "0123456789abcdef0123456789abcdef", 1 },
				 .asker = { "node-b", "ffffffffffffffffffffffffffffffff", 7 },
				 .contested = true,
				 .kept = true,
				 .migrates = true,
				 .probe = true };
	const struct heartbeat h = { "0123456789abcdef0123456789abcdef", "boot-1", "machine-1", 42,
				     true };
	const struct cluster_node n = { .holder = "0123456789abcdef0123456789abcdef",
					.boot = "boot-1",
					.machine = "machine-1",
					.version = "0.1.0",
					.forgotten = true,
					.evidence = { "u1", "12" } };
	auto_json struct json *block = block_to_json(&b);
	auto_json struct json *beat = block ? heartbeat_to_json(&h) : NULL;
	auto_json struct json *node = beat ? node_to_json(&n) : NULL;

	(void)arg;
	return node ? 0 : err_nomem(e);
}

START_TEST(without_memory_there_is_no_value)
{
	ck_assert_str_eq(alloc_fail_each(print_each, NULL), "ok");
}
END_TEST

START_TEST(a_forgotten_node_needs_readable_evidence)
{
	static const char text[] = "{\"forgotten\":{\"uid\":7}}";
	auto_json struct json *tree = NULL;
	struct cluster_node n;
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "test", &tree, &e), 0);
	ck_assert_int_eq(node_from_json(tree, "node n1", &n, &e), -1);
	ck_assert_msg(strstr(e.msg, "node n1") && strstr(e.msg, "forgotten"), "%s", e.msg);
}
END_TEST

TEST_PROGRAM("object_json", the_text_stays_the_same, a_block_is_read_back,
	     a_free_block_has_no_owner_and_no_ask, loans_are_read_back,
	     a_block_with_loans_has_a_token_that_older_agents_refuse, a_block_lends_an_address_once,
	     a_parked_block_is_read_back, keys_of_a_newer_agent_are_ignored,
	     a_bad_value_is_refused_with_its_key, a_heartbeat_is_read_back, a_node_is_read_back,
	     without_memory_there_is_no_value, a_forgotten_node_needs_readable_evidence)

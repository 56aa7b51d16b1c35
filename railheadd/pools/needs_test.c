/* SPDX-License-Identifier: Apache-2.0 */
/* needs_test.c: an ADD that waits for the block of one certain address. */
#include "railheadd/testing/driver_ask.h"

#define TWO                                                                                        \
	"{\"subnet\":\"10.1.0.0/24\",\"ranges\":[\"10.1.0.4-10.1.0.7\"],\"blockSize\":2,"          \
	"\"warm\":0,\"cooldown\":0}"
#define FOUR "rail0-0000000000000000000000000a010004"
#define SIX  "rail0-0000000000000000000000000a010006"

static struct driver_need *begin_address(const char *address, int64_t wait_ms, struct outcome *o)
{
	struct driver_need_ask ask = { .pool = "rail0", .wait_ms = wait_ms };
	struct driver_need *n;

	ck_assert_int_eq(ip_parse(address, &ask.ip), 0);
	*o = (struct outcome){ .done = false };
	n = driver_need(b.driver, &ask, need_done, o);
	ck_assert_ptr_nonnull(n);
	return n;
}

static int need_address(const char *address, struct outcome *o)
{
	(void)begin_address(address, 50000, o);
	loop_until(b.base, is_done, o);
	return (int)o->why.code;
}

static void begin_two(void)
{
	begin();
	pool("rail0", TWO);
	begin_driver();
	ready();
	loop_until(b.base, knows_pool, "rail0");
}

static void of_node(const char *node, const char *name, unsigned used)
{
	auto_json struct json *status = json_new_object();
	char value[200];
	struct err e;

	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	const struct json *known = json_first(json_get(status, "pools"));

	(void)snprintf(value, sizeof(value),
		       "{\"poolUID\":\"%s\",\"node\":\"%s\",\"holder\":\"h2\","
		       "\"token\":\"0000000000000001\",\"touched\":0,\"used\":%u}",
		       json_str(json_get(known, "uid")), node, used);
	memory_store_put(b.store, CLUSTER_BLOCK, name, node, value);
}

/* A block of node n2. */
static void of_other(const char *name, unsigned used)
{
	of_node("n2", name, used);
}

START_TEST(exactly_that_block_is_claimed)
{
	struct outcome o;

	begin_two();
	ck_assert_int_eq(need_address("10.1.0.7", &o), 0);
	ck_assert(memory_store_has(b.store, CLUSTER_BLOCK, SIX));
	ck_assert(!memory_store_has(b.store, CLUSTER_BLOCK, FOUR));
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c1", "IP=10.1.0.7"), "10.1.0.7");
	/* Again at once. */
	ck_assert_int_eq(need_address("10.1.0.6", &o), 0);
	end();
}
END_TEST

static bool is_asked(const void *name)
{
	auto_free char *text = memory_store_text(b.store, CLUSTER_BLOCK, name);

	return text && strstr(text, "\"ask\"");
}

START_TEST(the_owner_is_asked_and_named)
{
	struct outcome o, again;

	begin_two();
	of_other(SIX, 0);
	(void)begin_address("10.1.0.7", 50000, &o);
	(void)begin_address("10.1.0.6", 50000, &again);
	loop_until(b.base, is_asked, SIX);
	/* Its answer: a pod lives there. */
	of_other(SIX, 1);
	loop_until(b.base, is_done, &o);
	loop_until(b.base, is_done, &again);
	ck_assert_int_eq((int)o.why.code, ERR_BUSY);
	ck_assert_str_eq(o.why.msg, "address 10.1.0.7 of pool rail0 is in a block of node n2, "
				    "which uses 1 of its addresses");
	ck_assert_ptr_nonnull(strstr(again.why.msg, "address 10.1.0.6"));
	ck_assert(!memory_store_has(b.store, CLUSTER_BLOCK, FOUR));
	end();
}
END_TEST

START_TEST(a_silent_owner_is_named_too)
{
	struct outcome o;

	begin_two();
	of_other(SIX, 0);
	ck_assert_int_eq(need_address("10.1.0.7", &o), ERR_BUSY);
	ck_assert_str_eq(o.why.msg, "address 10.1.0.7 of pool rail0 is in a block of node n2, "
				    "which did not give it up");
	/* The ask was taken back. */
	ck_assert(!is_asked(SIX));
	end();
}
END_TEST

START_TEST(other_needs_of_the_pool_go_on)
{
	struct outcome o, any = { .done = false };

	begin_two();
	of_other(SIX, 0);
	(void)begin_address("10.1.0.7", 50000, &o);
	ck_assert_int_eq(need("rail0", &any), 0);
	ck_assert(memory_store_has(b.store, CLUSTER_BLOCK, FOUR));
	driver_need_cancel(begin_address("10.1.0.4", 50000, &any));
	loop_until(b.base, is_done, &o);
	ck_assert_int_eq((int)o.why.code, ERR_BUSY);
	end();
}
END_TEST

START_TEST(a_pool_that_comes_later_is_waited_for)
{
	struct outcome o;

	begin();
	begin_driver();
	(void)begin_address("10.1.0.7", 50000, &o);
	pool("rail0", TWO);
	loop_until(b.base, is_done, &o);
	ck_assert(o.why.code == 0 || o.why.code == ERR_NOTFOUND);
	ck_assert_int_eq(need_address("10.1.0.7", &o), 0);
	end();
}
END_TEST

START_TEST(a_store_that_gives_no_answer_is_said_so)
{
	struct outcome o;

	begin_two();
	memory_store_fail(b.store, CLUSTER_AWAY, 1000);
	ck_assert_int_eq(need_address("10.1.0.7", &o), ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "the cluster store gives no answer"));
	memory_store_fail(b.store, CLUSTER_REFUSED, 1000);
	ck_assert_int_eq(need_address("10.1.0.7", &o), ERR_AGAIN);
	memory_store_fail(b.store, CLUSTER_OK, 0);
	while (need_address("10.1.0.7", &o))
		ck_assert_int_eq((int)o.why.code, ERR_AGAIN);
	end();
}
END_TEST

/* n2 has both blocks, and says how much of one it uses when it is asked. */
START_TEST(a_full_pool_names_who_has_how_much)
{
	struct outcome o = { .done = false };

	begin_two();
	of_other(SIX, 1);
	of_other(FOUR, 2);
	ck_assert_int_eq(need("rail0", &o), ERR_EXHAUSTED);
	ck_assert_str_eq(o.why.msg, "pool rail0 is full: each of its blocks has an owner, none of "
				    "them is empty, and no node lends one of its addresses");
	ck_assert_str_eq(o.why.detail,
			 "node n2 has 2 blocks; addresses without a pod in blocks of other nodes: "
			 "1; wait for the cooldown, or see `railctl cluster node list` for nodes "
			 "that do not answer");
	memory_store_delete(b.store, CLUSTER_BLOCK, FOUR);
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_ptr_nonnull(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""));
	ck_assert_ptr_nonnull(w_add(&w, "{\"pool\":\"rail0\"}", "c2", ""));
	of_other(SIX, 2);
	ck_assert_int_eq(need("rail0", &o), ERR_EXHAUSTED);
	ck_assert_str_eq(o.why.detail, "node n1 has 1 block, n2 has 1; enlarge \"ranges\", or "
				       "make another pool");
	end();
}
END_TEST

/* Eight blocks of five nodes. */
START_TEST(three_nodes_are_named_and_the_others_are_counted)
{
	static const char *const nodes[] = { "n2", "n3", "n3", "n3", "n4", "n4", "n5" };
	struct outcome o = { .done = false };
	char name[64];

	begin();
	pool("rail0", "{\"subnet\":\"10.1.0.0/24\",\"ranges\":[\"10.1.0.8-10.1.0.15\"],"
		      "\"blockSize\":1,\"warm\":0}");
	begin_driver();
	ready();
	loop_until(b.base, knows_pool, "rail0");
	for (size_t i = 0; i <= ARRAY_SIZE(nodes); i++) {
		(void)snprintf(name, sizeof(name), "rail0-%032x", (unsigned)(0x0a010008 + i));
		of_node(i < ARRAY_SIZE(nodes) ? nodes[i] : "n6", name, 1);
	}
	ck_assert_int_eq(need("rail0", &o), ERR_EXHAUSTED);
	ck_assert_str_eq(o.why.detail,
			 "node n3 has 3 blocks, n4 has 2, n2 has 1, 2 other nodes have 2; enlarge "
			 "\"ranges\", or make another pool");
	end();
}
END_TEST

TEST_PROGRAM("needs", a_full_pool_names_who_has_how_much,
	     three_nodes_are_named_and_the_others_are_counted, exactly_that_block_is_claimed,
	     the_owner_is_asked_and_named, a_silent_owner_is_named_too,
	     other_needs_of_the_pool_go_on, a_pool_that_comes_later_is_waited_for,
	     a_store_that_gives_no_answer_is_said_so)

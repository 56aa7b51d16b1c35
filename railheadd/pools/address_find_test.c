/* SPDX-License-Identifier: Apache-2.0 */
/* address_find_test.c: addresses of a cluster store in memory. */
#include "railheadd/pools/address_find.h"

#include <event2/event.h>

#include "cluster/testing/loop.h"
#include "lib/testing/testing.h"
#include "railheadd/testing/memory_store.h"

static struct event_base *base;
static struct memory_store *store;

struct asked {
	bool done;
	char *text;
	struct err why;
};

#define PARTY(n) "\"node\":\"" n "\",\"holder\":\"h\",\"token\":\"1111111111111111\""
#define OF(n)    "{" PARTY(n) ",\"touched\":1,\"poolUID\":\"u\""
#define LENDS                                                                                      \
	"{\"node\":\"n1\",\"holder\":\"h\",\"token\":\"1111111111111111+\",\"touched\":1,"         \
	"\"poolUID\":\"u\",\"loans\":[{\"at\":1," PARTY(                                           \
		"n2") ",\"taken\":true},"                                                          \
		      "{\"at\":2," PARTY("n3") "},{\"at\":3," PARTY(                               \
			      "n3") ",\"taken\":true,\"returned\":true}]}"

static void begin(void)
{
	base = loop_new();
	store = memory_store_new(base);
	memory_store_put(
		store, CLUSTER_POOL, "rail0", "",
		"{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"excludes\":[\"10.1.0.9\"]}");
	memory_store_put(store, CLUSTER_POOL, "six", "",
			 "{\"subnet\":\"fd00::/64\",\"blockSize\":4}");
	memory_store_put(store, CLUSTER_POOL, "bad", "", "{\"subnet\":7}");
	memory_store_put(store, CLUSTER_BLOCK, "rail0-0000000000000000000000000a010010", "n1",
			 LENDS);
	memory_store_put(store, CLUSTER_BLOCK, "six-fd000000000000000000000000000004", "n3",
			 OF("n3") "}");
	memory_store_put(store, CLUSTER_BLOCK, "rail0-0000000000000000000000000a010020", "",
			 "{\"touched\":1,\"poolUID\":\"u\",\"identity\":\"default/web-0/net1\","
			 "\"token\":\"1111111111111111\",\"holder\":\"h\","
			 "\"parked\":{\"by\":\"n1\",\"at\":5}}");
}

static void end(void)
{
	memory_store_ops(store)->ops->close(memory_store_ops(store));
	loop_free(base);
}

static void done(void *arg, const struct json *answer, const struct err *why)
{
	struct asked *a = arg;

	ck_assert(!a->done && !answer == (why != NULL));
	a->done = true;
	if (why)
		a->why = *why;
	else
		a->text = json_print(json_get(answer, "pools"), false);
	if (answer)
		ck_assert_str_eq(json_text(answer, "here"), "n2");
}

static bool is_done(const void *arg)
{
	return ((const struct asked *)arg)->done;
}

static struct asked asks(const char *address)
{
	struct asked a = { .done = false };
	struct address_find_ask ask = {
		.base = base, .store = memory_store_ops(store), .node = "n2", .end = { done, &a }
	};
	struct err e;

	ck_assert_int_eq(ip_parse(address, &ask.ip), 0);
	ck_assert_ptr_nonnull(address_find(&ask, &e));
	loop_until(base, is_done, &a);
	return a;
}

static void finds(const char *address, const char *want)
{
	struct asked a = asks(address);

	ck_assert_msg(a.text && strcmp(a.text, want) == 0, "%s: %s", address,
		      a.text ? a.text : a.why.msg);
	free(a.text);
}

#define HEAD(first, last)                                                                          \
	"[{\"pool\":\"rail0\",\"deleted\":false,\"first\":\"10.1.0." first                         \
	"\",\"last\":\"10.1.0." last "\",\"usable\":true,"

START_TEST(an_owner_and_its_borrowers)
{
	begin();
	finds("10.1.0.16", HEAD("16", "23") "\"owner\":\"n1\",\"node\":\"n1\"}]");
	finds("10.1.0.17",
	      HEAD("16", "23") "\"owner\":\"n1\",\"loan\":{\"node\":\"n2\",\"taken\":true,"
			       "\"returned\":false},\"node\":\"n2\"}]");
	/* No pod of n3 has one of these. */
	finds("10.1.0.18",
	      HEAD("16", "23") "\"owner\":\"n1\",\"loan\":{\"node\":\"n3\",\"taken\":false,"
			       "\"returned\":false},\"node\":\"n1\"}]");
	finds("10.1.0.19",
	      HEAD("16", "23") "\"owner\":\"n1\",\"loan\":{\"node\":\"n3\",\"taken\":true,"
			       "\"returned\":true},\"node\":\"n1\"}]");
	finds("fd00::5",
	      "[{\"pool\":\"six\",\"deleted\":false,\"first\":\"fd00::4\",\"last\":\"fd00::7\","
	      "\"usable\":true,\"owner\":\"n3\",\"node\":\"n3\"}]");
	end();
}
END_TEST

START_TEST(addresses_that_no_node_has)
{
	begin();
	finds("10.1.0.9", "[{\"pool\":\"rail0\",\"deleted\":false,\"first\":\"10.1.0.8\",\"last\":"
			  "\"10.1.0.15\",\"usable\":false,\"owner\":null,\"node\":null}]");
	finds("10.1.0.34", HEAD("32", "39") "\"owner\":null,\"identity\":\"default/web-0/net1\","
					    "\"node\":null}]");
	finds("10.9.0.1", "[]");
	end();
}
END_TEST

START_TEST(a_store_that_is_away_says_nothing)
{
	struct asked a;

	begin();
	memory_store_fail(store, CLUSTER_AWAY, 1);
	a = asks("10.1.0.16");
	ck_assert_int_eq(a.why.code, ERR_AGAIN);
	memory_store_put(store, CLUSTER_BLOCK, "rail0-0000000000000000000000000a010010", "n1",
			 "{\"token\":7}");
	a = asks("10.1.0.16");
	ck_assert_int_ne(a.why.code, 0);
	end();
}
END_TEST

START_TEST(a_question_is_cancelled)
{
	struct asked a = { .done = false };
	struct address_find_ask ask = { .node = "n2", .end = { done, &a } };
	struct err e;

	begin();
	ck_assert_int_eq(ip_parse("10.1.0.16", &ask.ip), 0);
	ck_assert_ptr_null(address_find(&ask, &e));
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ask.base = base;
	ask.store = memory_store_ops(store);
	struct ask *f = address_find(&ask, &e);
	ck_assert_ptr_nonnull(f);
	ask_cancel(f);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	ck_assert(!a.done);
	end();
}
END_TEST

TEST_PROGRAM("address_find", an_owner_and_its_borrowers, addresses_that_no_node_has,
	     a_store_that_is_away_says_nothing, a_question_is_cancelled)

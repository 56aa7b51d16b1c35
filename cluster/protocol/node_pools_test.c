/* SPDX-License-Identifier: Apache-2.0 */
/* node_pools_test.c: reports of a node there and back, and reports that cannot be read. */
#include "ipam/block/object_json.h"

#include "lib/json/json.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static bool finds(const char *value, const char *name, struct node_pool *out)
{
	auto_json struct json *tree = NULL;
	struct err e;

	ck_assert_msg(json_parse(value, strlen(value), "value", &tree, &e) == 0, "%s", e.msg);
	return node_pool_find(tree, name, out);
}

START_TEST(there_and_back)
{
	const struct node_pool a = { "rail0", "u1", 3, "" }, b = { "rail1", "u2", 0, "why" };
	auto_json struct json *value = json_new_object();
	struct json *list = json_add_array(value, "pools");
	struct node_pool out;

	ck_assert(node_pool_add(list, &a) == 0 && node_pool_add(list, &b) == 0);
	ck_assert(node_pool_find(value, "rail0", &out));
	ck_assert(strcmp(out.uid, "u1") == 0 && out.generation == 3 && !*out.waits);
	ck_assert(node_pool_find(value, "rail1", &out));
	ck_assert(strcmp(out.waits, "why") == 0 && out.generation == 0);
	ck_assert(!node_pool_find(value, "rail2", &out));
}
END_TEST

START_TEST(pools_for_other_nodes_are_a_sum)
{
	const uint64_t sum = node_pool_mark("u1", 3) + node_pool_mark("u2", 1);
	auto_json struct json *value = json_new_object(), *bad = json_new_object(),
			      *none = json_new_object();

	ck_assert_uint_ne(node_pool_mark("u1", 3), node_pool_mark("u1", 4));
	ck_assert_uint_ne(node_pool_mark("u1", 3), node_pool_mark("u2", 3));
	ck_assert_int_eq(node_elsewhere_put(value, sum), 0);
	ck_assert_uint_eq(node_elsewhere_find(value), sum);
	ck_assert_int_eq(json_add_str(bad, "elsewhere", "7"), 0);
	ck_assert_uint_eq(node_elsewhere_find(bad), 0);
	ck_assert_int_eq(node_elsewhere_put(none, 0), 0);
	ck_assert_ptr_null(json_get(none, "elsewhere"));
	ck_assert_uint_eq(node_elsewhere_find(none), 0);
}
END_TEST

START_TEST(what_cannot_be_read_says_nothing)
{
	struct node_pool out;

	ck_assert(!finds("{}", "a", &out));
	ck_assert(!finds("{\"pools\":1}", "a", &out));
	ck_assert(!finds("{\"pools\":[1,{\"name\":1},{\"uid\":\"u\"}]}", "a", &out));
	ck_assert(!finds("{\"pools\":[{\"name\":\"a\",\"generation\":-1}]}", "a", &out));
	ck_assert(!finds("{\"pools\":[{\"name\":\"a\",\"generation\":\"3\"}]}", "a", &out));
	ck_assert(!finds("{\"pools\":[{\"name\":\"a\",\"uid\":"
			 "\"1234567890123456789012345678901234567890\"}]}",
			 "a", &out));
	ck_assert(finds("{\"pools\":[{\"name\":\"a\",\"more\":[]}]}", "a", &out));
	ck_assert(!*out.uid && !out.generation);
}
END_TEST

START_TEST(reserved_addresses_there_and_back)
{
	const struct node_pool a = { "cluster", "u1", 3, "why" }, none = { .name = "cluster" };
	auto_json struct json *value = json_new_object(), *other = json_new_object();
	struct node_pool out;

	ck_assert(!node_reserved_find(value, &out));
	ck_assert_int_eq(node_reserved_put(value, &a), 0);
	ck_assert(node_reserved_find(value, &out));
	ck_assert(strcmp(out.uid, "u1") == 0 && out.generation == 3);
	ck_assert_str_eq(out.waits, "why");
	ck_assert_int_eq(node_reserved_put(other, &none), 0);
	ck_assert(node_reserved_find(other, &out));
	ck_assert(strcmp(out.name, "cluster") == 0 && !*out.uid && !out.generation);
}
END_TEST

static int add_one(void *arg, struct err *e)
{
	auto_json struct json *list = json_new_array();

	return list ? node_pool_add(list, arg) : err_nomem(e);
}

START_TEST(memory_fails)
{
	struct node_pool a = { "rail0", "u1", 3, "why" };

	ck_assert_str_eq(alloc_fail_each(add_one, &a), "ok");
}
END_TEST

TEST_PROGRAM("node_pools", there_and_back, reserved_addresses_there_and_back,
	     pools_for_other_nodes_are_a_sum, what_cannot_be_read_says_nothing, memory_fails)

/* SPDX-License-Identifier: Apache-2.0 */
/* value_test.c: objects to bytes and back, versions, and bytes that are no object. */
#include "cluster/etcd/value.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static char key[] = "/railhead/pools/p1";

static struct etcd_kv kv_of(const char *text)
{
	return (struct etcd_kv){ key, (char *)(uintptr_t)text, strlen(text), 42, 40, 3 };
}

START_TEST(there_and_back)
{
	struct etcd_kv kv = kv_of("{\"uid\":\"u1\",\"node\":\"n1\",\"value\":{\"a\":[1]}}");
	auto_json struct json *tree = NULL;
	auto_free char *text = NULL;
	struct cluster_object o;
	struct err e;

	ck_assert_int_eq(etcd_value_read(&kv, CLUSTER_POOL, &o, &tree, &e), 0);
	ck_assert_str_eq(o.name, "p1");
	ck_assert_str_eq(o.node, "n1");
	ck_assert_str_eq(o.at.uid, "u1");
	ck_assert_int_eq(strncmp(o.at.version, "42-", 3), 0);
	ck_assert_str_eq(o.created, "00000000000000000040");
	ck_assert_int_eq(o.generation, 3);
	ck_assert_int_eq(etcd_value_text(&o, "u2", &text, &e), 0);
	ck_assert_str_eq(text, "{\"uid\":\"u2\",\"node\":\"n1\",\"value\":{\"a\":[1]}}");
}
END_TEST

START_TEST(versions_differ)
{
	char a[CLUSTER_VERSION_LEN], b[CLUSTER_VERSION_LEN];

	etcd_version(INT64_MAX, "a", 1, a);
	ck_assert_str_eq(a, "9223372036854775807-af63dc4c8601ec8c");
	etcd_version(INT64_MAX, "b", 1, b);
	ck_assert_str_ne(a, b);
	etcd_version(1, "a", 1, b);
	ck_assert_str_ne(a, b);
}
END_TEST

START_TEST(no_objects)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"uid\":\"u\"}",
		"{\"uid\":\"\",\"value\":{}}",
		"{\"uid\":\"u\",\"value\":[]}",
		"{\"uid\":\"u\",\"node\":1,\"value\":{}}",
		"{\"uid\":\"1234567890123456789012345678901234567890\",\"value\":{}}",
	};
	struct cluster_object o;
	struct json *tree;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct etcd_kv kv = kv_of(bad[i]);

		ck_assert_int_eq(etcd_value_read(&kv, CLUSTER_POOL, &o, &tree, &e), -1);
		ck_assert_int_eq(strncmp(e.msg, "etcd key /railhead/pools/p1: ", 29), 0);
		ck_assert_ptr_nonnull(strstr(e.detail, "delete it"));
	}
	struct etcd_kv kv = kv_of("{\"uid\":\"u\",\"value\":{}}");

	kv.key = (char *)(uintptr_t) "/railhead/pools/UP";
	ck_assert_int_eq(etcd_value_read(&kv, CLUSTER_POOL, &o, &tree, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "name of an object"));
}
END_TEST

START_TEST(too_long)
{
	static char text[ETCD_VALUE_MAX];
	auto_json struct json *value = json_new_object();
	struct cluster_object o = { .name = "big", .value = value };
	auto_free char *out = NULL;
	struct err e;

	memset(text, 'x', sizeof(text) - 1);
	ck_assert_int_eq(json_add_str(value, "a", text), 0);
	ck_assert_int_eq(etcd_value_text(&o, "u", &out, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "\"big\" has 1311"));
	text[sizeof(text) - 100] = '\0';
	json_del(value, "a");
	ck_assert_int_eq(json_add_str(value, "a", text), 0);
	ck_assert_int_eq(etcd_value_text(&o, "u", &out, &e), 0);
}
END_TEST

static int there(void *arg, struct err *e)
{
	struct etcd_kv kv = kv_of(arg);
	auto_json struct json *tree = NULL;
	auto_free char *text = NULL;
	struct cluster_object o;

	return etcd_value_read(&kv, CLUSTER_POOL, &o, &tree, e) ||
	       etcd_value_text(&o, "u", &text, e);
}

START_TEST(no_memory)
{
	ck_assert_str_eq(alloc_fail_each(there, "{\"uid\":\"u1\",\"value\":{\"a\":[1]}}"), "ok");
}
END_TEST

TEST_PROGRAM("etcd_value", there_and_back, versions_differ, no_objects, too_long, no_memory)

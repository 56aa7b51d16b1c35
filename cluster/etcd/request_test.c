/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_test.c: bodies, with base64 written out. That etcd understands them is shown by
 * conformance/cluster-store.
 */
#include "cluster/etcd/request.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static void body_is(char *body, const char *want)
{
	ck_assert_str_eq(body, want);
	free(body);
}

START_TEST(bodies_of_reads_name_range_revision_and_limit)
{
	body_is(etcd_get_body("/a"), "{\"key\":\"L2E=\"}");
	body_is(etcd_page_body("/a", "/b", 7, 100),
		"{\"key\":\"L2E=\",\"range_end\":\"L2I=\",\"revision\":\"7\",\"limit\":\"100\"}");
	body_is(etcd_names_body("/a", "/b", 7, 100),
		"{\"key\":\"L2E=\",\"range_end\":\"L2I=\",\"revision\":\"7\",\"limit\":\"100\","
		"\"keys_only\":true}");
	body_is(etcd_watch_body("/a", "/b", INT64_MAX),
		"{\"create_request\":{\"key\":\"L2E=\",\"range_end\":\"L2I=\","
		"\"start_revision\":\"9223372036854775807\",\"progress_notify\":true,"
		"\"prev_kv\":true,\"fragment\":true}}");
	body_is(etcd_auth_body("u\"", "p\\"), "{\"name\":\"u\\\"\",\"password\":\"p\\\\\"}");
}
END_TEST

#define FAILURE ",\"failure\":[{\"request_range\":{\"key\":\"L2E=\"}}]}"
#define ABSENT                                                                                     \
	"{\"compare\":[{\"key\":\"L2E=\",\"target\":\"CREATE\",\"result\":\"EQUAL\","              \
	"\"create_revision\":\"0\"}],\"success\":["
#define AS_IT_WAS                                                                                  \
	"{\"compare\":[{\"key\":\"L2E=\",\"target\":\"MOD\",\"result\":\"EQUAL\","                 \
	"\"mod_revision\":\"5\"},{\"key\":\"L2E=\",\"target\":\"VALUE\",\"result\":\"EQUAL\","     \
	"\"value\":\"b2xk\"}],\"success\":["
#define PUT(key)    "{\"request_put\":{\"key\":\"" key "\",\"value\":\"bmV3\"}}"
#define DELETE(key) "{\"request_delete_range\":{\"key\":\"" key "\"}}"

START_TEST(a_write_compares_first_and_keeps_its_copy)
{
	const struct etcd_kv was = { "/a", "old", 3, 5, 5, 1 };
	struct etcd_write w = { .key = "/a", .bytes = "new" };

	body_is(etcd_txn_body(&w), ABSENT PUT("L2E=") "]" FAILURE);
	w.copy = "/c";
	body_is(etcd_txn_body(&w), ABSENT PUT("L2E=") "," PUT("L2M=") "]" FAILURE);
	w.was = &was;
	w.old_copy = "/c";
	body_is(etcd_txn_body(&w), AS_IT_WAS PUT("L2E=") "," PUT("L2M=") "]" FAILURE);
	w.old_copy = "/d";
	body_is(etcd_txn_body(&w),
		AS_IT_WAS PUT("L2E=") "," PUT("L2M=") "," DELETE("L2Q=") "]" FAILURE);
	w.copy = NULL;
	body_is(etcd_txn_body(&w), AS_IT_WAS PUT("L2E=") "," DELETE("L2Q=") "]" FAILURE);
	w.bytes = NULL;
	body_is(etcd_txn_body(&w), AS_IT_WAS DELETE("L2E=") "," DELETE("L2Q=") "]" FAILURE);
}
END_TEST

#define LOOK(key) "{\"request_range\":{\"key\":\"" key "\"}}"
#define COUNT(key, end)                                                                            \
	"{\"request_range\":{\"key\":\"" key "\",\"range_end\":\"" end "\",\"count_only\":true}}"
#define NAMES                                                                                      \
	",\"failure\":[{\"request_range\":{\"key\":\"L2I=\",\"range_end\":\"L2M=\","               \
	"\"keys_only\":true,\"limit\":\"256\"}}]}"

START_TEST(a_copy_is_deleted_if_both_keys_are_as_they_were)
{
	static const char keys[2][ETCD_KEY_LEN] = { "/a", "/b" };
	const struct etcd_drop d = { "/c", "/a", 5, 0 };

#define READ(key) "{\"request_range\":{\"key\":\"" key "\",\"revision\":\"7\",\"keys_only\":true}}"
	body_is(etcd_look_body(keys, 2, 7), "{\"success\":[" READ("L2E=") "," READ("L2I=") "]}");
	body_is(etcd_drop_body(&d),
		"{\"compare\":[{\"key\":\"L2M=\",\"target\":\"MOD\",\"result\":\"EQUAL\","
		"\"mod_revision\":\"5\"},{\"key\":\"L2E=\",\"target\":\"MOD\",\"result\":"
		"\"EQUAL\",\"mod_revision\":\"0\"}],\"success\":[" DELETE("L2M=") "]}");
}
END_TEST

START_TEST(reads_beside_a_creation)
{
	const struct etcd_kv was = { "/b", "old", 3, 5, 5, 1 };
	struct etcd_write w = { .key = "/a", .bytes = "new", .after = "/d" };
	char *body;

	body_is(etcd_txn_body(&w), ABSENT PUT("L2E=") "," LOOK("L2Q=") "]" FAILURE);
	w.names = "/b";
	w.names_end = "/c";
	body_is(etcd_txn_body(&w), ABSENT PUT("L2E=") "," LOOK("L2Q=") "]" NAMES);
	w = (struct etcd_write){ .key = "/b", .bytes = "new", .was = &was };
	w.rank_from = "/a";
	w.rank_end = "/c";
	body = etcd_txn_body(&w);
	ck_assert_ptr_nonnull(strstr(body, COUNT("L2E=", "L2I=") "," COUNT("L2E=", "L2M=") "]"));
	free(body);
}
END_TEST

static int each(void *arg, struct err *e)
{
	const struct etcd_kv was = { "/a", "old", 3, 5, 5, 1 };
	struct etcd_write w = { .key = "/a", .copy = "/c", .old_copy = "/d", .bytes = "new" };
	static const char keys[2][ETCD_KEY_LEN] = { "/a", "/b" };
	const struct etcd_drop drop = { "/c", "/a", 5, 0 };
	int which = *(int *)arg;

	w.after = w.names = w.names_end = w.rank_from = w.rank_end = which == 0 ? "/p" : NULL;

	w.was = which == 1 ? &was : NULL;
	auto_free char *body = which < 2    ? etcd_txn_body(&w)
			       : which == 2 ? etcd_get_body("/a")
			       : which == 3 ? etcd_page_body("/a", "/b", 1, 2)
			       : which == 4 ? etcd_watch_body("/a", "/b", 1)
			       : which == 5 ? etcd_names_body("/a", "/b", 1, 2)
			       : which == 6 ? etcd_look_body(keys, 2, 1)
			       : which == 7 ? etcd_drop_body(&drop)
					    : etcd_auth_body("u", "p");

	return body ? 0 : err_nomem(e);
}

START_TEST(no_memory)
{
	for (int i = 0; i < 9; i++)
		ck_assert_str_eq(alloc_fail_each(each, &i), "ok");
}
END_TEST

TEST_PROGRAM("etcd_request", bodies_of_reads_name_range_revision_and_limit,
	     a_write_compares_first_and_keeps_its_copy,
	     a_copy_is_deleted_if_both_keys_are_as_they_were, reads_beside_a_creation, no_memory)

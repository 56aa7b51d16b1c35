/* SPDX-License-Identifier: Apache-2.0 */
/* key_test.c: keys of objects and copies, ranges, and names that are none. */
#include "cluster/etcd/key.h"
#include "lib/testing/testing.h"

#define P "/railhead/"

static const char long_name[] =
	"a23456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
	"123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
	"12345678901234567890123456789012345678901234567890123456789012345678901234";

START_TEST(a_key_has_kind_and_name_and_a_copy_the_node)
{
	struct cluster_object o = { .kind = CLUSTER_BLOCK, .name = "p-0a", .node = "n1.example" };
	char key[ETCD_KEY_LEN];

	ck_assert_int_eq(etcd_key_object(P, CLUSTER_POOL, "a.b-1", key), 0);
	ck_assert_str_eq(key, "/railhead/pools/a.b-1");
	ck_assert_str_eq(etcd_key_name(key), "a.b-1");
	ck_assert_int_eq(etcd_key_copy(P, &o, key), 0);
	ck_assert_str_eq(key, "/railhead/by-node/n1.example/blocks/p-0a");
	ck_assert_str_eq(etcd_key_name(key), "p-0a");
	*o.node = '\0';
	ck_assert_int_eq(etcd_key_copy(P, &o, key), -1);
	ck_assert_ptr_null(etcd_key_name("/railhead/pools/"));
	ck_assert_ptr_null(etcd_key_name("pools"));
}
END_TEST

START_TEST(a_selector_is_a_range_of_keys)
{
	struct cluster_selector all = { .kind = CLUSTER_NODE };
	struct cluster_selector some = { .kind = CLUSTER_HEARTBEAT, .prefix = "gpu-" };
	struct cluster_selector one = { .kind = CLUSTER_NODE, .node = "n1" };
	struct cluster_selector bad = { .kind = CLUSTER_NODE, .node = "n/1" };
	struct cluster_selector worse = { .kind = CLUSTER_NODE, .prefix = "X" };
	char key[ETCD_KEY_LEN], end[ETCD_KEY_LEN];

	ck_assert_int_eq(etcd_key_selected(P, &all, key), 0);
	ck_assert_str_eq(key, "/railhead/nodes/");
	etcd_key_end(key, end);
	ck_assert_str_eq(end, "/railhead/nodes0");
	ck_assert_int_eq(etcd_key_selected(P, &some, key), 0);
	etcd_key_end(key, end);
	ck_assert_str_eq(key, "/railhead/heartbeats/gpu-");
	ck_assert_str_eq(end, "/railhead/heartbeats/gpu.");
	ck_assert_int_eq(etcd_key_selected(P, &one, key), 0);
	ck_assert_str_eq(key, "/railhead/by-node/n1/nodes/");
	ck_assert_int_eq(etcd_key_selected(P, &bad, key), -1);
	ck_assert_int_eq(etcd_key_selected(P, &worse, key), -1);
}
END_TEST

START_TEST(only_names_of_DNS_make_keys)
{
	static const char *const bad[] = {
		"", ".", "-a", "a-", "a/b", "A", "a_b", "a b", "\xc3\xa9"
	};
	char key[ETCD_KEY_LEN], name[CLUSTER_NAME_LEN + 1];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(etcd_key_object(P, CLUSTER_POOL, bad[i], key), -1);
	memcpy(name, long_name, CLUSTER_NAME_LEN);
	name[CLUSTER_NAME_LEN] = '\0';
	ck_assert_int_eq(etcd_key_object(P, CLUSTER_POOL, name, key), -1);
	name[CLUSTER_NAME_LEN - 1] = '\0';
	ck_assert_int_eq(etcd_key_object(P, CLUSTER_POOL, name, key), 0);
}
END_TEST

START_TEST(a_prefix_begins_and_ends_with_a_slash)
{
	char text[ETCD_PREFIX_MAX + 2];

	ck_assert(etcd_prefix_valid("/") && etcd_prefix_valid("/a/B_1.x-/"));
	ck_assert(!etcd_prefix_valid("") && !etcd_prefix_valid("a/") && !etcd_prefix_valid("/a"));
	ck_assert(!etcd_prefix_valid("/a b/") && !etcd_prefix_valid("/\xff/"));
	memset(text, '/', sizeof(text));
	text[ETCD_PREFIX_MAX + 1] = '\0';
	ck_assert(!etcd_prefix_valid(text));
	text[ETCD_PREFIX_MAX] = '\0';
	ck_assert(etcd_prefix_valid(text));
}
END_TEST

TEST_PROGRAM("etcd_key", a_key_has_kind_and_name_and_a_copy_the_node, a_selector_is_a_range_of_keys,
	     only_names_of_DNS_make_keys, a_prefix_begins_and_ends_with_a_slash)

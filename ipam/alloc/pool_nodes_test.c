/* SPDX-License-Identifier: Apache-2.0 */
/* pool_nodes_test.c: an ADD takes no address of a pool that is for other nodes. */
#include <sys/stat.h>

#include "ipam/lease/cluster_labels.h"
#include "ipam/testing/ipam.h"
#include "ipam/testing/store.h"

#define G3                                                                                         \
	"{\"subnet\":\"10.3.0.0/"                                                                  \
	"24\",\"ranges\":[\"10.3.0.5-10.3.0.9\"],\"nodes\":{\"leaf\":\"g3\"}}"
#define G4                                                                                         \
	"{\"subnet\":\"10.4.0.0/24\",\"ranges\":[\"10.4.0.5-10.4.0.9\"],\"nodes\":{\"leaf\":"      \
	"[\"g4\",\"g5\"]}}"
#define SIX "{\"subnet\":\"fd00:3::/64\",\"ranges\":[\"fd00:3::5\"],\"nodes\":{\"leaf\":\"g3\"}}"

static const char both[] = "{\"pools\":[\"leaf3\",\"leaf4\"]}";

static void labels(const char *text)
{
	testing_file("/mnt/etc/node.json", 0600, text);
}

static void open_pools(struct fixture *w)
{
	fixture_open(w);
	w->ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	ck_assert_int_eq(w_pool(w, "leaf3", G3, false), 0);
	ck_assert_int_eq(w_pool(w, "leaf4", G4, false), 0);
}

START_TEST(a_node_takes_addresses_of_its_own_pools)
{
	auto_fixture struct fixture w;

	open_pools(&w);
	labels("{\"labels\":{\"leaf\":\"g5\"}}");
	ck_assert_str_eq(w_add(&w, both, "c1", ""), "10.4.0.5");
	labels("{\"number\":4,\"labels\":{\"leaf\":\"g3\"}}");
	ck_assert_str_eq(w_add(&w, both, "c2", ""), "10.3.0.5");
	/* The pod that is there keeps what it has, and gives it back. */
	w_del(&w, "c1");
}
END_TEST

START_TEST(a_node_without_a_pool_is_told_why)
{
	auto_fixture struct fixture w;

	open_pools(&w);
	ck_assert_ptr_nonnull(strstr(w_add(&w, "{\"pool\":\"leaf3\"}", "c1", ""),
				     "no IPv4 pool is for this node: pool leaf3 is for nodes with "
				     "leaf=g3; node "));
	ck_assert_ptr_nonnull(strstr(w.e.msg, " has no label leaf"));
	ck_assert_ptr_nonnull(strstr(w.e.detail, "railctl ipam node label"));
	labels("{\"labels\":{\"leaf\":\"g9\"}}");
	ck_assert_ptr_nonnull(strstr(w_add(&w, both, "c1", ""), " has leaf=g9"));
	ck_assert_ptr_nonnull(strstr(w_status(&w, both), " has leaf=g9"));
	labels("{\"labels\":{\"leaf\":\"g4\"}}");
	ck_assert_str_eq(w_status(&w, both), "");
}
END_TEST

/* The agent wrote what Kubernetes says of this node. The file overrides it. */
START_TEST(a_node_has_the_labels_of_its_node_in_kubernetes)
{
	auto_json struct json *g3 = NULL, *g4 = NULL;
	auto_fixture struct fixture w;

	ck_assert_int_eq(json_parse("{\"leaf\":\"g3\"}", 13, "g3", &g3, &w.e), 0);
	ck_assert_int_eq(json_parse("{\"leaf\":\"g4\"}", 13, "g4", &g4, &w.e), 0);
	open_pools(&w);
	ck_assert_int_eq(cluster_labels_put(&w.m, g3, &w.e), 0);
	ck_assert_str_eq(w_add(&w, both, "c1", ""), "10.3.0.5");
	ck_assert_int_eq(cluster_labels_put(&w.m, g4, &w.e), 0);
	ck_assert_str_eq(w_add(&w, both, "c2", ""), "10.4.0.5");
	labels("{\"labels\":{\"leaf\":\"g3\"}}");
	ck_assert_str_eq(w_add(&w, both, "c3", ""), "10.3.0.6");
	labels("{}");
	ck_assert_int_eq(cluster_labels_put(&w.m, NULL, &w.e), 0);
	ck_assert_ptr_nonnull(strstr(w_add(&w, both, "c4", ""), " has no label leaf"));
}
END_TEST

static void put_bad_labels(struct fixture *w)
{
	struct store_txn *t = c_begin(w->m.store, STORE_WRITE);

	c_put(t, KEY_LABELS, "{\"leaf\":7}");
	c_commit(t);
}

/* A damaged record stops only pools that ask for labels. */
START_TEST(labels_of_kubernetes_that_cannot_be_read)
{
	auto_json struct json *bad = NULL;
	auto_fixture struct fixture w;

	open_pools(&w);
	ck_assert_int_eq(json_parse("{\"-\":\"g3\"}", 10, "bad", &bad, &w.e), 0);
	ck_assert_int_eq(cluster_labels_put(&w.m, bad, &w.e), -1);
	ck_assert_int_eq(
		w_pool(&w, "all", "{\"subnet\":\"10.9.0.0/24\",\"ranges\":[\"10.9.0.5\"]}", false),
		0);
	put_bad_labels(&w);
	ck_assert_ptr_nonnull(strstr(w_add(&w, both, "c1", ""), "m/labels.leaf: must be a string"));
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"all\"}", "c1", ""), "10.9.0.5");
}
END_TEST

/* A pod that needs both families starts with neither of them alone. */
START_TEST(each_family_needs_a_pool)
{
	auto_fixture struct fixture w;

	open_pools(&w);
	ck_assert_int_eq(w_pool(&w, "six", SIX, false), 0);
	labels("{\"labels\":{\"leaf\":\"g4\"}}");
	ck_assert_ptr_nonnull(
		strstr(w_add(&w, "{\"pools\":[\"leaf3\",\"leaf4\",\"six\"]}", "c1", ""),
		       "no IPv6 pool is for this node: pool leaf3 is for"));
	labels("{\"labels\":{\"leaf\":\"g3\"}}");
	ck_assert_str_eq(w_add(&w, "{\"pools\":[\"leaf3\",\"leaf4\",\"six\"]}", "c1", ""),
			 "10.3.0.5 fd00:3::5");
}
END_TEST

START_TEST(labels_that_cannot_be_read_stop_only_pools_that_ask_for_them)
{
	auto_fixture struct fixture w;

	open_pools(&w);
	ck_assert_int_eq(
		w_pool(&w, "all", "{\"subnet\":\"10.9.0.0/24\",\"ranges\":[\"10.9.0.5\"]}", false),
		0);
	labels("{\"labels\":{\"leaf\":7}}");
	ck_assert_ptr_nonnull(
		strstr(w_add(&w, both, "c1", ""), "labels.leaf: must be a string, got a number"));
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"all\"}", "c1", ""), "10.9.0.5");
}
END_TEST

/* One network serves all leaf groups: the node's label selects the pool of each rail. */
START_TEST(a_pattern_has_the_pools_of_the_node)
{
	auto_fixture struct fixture w;

	open_pools(&w);
	labels("{\"labels\":{\"leaf\":\"g4\"}}");
	ck_assert_str_eq(w_add(&w, "{\"pools\":\"leaf*\"}", "c1", ""), "10.4.0.5");
	ck_assert_str_eq(w_add(&w, "{\"pools\":[[\"leaf?\"],[\"leaf4\",\"leaf[4-9]\"]]}", "c2", ""),
			 "10.4.0.6 10.4.0.7");
	ck_assert_ptr_nonnull(
		strstr(w_add(&w, "{\"pools\":\"rail*\"}", "c3", ""), "has a name like \"rail*\""));
}
END_TEST

/* Else a pod would lack one of its interfaces. */
START_TEST(each_group_needs_a_pool)
{
	auto_fixture struct fixture w;

	open_pools(&w);
	labels("{\"labels\":{\"leaf\":\"g4\"}}");
	ck_assert_ptr_nonnull(
		strstr(w_add(&w, "{\"pools\":[[\"leaf4\"],[\"leaf3*\"]]}", "c1", ""),
		       "no IPv4 pool is for this node: pool leaf3 is for nodes with leaf=g3"));
	ck_assert_ptr_nonnull(
		strstr(w_add(&w, "{\"pools\":[[\"leaf3\"],[\"leaf4\"]]}", "c1", ""),
		       "no IPv4 pool is for this node: pool leaf3 is for nodes with leaf=g3"));
}
END_TEST

TEST_PROGRAM("pool_nodes", a_node_takes_addresses_of_its_own_pools,
	     a_node_without_a_pool_is_told_why, a_node_has_the_labels_of_its_node_in_kubernetes,
	     labels_of_kubernetes_that_cannot_be_read, each_family_needs_a_pool,
	     labels_that_cannot_be_read_stop_only_pools_that_ask_for_them,
	     a_pattern_has_the_pools_of_the_node, each_group_needs_a_pool)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubenode_test.c: a driver whose node is labelled in Kubernetes. An ADD decides as the agent does.
 */
#include <sys/stat.h>

#include "ipam/lease/cluster_labels.h"
#include "railheadd/pools/kubenode.h"
#include "railheadd/testing/driver_ask.h"

#define LEAF                                                                                       \
	"{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"warm\":1,\"cooldown\":0,\"idle\":3600,"     \
	"\"nodes\":{\"leaf\":\"g3\"}}"

static struct kubenode *kubenode;

static void node_is(const char *labels)
{
	memory_store_put(b.store, CLUSTER_KUBE_NODE, "n1", "n1", labels);
}

static void follow_node(void)
{
	const struct kubenode_conf conf = { &w.ctx, b.base, memory_store_ops(b.store), b.driver,
					    "n1" };
	struct err e;

	ck_assert_int_eq(kubenode_new(&conf, &kubenode, &e), 0);
}

static bool follows_three(const void *arg)
{
	struct memory_counts counts = memory_store_counts(b.store);

	(void)arg;
	return counts.running == 3 && counts.watches >= 3;
}

static void begin_node(const char *labels)
{
	begin();
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	if (labels)
		node_is(labels);
	memory_store_put(b.store, CLUSTER_KUBE_NODE, "n2", "n2", "{\"leaf\":\"g3\"}");
	pool("rail0", LEAF);
	begin_driver();
	ready();
	follow_node();
	loop_until(b.base, follows_three, NULL);
	loop_until(b.base, knows_pool, "rail0");
}

static void end_node(void)
{
	kubenode_free(kubenode);
	end();
}

static bool has_block(const void *arg)
{
	auto_json struct json *list = NULL;
	struct err e;

	ck_assert_int_eq(admin_blocks(&w.m, NULL, &list, &e), 0);
	return arg ? json_len(list) > 0 : json_len(list) == 0;
}

static const char *add(const char *pod)
{
	return w_add(&w, "{\"pool\":\"rail0\"}", pod, "");
}

static void is_refused(const char *pod, const char *why)
{
	add(pod);
	ck_assert_msg(strstr(w.e.msg, why), "%s", w.e.msg);
}

START_TEST(a_label_of_the_node_has_its_effect_at_once)
{
	struct outcome o = { .done = false };

	begin_node("{\"leaf\":\"g4\"}");
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	ck_assert_str_eq(o.why.msg, "pool rail0 is for nodes with leaf=g3; this node has leaf=g4");
	is_refused("c1", "has leaf=g4");
	node_is("{\"leaf\":\"g3\"}");
	loop_until(b.base, has_block, "");
	ck_assert_int_ne(add("c1")[0], '!');
	w_del(&w, "c1");
	/* No label at all: that is what Kubernetes says of it, and not a failure. */
	node_is("{}");
	loop_until(b.base, has_block, NULL);
	is_refused("c1", "has no label leaf");
	end_node();
}
END_TEST

START_TEST(node_json_overrides_the_node)
{
	struct outcome o = { .done = false };

	begin_node("{\"leaf\":\"g3\"}");
	loop_until(b.base, has_block, "");
	testing_file("/mnt/etc/node.json", 0600, "{\"labels\":{\"leaf\":\"g4\"}}");
	driver_look(b.driver);
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	is_refused("c1", "has leaf=g4");
	end_node();
}
END_TEST

START_TEST(a_node_that_is_gone_keeps_its_labels)
{
	begin_node("{\"leaf\":\"g3\"}");
	loop_until(b.base, has_block, "");
	memory_store_delete(b.store, CLUSTER_KUBE_NODE, "n1");
	driver_look(b.driver);
	loop_until(b.base, follows_three, NULL);
	ck_assert_int_ne(add("c1")[0], '!');
	w_del(&w, "c1");
	end_node();
}
END_TEST

/* A store without heartbeats looks restored, and gives no block for a while. */
static bool is_elsewhere(void)
{
	auto_json struct json *status = json_new_object();
	struct err e;

	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	json_each (p, json_get(status, "pools"))
		return json_true(json_get(p, "elsewhere"));
	return true;
}

START_TEST(labels_stay_without_the_right_and_over_a_restart)
{
	begin_node("{\"leaf\":\"g3\"}");
	loop_until(b.base, has_block, "");
	kubenode_free(kubenode);
	memory_store_fail(b.store, CLUSTER_REFUSED, 1);
	follow_node();
	loop_until(b.base, follows_three, NULL);
	ck_assert(!is_elsewhere());
	kubenode_free(kubenode);
	driver_free(b.driver);
	b.store = memory_store_new(b.base);
	begin_driver();
	ck_assert(!is_elsewhere());
	end();
}
END_TEST

START_TEST(labels_that_cannot_be_kept_change_nothing)
{
	begin_node("{\"leaf\":\"g3\"}");
	loop_until(b.base, has_block, "");
	node_is("{\"leaf\":7}");
	ck_assert_int_ne(add("c1")[0], '!');
	w_del(&w, "c1");
	node_is("{\"leaf\":\"g4\"}");
	loop_until(b.base, has_block, NULL);
	end_node();
}
END_TEST

START_TEST(an_agent_without_kubernetes_removes_them)
{
	auto_json struct json *labels = NULL;
	struct err e;

	begin_node("{\"leaf\":\"g3\"}");
	loop_until(b.base, has_block, "");
	kubenode_free(kubenode);
	driver_free(b.driver);
	begin_driver_on(NULL);
	ck_assert_int_eq(cluster_labels_get(&w.m, &labels, &e), 0);
	ck_assert_ptr_null(labels);
	is_refused("c1", "has no label leaf");
	driver_free(b.driver);
	loop_free(b.base);
	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("kubenode", a_label_of_the_node_has_its_effect_at_once, node_json_overrides_the_node,
	     a_node_that_is_gone_keeps_its_labels, labels_stay_without_the_right_and_over_a_restart,
	     labels_that_cannot_be_kept_change_nothing, an_agent_without_kubernetes_removes_them)

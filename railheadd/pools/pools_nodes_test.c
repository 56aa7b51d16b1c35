/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools_nodes_test.c: a driver whose node gets and loses the labels that a pool asks for.
 */
#include <sys/stat.h>

#include "railheadd/testing/driver_ask.h"

#define LEAF                                                                                       \
	"{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"warm\":1,\"cooldown\":0,\"idle\":3600,"     \
	"\"nodes\":{\"leaf\":\"g3\"}}"

static void labels(const char *text)
{
	testing_file("/mnt/etc/node.json", 0600, text);
	if (b.driver)
		driver_look(b.driver);
}

static void begin_labels(const char *text)
{
	begin();
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	labels(text);
	pool("rail0", LEAF);
	begin_driver();
	ready();
	loop_until(b.base, knows_pool, "rail0");
}

/* A granted block of the pool; NULL: any. */
static bool has_block(const void *arg)
{
	auto_json struct json *list = NULL;
	struct err e;

	(void)arg;
	ck_assert_int_eq(admin_blocks(&w.m, NULL, &list, &e), 0);
	json_each (o, list) {
		if (json_true(json_get(o, "assigns")))
			return true;
	}
	return false;
}

static bool has_none(const void *arg)
{
	auto_json struct json *list = NULL;
	struct err e;

	(void)arg;
	ck_assert_int_eq(admin_blocks(&w.m, NULL, &list, &e), 0);
	return !json_len(list);
}

START_TEST(a_pool_for_other_nodes_is_not_warmed)
{
	struct outcome o = { .done = false };

	begin_labels("{\"labels\":{\"leaf\":\"g4\"}}");
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	ck_assert_str_eq(o.why.msg, "pool rail0 is for nodes with leaf=g3; this node has leaf=g4");
	ck_assert(has_none(NULL));
	labels("{\"labels\":{\"leaf\":\"g3\"}}");
	loop_until(b.base, has_block, NULL);
	ck_assert_int_eq(need("rail0", &o), 0);
	end();
}
END_TEST

START_TEST(a_node_that_leaves_gives_back_what_is_empty)
{
	begin_labels("{\"labels\":{\"leaf\":\"g3\"}}");
	loop_until(b.base, has_block, NULL);
	labels("{\"number\":1}");
	loop_until(b.base, has_none, NULL);
	end();
}
END_TEST

START_TEST(a_pod_keeps_its_address_when_the_node_leaves)
{
	struct outcome o = { .done = false };

	begin_labels("{\"labels\":{\"leaf\":\"g3\"}}");
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_str_ne(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""), "");
	ck_assert_int_ne(w.text[0], '!');
	labels("{");
	/* A file that cannot be read changes nothing; then the label is really gone. */
	ck_assert_int_eq(need("rail0", &o), 0);
	labels("{\"number\":1}");
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	ck_assert(!has_none(NULL));
	w_del(&w, "c1");
	driver_look(b.driver);
	loop_until(b.base, has_none, NULL);
	end();
}
END_TEST

static const char rail0_report[] = "\"name\":\"rail0\"";

static bool says_other(const void *arg)
{
	return node_says("\"name\":\"rail1\"") && node_says("\"elsewhere\":\"") && !node_says(arg);
}

static bool says_both(const void *arg)
{
	return node_says("\"name\":\"rail1\"") && !node_says("\"elsewhere\"") && node_says(arg);
}

/* Else each node of a large cluster reports the pools of all others. */
START_TEST(a_pool_for_other_nodes_is_not_reported)
{
	struct outcome o = { .done = false };

	begin_labels("{\"labels\":{\"leaf\":\"g4\"}}");
	pool("rail1", "{\"subnet\":\"10.2.0.0/24\",\"blockSize\":8}");
	loop_until(b.base, says_other, rail0_report);
	labels("{\"labels\":{\"leaf\":\"g3\"}}");
	loop_until(b.base, says_both, rail0_report);
	/* While the node has addresses of it, a change of the pool concerns its pods. */
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_int_ne(*w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""), '!');
	labels("{\"number\":1}");
	loop_until(b.base, node_says, "\"number\":1");
	ck_assert(says_both(rail0_report));
	w_del(&w, "c1");
	driver_look(b.driver);
	loop_until(b.base, says_other, rail0_report);
	end();
}
END_TEST

TEST_PROGRAM("pool_nodes", a_pool_for_other_nodes_is_not_reported,
	     a_pool_for_other_nodes_is_not_warmed, a_node_that_leaves_gives_back_what_is_empty,
	     a_pod_keeps_its_address_when_the_node_leaves)

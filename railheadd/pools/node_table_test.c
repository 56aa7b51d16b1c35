/* SPDX-License-Identifier: Apache-2.0 */
/* node_table_test.c: rows from the three lists, and the age of a heartbeat over two questions. */
#include "railheadd/pools/node_table.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define S INT64_C(1000000000)

static int try_add(struct node_table *t, const struct cluster_object *like, const char *value,
		   const struct node_table_look *look)
{
	auto_json struct json *tree = NULL;
	struct cluster_object o = *like;
	struct err e;

	ck_assert_int_eq(json_parse(value, strlen(value), "value", &tree, &e), 0);
	o.value = tree;
	return node_table_object(t, &o, look, &e);
}

/* name is that of the object, or of a block the node. */
static void add(struct node_table *t, enum cluster_kind kind, const char *name, const char *value,
		const struct node_table_look *look)
{
	struct cluster_object o = { .kind = kind, .at = { "u", "" } };

	(void)snprintf(o.name, sizeof(o.name), "%s", kind == CLUSTER_BLOCK ? "p-00" : name);
	(void)snprintf(o.node, sizeof(o.node), "%s", name);
	(void)snprintf(o.at.version, sizeof(o.at.version), "v%zu", strlen(value));
	ck_assert_int_eq(try_add(t, &o, value, look), 0);
}

static void is(const struct node_table *t, const char *want)
{
	auto_json struct json *answer = node_table_json(t, "n1");
	auto_free char *text = json_print(answer, false);

	ck_assert_str_eq(text, want);
}

#define BEAT(count) "{\"holder\":\"h\",\"boot\":\"b\",\"machine\":\"m\",\"count\":" count "}"

START_TEST(one_row_for_each_node)
{
	auto_node_table struct node_table t = { .n = 0 }, none = { .n = 0 };
	const struct node_table_look look = { &none, 5 * S, 6 * S, NULL, false, NULL };

	add(&t, CLUSTER_NODE, "n2",
	    "{\"holder\":\"o\",\"boot\":\"c\",\"version\":\"1\",\"number\":7}", &look);
	add(&t, CLUSTER_NODE, "n1", "{\"holder\":\"x\",\"boot\":\"y\",\"version\":\"2\"}", &look);
	add(&t, CLUSTER_HEARTBEAT, "n1", BEAT("7"), &look);
	add(&t, CLUSTER_BLOCK, "n1", "{}", &look);
	add(&t, CLUSTER_BLOCK, "n0", "{}", &look);
	add(&t, CLUSTER_BLOCK, "n1", "{}", &look);
	add(&t, CLUSTER_BLOCK, "", "{}", &look);
	is(&t, "{\"nodes\":["
	       "{\"name\":\"n0\",\"forgotten\":false,\"heartbeat\":null,\"blocks\":1,"
	       "\"thisNode\":false},"
	       "{\"name\":\"n1\",\"holder\":\"h\",\"machine\":\"m\",\"boot\":\"b\","
	       "\"version\":\"2\",\"forgotten\":false,\"heartbeat\":{\"seconds\":0,\"count\":7,"
	       "\"twin\":false},\"blocks\":2,\"thisNode\":true},"
	       "{\"name\":\"n2\",\"holder\":\"o\",\"boot\":\"c\",\"version\":\"1\","
	       "\"forgotten\":false,\"heartbeat\":null,\"blocks\":0,\"number\":7,"
	       "\"thisNode\":false}],"
	       "\"more\":0}");
}
END_TEST

/* Another version begins a new age; so does a heartbeat that was missing in between. */
START_TEST(a_heartbeat_grows_old)
{
	auto_node_table struct node_table none = { .n = 0 }, first = { .n = 0 }, later = { .n = 0 },
					  again = { .n = 0 };
	const struct node_table_look at_5 = { &none, 4 * S, 5 * S, NULL, false, NULL };
	const struct node_table_look at_99 = { &first, 98 * S, 99 * S, NULL, false, NULL };
	const struct node_table_look at_200 = { &later, 199 * S, 200 * S, NULL, false, NULL };

	add(&first, CLUSTER_HEARTBEAT, "n1", BEAT("7"), &at_5);
	add(&first, CLUSTER_HEARTBEAT, "n2", BEAT("7"), &at_5);
	add(&first, CLUSTER_HEARTBEAT, "n3", BEAT("7"), &at_5);
	ck_assert_int_eq(node_table_find(&first, "n1")->silent, 0);
	add(&later, CLUSTER_HEARTBEAT, "n1", BEAT("7"), &at_99);
	add(&later, CLUSTER_HEARTBEAT, "n2", BEAT("10"), &at_99);
	add(&later, CLUSTER_NODE, "n3", "{}", &at_99);
	ck_assert_int_eq(node_table_find(&later, "n1")->silent, 93 * S);
	ck_assert_int_eq(node_table_find(&later, "n2")->silent, 0);
	add(&again, CLUSTER_HEARTBEAT, "n1", BEAT("7"), &at_200);
	add(&again, CLUSTER_HEARTBEAT, "n2", BEAT("10"), &at_200);
	add(&again, CLUSTER_HEARTBEAT, "n3", BEAT("7"), &at_200);
	ck_assert_int_eq(node_table_find(&again, "n1")->silent, 194 * S);
	ck_assert_int_eq(node_table_find(&again, "n2")->silent, 100 * S);
	ck_assert_int_eq(node_table_find(&again, "n3")->silent, 0);
}
END_TEST

static bool forgotten(const char *version, bool beats)
{
	auto_node_table struct node_table t = { .n = 0 }, none = { .n = 0 };
	const struct node_table_look look = { &none, 0, 0, NULL, false, NULL };
	char value[128];

	(void)snprintf(value, sizeof(value), "{\"forgotten\":{%s%s%s}}",
		       *version ? "\"uid\":\"u\",\"version\":\"" : "", version,
		       *version ? "\"" : "");
	add(&t, CLUSTER_NODE, "n1", value, &look);
	if (beats)
		add(&t, CLUSTER_HEARTBEAT, "n1", "{\"count\":7}", &look);
	auto_json struct json *answer = node_table_json(&t, "n2");

	return json_true(json_get(json_first(json_get(answer, "nodes")), "forgotten"));
}

START_TEST(a_statement_is_void_after_a_heartbeat)
{
	ck_assert(forgotten("v11", true));
	ck_assert(!forgotten("v12", true));
	ck_assert(!forgotten("v11", false));
	ck_assert(forgotten("", false));
	ck_assert(!forgotten("", true));
}
END_TEST

START_TEST(what_is_not_understood_is_left_out)
{
	auto_node_table struct node_table t = { .n = 0 }, none = { .n = 0 };
	const struct node_table_look look = { &none, 0, 0, NULL, false, NULL };

	add(&t, CLUSTER_NODE, "n1", "{\"holder\":7}", &look);
	add(&t, CLUSTER_HEARTBEAT, "n1", "{\"count\":\"7\"}", &look);
	add(&t, CLUSTER_NODE,
	    "n23456789012345678901234567890123456789012345678901234567890123456789", "{}", &look);
	is(&t, "{\"nodes\":[{\"name\":\"n1\",\"forgotten\":false,\"heartbeat\":null,\"blocks\":0,"
	       "\"thisNode\":true}],\"more\":0}");
}
END_TEST

START_TEST(an_answer_is_bounded)
{
	auto_node_table struct node_table t = { .n = 0 }, none = { .n = 0 };
	const struct node_table_look look = { &none, 0, 0, NULL, false, NULL };
	char name[16];

	for (int i = NODE_TABLE_SHOWN + 4; i >= 0; i--) {
		(void)snprintf(name, sizeof(name), "n%06d", i);
		add(&t, CLUSTER_BLOCK, name, "{}", &look);
	}
	auto_json struct json *answer = node_table_json(&t, "n1");

	ck_assert_uint_eq(json_len(json_get(answer, "nodes")), NODE_TABLE_SHOWN);
	ck_assert(json_num(json_get(answer, "more")) == 5);
}
END_TEST

static int make_one(void *arg, struct err *e)
{
	auto_node_table struct node_table t = { .n = 0 };
	const struct node_table_look look = { &t, 0, 0, NULL, false, NULL };
	const struct cluster_object o = { .kind = CLUSTER_BLOCK, .node = "n1" };
	auto_json struct json *answer = NULL;

	(void)arg;
	if (node_table_object(&t, &o, &look, e))
		return -1;
	answer = node_table_json(&t, "n1");
	return answer ? 0 : err_nomem(e);
}

START_TEST(no_memory)
{
	ck_assert_str_eq(alloc_fail_each(make_one, NULL), "ok");
}
END_TEST

TEST_PROGRAM("railheadd/pools/node_table", one_row_for_each_node, a_heartbeat_grows_old,
	     a_statement_is_void_after_a_heartbeat, what_is_not_understood_is_left_out,
	     an_answer_is_bounded, no_memory)

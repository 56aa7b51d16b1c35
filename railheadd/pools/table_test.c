/* SPDX-License-Identifier: Apache-2.0 */
/* table_test.c: pools and blocks of a cluster, counted. */
#include "railheadd/pools/table.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define RAIL0 "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"ranges\":[\"10.1.0.6-10.1.0.25\"]}"
#define OF(n)                                                                                      \
	"{\"node\":\"" n "\",\"holder\":\"h\",\"token\":\"1111111111111111\",\"touched\":1,"       \
	"\"poolUID\":\"u\"}"

static void object(struct pool_table *t, enum cluster_kind kind, const char *name,
		   const char *value)
{
	auto_json struct json *tree = NULL;
	struct cluster_object o = { .kind = kind };
	struct err e;

	ck_assert_int_eq(json_parse(value, strlen(value), name, &tree, &e), 0);
	(void)snprintf(o.name, sizeof(o.name), "%s", name);
	o.value = tree;
	ck_assert_int_eq(pool_table_object(t, &o, &e), 0);
}

static void block(struct pool_table *t, const char *pool, unsigned start, const char *value)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%s-%032x", pool, start);
	object(t, CLUSTER_BLOCK, name, value);
}

static void fill(struct pool_table *t)
{
	/* In no order: the pool's blocks lie between those of another one. */
	block(t, "rail1", 0x0a020000, OF("n1"));
	block(t, "rail0", 0x0a010010, OF("n2"));
	block(t, "rail0", 0x0a010000, OF("n1"));
	block(t, "rail0", 0x0a010008, OF("n2"));
	object(t, CLUSTER_POOL, "rail0", RAIL0);
	object(t, CLUSTER_POOL, "empty", "{\"subnet\":\"fd00::/48\",\"blockSize\":1}");
	object(t, CLUSTER_POOL, "bad", "{\"subnet\":7}");
}

static void is(struct pool_table *t, const char *pool, const char *want)
{
	auto_json struct json *tree = pool_table_json(t);
	const struct json *found = NULL;

	json_each (p, json_get(tree, "pools")) {
		if (strcmp(json_str(json_get(p, "name")), pool) == 0)
			found = p;
	}

	auto_json struct json *copy = json_dup(found);

	ck_assert_ptr_nonnull(copy);
	json_del(copy, "definition");

	auto_free char *text = json_print(copy, false);

	ck_assert_str_eq(text, want);
	pool_table_clear(t);
}

/* One of them is a whole block, one is in a block of a node, and two are no addresses of the pool.
 */
START_TEST(reserved_addresses_of_the_cluster_are_not_counted)
{
	struct pool_table t = { .pools = NULL };

	fill(&t);
	object(&t, CLUSTER_RESERVED, "cluster",
	       "{\"ranges\":[\"10.1.0.5-10.1.0.7\",\"10.1.0.16-10.1.0.17\",\"10.1.0.24-10.1.0.26\"]"
	       "}");
	is(&t, "rail0",
	   "{\"name\":\"rail0\",\"deleted\":false,\"addresses\":14,\"reserved\":6,\"allBlocks\":2,"
	   "\"byNode\":[{\"node\":\"n1\",\"blocks\":1,\"inBlocks\":0},"
	   "{\"node\":\"n2\",\"blocks\":2,\"inBlocks\":14}],"
	   "\"inBlocks\":14,\"blocks\":3,\"nodes\":2}");
	/* Objects that reserve nothing: another name, and one that cannot be read. */
	fill(&t);
	object(&t, CLUSTER_RESERVED, "other", "{\"ranges\":[\"10.1.0.6\"]}");
	object(&t, CLUSTER_RESERVED, "cluster", "{\"ranges\":[\"10.1.0.6\",\"10.1.0\"]}");
	is(&t, "rail0",
	   "{\"name\":\"rail0\",\"deleted\":false,\"addresses\":20,\"reserved\":0,\"allBlocks\":4,"
	   "\"byNode\":[{\"node\":\"n1\",\"blocks\":1,\"inBlocks\":2},"
	   "{\"node\":\"n2\",\"blocks\":2,\"inBlocks\":16}],"
	   "\"inBlocks\":18,\"blocks\":3,\"nodes\":2}");
}
END_TEST

/* The first block has two addresses of the range, the last one two as well. */
START_TEST(addresses_in_blocks_are_those_of_the_ranges)
{
	struct pool_table t = { .pools = NULL };

	fill(&t);
	block(&t, "rail0", 0x0a010018, OF("n2"));
	is(&t, "rail0",
	   "{\"name\":\"rail0\",\"deleted\":false,\"addresses\":20,\"reserved\":0,\"allBlocks\":4,"
	   "\"byNode\":["
	   "{\"node\":\"n1\",\"blocks\":1,\"inBlocks\":2},"
	   "{\"node\":\"n2\",\"blocks\":3,\"inBlocks\":18}],"
	   "\"inBlocks\":20,\"blocks\":4,\"nodes\":2}");
}
END_TEST

START_TEST(each_pool_has_its_own_blocks)
{
	struct pool_table t = { .pools = NULL };

	fill(&t);
	block(&t, "rail1", 0x0a020008, OF("n3"));
	is(&t, "rail1",
	   "{\"name\":\"rail1\",\"deleted\":true,\"byNode\":[{\"node\":\"n1\",\"blocks\":1},"
	   "{\"node\":\"n3\",\"blocks\":1}],\"blocks\":2,\"nodes\":2}");
}
END_TEST

START_TEST(pools_that_are_gone_or_cannot_be_read)
{
	struct pool_table t = { .pools = NULL };

	fill(&t);
	is(&t, "rail1",
	   "{\"name\":\"rail1\",\"deleted\":true,\"byNode\":[{\"node\":\"n1\",\"blocks\":1}],"
	   "\"blocks\":1,\"nodes\":1}");
	fill(&t);
	is(&t, "bad",
	   "{\"name\":\"bad\",\"deleted\":false,\"byNode\":[],\"blocks\":0,\"nodes\":0}");
	fill(&t);
	is(&t, "empty",
	   "{\"name\":\"empty\",\"deleted\":false,\"addresses\":9007199254740992,"
	   "\"reserved\":0,\"allBlocks\":9007199254740992,\"byNode\":[],"
	   "\"inBlocks\":0,\"blocks\":0,\"nodes\":0}");
}
END_TEST

START_TEST(blocks_that_no_node_has_are_left_out)
{
	struct pool_table t = { .pools = NULL };

	object(&t, CLUSTER_POOL, "rail0", RAIL0);
	block(&t, "rail0", 0x0a010000, "{\"touched\":1,\"poolUID\":\"u\",\"probe\":true}");
	object(&t, CLUSTER_BLOCK, "rail0-xyz", OF("n1"));
	block(&t, "rail0", 0x0a010008, "{\"node\":7}");
	is(&t, "rail0",
	   "{\"name\":\"rail0\",\"deleted\":false,\"addresses\":20,\"reserved\":0,\"allBlocks\":4,"
	   "\"byNode\":[],"
	   "\"inBlocks\":0,"
	   "\"blocks\":0,\"nodes\":0}");
}
END_TEST

START_TEST(rows_that_are_too_many_are_counted)
{
	struct pool_table t = { .pools = NULL };
	char owner[32], value[256];

	object(&t, CLUSTER_POOL, "rail0", RAIL0);
	for (unsigned i = 0; i < POOL_TABLE_SHOWN + 3; i++) {
		(void)snprintf(owner, sizeof(owner), "n%05u", i);
		(void)snprintf(value, sizeof(value),
			       "{\"node\":\"%s\",\"holder\":\"h\",\"token\":\"1111111111111111\","
			       "\"touched\":1,\"poolUID\":\"u\"}",
			       owner);
		block(&t, "rail0", 8 * i, value);
	}

	auto_json struct json *tree = pool_table_json(&t);
	const struct json *p = json_first(json_get(tree, "pools"));

	ck_assert_int_eq((int)json_num(json_get(tree, "more")), 3);
	ck_assert_int_eq((int)json_num(json_get(p, "nodes")), POOL_TABLE_SHOWN + 3);
	ck_assert_uint_eq(json_len(json_get(p, "byNode")), POOL_TABLE_SHOWN);
	pool_table_clear(&t);
}
END_TEST

static int print(void *arg, struct err *e)
{
	auto_json struct json *tree = pool_table_json(arg);

	return tree ? 0 : err_nomem(e);
}

START_TEST(no_memory)
{
	struct pool_table t = { .pools = NULL };

	fill(&t);
	ck_assert_str_eq(alloc_fail_each(print, &t), "ok");
	pool_table_clear(&t);
}
END_TEST

TEST_PROGRAM("pool_table", addresses_in_blocks_are_those_of_the_ranges,
	     reserved_addresses_of_the_cluster_are_not_counted, each_pool_has_its_own_blocks,
	     pools_that_are_gone_or_cannot_be_read, blocks_that_no_node_has_are_left_out,
	     rows_that_are_too_many_are_counted, no_memory)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look_test.c: pools that people write while blocks of another pool lie in their subnet: no
 * node uses them before the last such block is gone.
 */
#include "railheadd/testing/driver_ask.h"

/* ---- pools that people write, by any means ---- */

static const char old_block[] = "old-0000000000000000000000000a010008";

static void foreign_block(const char *value)
{
	memory_store_put(b.store, CLUSTER_BLOCK, old_block, "n2", value);
}

#define IN_USE                                                                                     \
	"{\"poolUID\":\"u\",\"node\":\"n2\",\"holder\":\"h\",\"token\":\"0000000000000007\","      \
	"\"touched\":1,\"used\":1}"
#define MARKED "{\"poolUID\":\"u\",\"touched\":2,\"probe\":true}"

/* The driver begins, learns of rail0, and does not use it because of the old block. */
static void not_used(void)
{
	struct outcome o = { .done = false };

	begin_driver();
	ready();
	pool("rail0", RAIL);
	loop_until(b.base, knows_pool, "rail0");
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(o.why.msg, old_block));
	ck_assert(!has_subnet("10.1.0.0/24"));
}

static void used_after(const char *value)
{
	struct outcome o = { .done = false };

	begin();
	foreign_block(value);
	not_used();
	memory_store_delete(b.store, CLUSTER_BLOCK, old_block);
	loop_until(b.base, has_subnet, "10.1.0.0/24");
	ck_assert_int_eq(need("rail0", &o), 0);
	end();
}

/* A node that may be cut off has the block. */
START_TEST(a_pool_on_blocks_of_a_deleted_one_is_not_used)
{
	used_after(IN_USE);
}
END_TEST

/* Its addresses would be assigned without a probe. */
START_TEST(a_pool_on_a_marked_block_is_not_used)
{
	used_after(MARKED);
}
END_TEST

static bool has_conflict(const void *arg)
{
	auto_json struct json *status = json_new_object();
	auto_free char *text = NULL;
	struct err e;

	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	text = json_print(status, false);
	return strstr(text, arg) != NULL;
}

START_TEST(the_younger_of_two_pools_waits_for_blocks_of_the_older_one)
{
	struct outcome o = { .done = false };

	begin();
	pool("old", RAIL);
	pool("rail0", RAIL);
	foreign_block(IN_USE);
	begin_driver();
	loop_until(b.base, has_conflict, "\"conflict\":\"old\"");
	memory_store_delete(b.store, CLUSTER_POOL, "old");
	loop_until(b.base, has_conflict, "\"waits\":\"node n2 has block old-");
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	memory_store_delete(b.store, CLUSTER_BLOCK, old_block);
	loop_until(b.base, has_subnet, "10.1.0.0/24");
	while (need("rail0", &o))
		ck_assert_int_eq(o.why.code, ERR_AGAIN);
	end();
}
END_TEST

/* A look that gets no answer is repeated, and nothing is used meanwhile. */
START_TEST(a_look_that_fails_is_repeated)
{
	begin();
	foreign_block(IN_USE);
	begin_driver();
	ready();
	memory_store_fail(b.store, CLUSTER_AWAY, 2);
	pool("rail0", RAIL);
	loop_until(b.base, knows_pool, "rail0");
	ck_assert(!has_subnet("10.1.0.0/24"));
	memory_store_delete(b.store, CLUSTER_BLOCK, old_block);
	loop_until(b.base, has_subnet, "10.1.0.0/24");
	end();
}
END_TEST

/* As after a creation whose second look got no answer. */
START_TEST(an_update_is_looked_at_too)
{
	struct outcome o;

	begin();
	foreign_block(IN_USE);
	begin_driver();
	ready();
	pool("rail0", RAIL);
	ck_assert_int_eq(change("rail0", RAIL, &o), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(o.why.msg, old_block));
	ck_assert(!o.created && memory_store_has(b.store, CLUSTER_POOL, "rail0"));
	memory_store_delete(b.store, CLUSTER_BLOCK, old_block);
	ck_assert_int_eq(change("rail0", RAIL, &o), 0);
	end();
}
END_TEST

static bool was_refused(const void *arg)
{
	(void)arg;
	return memory_store_counts(b.store).lists >= 3 && !has_subnet("10.1.0.0/24");
}

/* A pool of the node lies there, and ends. */
START_TEST(what_the_store_of_the_node_refused_is_tried_again)
{
	const struct admin_delete local = { .name = "local" };
	struct err e;

	begin();
	begin_driver();
	ready();
	ck_assert_int_eq(w_pool(&w, "local", "{\"subnet\":\"10.1.0.0/24\"}", false), 0);
	pool("rail0", RAIL);
	loop_until(b.base, was_refused, NULL);
	ck_assert_int_eq(admin_pool_delete(&w.m, &local, NULL, &e), 0);
	loop_until(b.base, has_subnet, "10.1.0.0/24");
	end();
}
END_TEST

/* As nothing else does: it shows whether the agent writes its own definition again. */
static void put_on_node(const char *name, const char *definition)
{
	auto_json struct json *list = NULL, *tree = NULL;
	struct err e;

	ck_assert_int_eq(shared_pool_list(&w.m, &list, &e), 0);
	ck_assert_int_eq(json_parse(definition, strlen(definition), name, &tree, &e), 0);
	json_each (item, list) {
		const struct shared_pool_def def = { name, json_str(json_get(item, "uid")), 1, tree,
						     NULL };

		if (strcmp(json_str(json_get(item, "name")), name) == 0)
			ck_assert_msg(!shared_pool_put(&w.m, &def, &e), "%s", e.msg);
	}
}

#define WARM_3 "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"warm\":3,\"cooldown\":0}"

/* Each agent sees each status, about once a minute. None writes to its disk then. */
START_TEST(a_status_is_no_change_of_its_pool)
{
	begin();
	begin_driver();
	ready();
	pool("rail0", RAIL);
	loop_until(b.base, has_subnet, "10.1.0.0/24");
	put_on_node("rail0", WARM_3);
	memory_store_put_status(b.store, "rail0", "{\"use\":\"50%\"}");
	ck_assert(has_subnet("\"warm\":3") && !has_subnet("use"));
	/* The same definition, written again: its generation tells that somebody wants it. */
	pool("rail0", RAIL);
	ck_assert(!has_subnet("\"warm\":3"));
	end();
}
END_TEST

static unsigned lists_of_a_begin(unsigned pools)
{
	char name[16], value[64];
	unsigned lists;

	begin();
	for (unsigned i = 0; i < pools; i++) {
		(void)snprintf(name, sizeof(name), "rail%u", i);
		(void)snprintf(value, sizeof(value),
			       "{\"subnet\":\"10.%u.0.0/24\",\"blockSize\":4}", i);
		pool(name, value);
	}
	begin_driver();
	ready();
	for (unsigned i = 0; i < pools; i++) {
		(void)snprintf(name, sizeof(name), "rail%u", i);
		loop_until(b.base, knows_pool, name);
	}
	lists = memory_store_counts(b.store).lists;
	end();
	return lists;
}

START_TEST(pools_that_are_new_together_share_a_list)
{
	ck_assert_uint_eq(lists_of_a_begin(8), lists_of_a_begin(1));
}
END_TEST

/* Most blocks of a cluster are of pools that exist, and no node needs to read them. */
START_TEST(blocks_of_pools_that_exist_are_left_out)
{
	static const char in_use[] =
		"{\"poolUID\":\"uid-1\",\"node\":\"n2\",\"holder\":\"h\",\"token\":"
		"\"0000000000000007\",\"touched\":1,\"used\":1}";
	unsigned before;

	begin();
	pool("other", OTHER);
	memory_store_put(b.store, CLUSTER_BLOCK, "other-0000000000000000000000000a020008", "n2",
			 in_use);
	begin_driver();
	ready();
	loop_until(b.base, has_subnet, "10.2.0.0/24");
	before = memory_store_counts(b.store).left_out;
	pool("rail0", RAIL);
	loop_until(b.base, has_subnet, "10.1.0.0/24");
	ck_assert_uint_gt(memory_store_counts(b.store).left_out, before);
	end();
}
END_TEST

/* The name exists, and lies elsewhere. What counts is the uid. */
START_TEST(blocks_of_a_pool_that_was_made_again_elsewhere_are_in_the_way)
{
	begin();
	foreign_block(IN_USE);
	pool("old", OTHER);
	not_used();
	end();
}
END_TEST

TEST_PROGRAM("pool_look", pools_that_are_new_together_share_a_list,
	     a_pool_on_blocks_of_a_deleted_one_is_not_used, a_pool_on_a_marked_block_is_not_used,
	     the_younger_of_two_pools_waits_for_blocks_of_the_older_one,
	     blocks_of_pools_that_exist_are_left_out,
	     blocks_of_a_pool_that_was_made_again_elsewhere_are_in_the_way,
	     a_look_that_fails_is_repeated, an_update_is_looked_at_too,
	     what_the_store_of_the_node_refused_is_tried_again, a_status_is_no_change_of_its_pool)

/* SPDX-License-Identifier: Apache-2.0 */
/* blocks_test.c: the agent's calls on the database of a node, and definitions of shared pools. */
#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define RAIL "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,\"gateway\":\"10.1.0.1\",\"cooldown\":5}"

static struct fixture w;

static void open_rail(void)
{
	fixture_open(&w);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", RAIL), 0);
}

/* A lease, written as an ADD does it. */
static void lease(const char *ip, const char *container)
{
	char key[64], value[256];
	struct ip a;

	ck_assert_int_eq(ip_parse(ip, &a), 0);
	(void)snprintf(key, sizeof(key), "a/p/rail0/4/%08x", (unsigned)a.v);
	(void)snprintf(value, sizeof(value),
		       "{\"state\":\"leased\",\"network\":\"net\",\"container\":\"%s\","
		       "\"ifname\":\"net1\",\"boot\":\"" BOOT_1
		       "\",\"source\":\"x%015x\",\"since\":\"1\"}",
		       container, (unsigned)a.v & ~3U);
	w_scribble(&w, key, value);
	(void)snprintf(value, sizeof(value), "[\"%s\"]", key);
	(void)snprintf(key, sizeof(key), "o/%s/net1/net", container);
	w_scribble(&w, key, value);
}

START_TEST(records_are_read_as_they_were_put)
{
	struct agent_memory memory;

	open_rail();
	ck_assert_int_eq(blocks_load(&w.m, &memory, &w.e), 0);
	ck_assert(memory.n == 0 && memory.node.epoch == 0 && !*memory.node.holder);
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.8", BLOCK_WANTED, 0), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_GRANTED, 3), 0);
	fixture_boot(&w, BOOT_2);
	ck_assert_int_eq(blocks_load(&w.m, &memory, &w.e), 0);
	ck_assert_uint_eq(memory.n, 2);
	ck_assert(memory.blocks[0].state == BLOCK_GRANTED && memory.blocks[0].epoch == 3);
	ck_assert(memory.blocks[1].state == BLOCK_WANTED && memory.blocks[1].token == 7);
	ck_assert_str_eq(memory.node.boot, BOOT_1);
	blocks_clear(&memory);
	fixture_close(&w);
}
END_TEST

START_TEST(a_damaged_record_is_an_error_with_its_key)
{
	struct agent_memory memory;

	open_rail();
	w_scribble(&w, "b/p/rail0/4/0a010004", "{\"state\":\"mine\"}");
	ck_assert_int_eq(blocks_load(&w.m, &memory, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_STORE);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "b/p/rail0/4/0a010004"));
	ck_assert_ptr_nonnull(strstr(w.e.msg, "\"mine\""));
	fixture_close(&w);
}
END_TEST

START_TEST(a_block_needs_its_pool_and_its_grid)
{
	open_rail();
	ck_assert_int_eq(w_block(&w, "other", "10.1.0.4", BLOCK_WANTED, 0), ERR_NOTFOUND);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.5", BLOCK_WANTED, 0), ERR_CONFIG);
	ck_assert_str_eq(w.e.msg, "pool rail0: no block of it starts at 10.1.0.5");
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.1.0", BLOCK_WANTED, 0), ERR_CONFIG);
	ck_assert_int_eq(w_pool(&w, "alone", "{\"subnet\":\"10.2.0.0/24\",\"blockSize\":4}", false),
			 0);
	ck_assert_int_eq(w_block(&w, "alone", "10.2.0.4", BLOCK_WANTED, 0), ERR_NOTFOUND);
	fixture_close(&w);
}
END_TEST

START_TEST(spare_counts_blocks_that_may_give)
{
	open_rail();
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.0", BLOCK_GRANTED, 3), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0); /* the node never renewed */
	w_node(&w, 3, INT64_MAX);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 2); /* neither network nor gateway */
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_GRANTED, 2), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.8", BLOCK_WANTED, 3), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 2);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_GRANTED, 3), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 6);
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.4"), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 2);
	w_node(&w, 3, 1); /* passed long ago */
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	w_node(&w, 4, INT64_MAX);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	w_node(&w, 3, INT64_MAX);
	fixture_boot(&w, BOOT_2);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	fixture_close(&w);
}
END_TEST

START_TEST(a_block_in_use_is_neither_retired_nor_dropped)
{
	struct owner o;

	open_rail();
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_GRANTED, 3), 0);
	lease("10.1.0.7", "c1");
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.4"), 1);
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.8"), 0);
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.4"), 1);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.4"), 1);
	ck_assert_int_eq(shared_pool_remove(&w.m, "rail0", &w.e), 1);
	o = w_owner(&w, "c1");
	ck_assert_int_eq(alloc_del(&w.m, &o, NULL, &w.e), 0);
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.4"), 0);
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.4"), 1); /* it cools down */
	w.now += 6 * SECOND;
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.4"), 0);
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.4"), 0);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.4"), 0);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.4"), 0);
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.4"), -1);
	ck_assert_int_eq(w.e.code, ERR_NOTFOUND);
	w_sound(&w);
	ck_assert_int_eq(shared_pool_remove(&w.m, "rail0", &w.e), 0);
	ck_assert_int_eq(shared_pool_remove(&w.m, "rail0", &w.e), 0);
	fixture_close(&w);
}
END_TEST

START_TEST(a_definition_stays_while_anything_lives)
{
	open_rail();
	ck_assert_int_eq(w_shared(&w, "rail0", "u2", RAIL), 0); /* nothing lives */
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_WANTED, 0), 0);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", RAIL), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "uid"));
	ck_assert_int_eq(
		w_shared(&w, "rail0", "u2", "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8}"),
		ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "blockSize"));
	ck_assert_int_eq(
		w_shared(&w, "rail0", "u2", "{\"subnet\":\"10.1.0.0/23\",\"blockSize\":4}"),
		ERR_BUSY);
	ck_assert_int_eq(shared_pool_remove(&w.m, "rail0", &w.e), 1);
	ck_assert_int_eq(w_pool(&w, "mine", "{\"subnet\":\"10.3.0.0/24\"}", false), 0);
	ck_assert_int_eq(w_shared(&w, "mine", "u3", "{\"subnet\":\"10.4.0.0/24\",\"blockSize\":4}"),
			 ERR_BUSY);
	ck_assert_int_eq(
		w_shared(&w, "rail1", "u3", "{\"subnet\":\"10.3.1.0/16\",\"blockSize\":4}"),
		ERR_CONFIG); /* host bits */
	ck_assert_int_eq(
		w_shared(&w, "rail1", "u3", "{\"subnet\":\"10.3.0.0/24\",\"blockSize\":4}"),
		ERR_BUSY);
	ck_assert_str_eq(w.e.msg, "pool rail1 overlaps with pool mine in 10.3.0.1-10.3.0.254");
	fixture_close(&w);
}
END_TEST

START_TEST(a_change_of_ranges_moves_no_block)
{
	open_rail();
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1",
				  "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,"
				  "\"ranges\":[\"10.1.0.7-10.1.0.9\"]}"),
			 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 1);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1",
				  "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,"
				  "\"ranges\":[\"10.1.0.8-10.1.0.9\"]}"),
			 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(shared_pools_are_listed)
{
	struct json *list = NULL;
	auto_free char *text = NULL;

	open_rail();
	ck_assert_int_eq(w_pool(&w, "mine", "{\"subnet\":\"10.3.0.0/24\"}", false), 0);
	ck_assert_int_eq(shared_pool_list(&w.m, &list, &w.e), 0);
	ck_assert_uint_eq(json_len(list), 1);
	text = json_print(json_first(list), false);
	ck_assert_str_eq(text, "{\"name\":\"rail0\",\"uid\":\"u1\",\"generation\":1,"
			       "\"definition\":" RAIL "}");
	json_free(list);
	fixture_close(&w);
}
END_TEST

START_TEST(a_pool_of_the_agent_is_not_deleted_by_hand_while_it_has_blocks)
{
	const struct admin_delete d = { "rail0", true };

	open_rail();
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_WANTED, 0), 0);
	ck_assert_int_eq(admin_pool_delete(&w.m, &d, NULL, &w.e), -1);
	ck_assert_str_eq(w.e.msg, "pool rail0: this node has 1 block of it");
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.4"), 0);
	ck_assert_int_eq(admin_pool_delete(&w.m, &d, NULL, &w.e), 0);
	fixture_close(&w);
}
END_TEST

START_TEST(a_pool_of_the_agent_without_blocks_is_deleted_only_by_force)
{
	const struct admin_delete d = { "rail0", false }, forced = { "rail0", true };

	open_rail();
	ck_assert_int_eq(admin_pool_delete(&w.m, &d, NULL, &w.e), -1);
	ck_assert_str_eq(w.e.msg, "pool rail0 is a pool of the cluster");
	ck_assert_ptr_nonnull(strstr(w.e.detail, "`railctl cluster pool delete rail0`"));
	ck_assert_int_eq(admin_pool_delete(&w.m, &forced, NULL, &w.e), 0);
	fixture_close(&w);
}
END_TEST

START_TEST(a_pool_with_blocks_is_not_made_by_the_commands_for_one_node)
{
	auto_json struct json *def = NULL;

	fixture_open(&w);
	ck_assert_int_eq(json_parse(RAIL, strlen(RAIL), "d", &def, &w.e), 0);
	struct admin_pool p = { .name = "rail0", .definition = def, .refuse_whole = true };

	ck_assert_int_eq(admin_pool_put(&w.m, &p, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(w.e.detail, "`railctl cluster pool apply FILE`"));
	fixture_close(&w);
}
END_TEST

START_TEST(an_operator_sees_the_blocks_of_the_node)
{
	struct json *list = NULL;
	auto_free char *text = NULL, *pools = NULL;

	open_rail();
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.0", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_RETURNING, 3), 0);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""), "10.1.0.2");
	ck_assert_int_eq(admin_blocks(&w.m, NULL, &list, &w.e), 0);
	text = json_print(list, false);
	ck_assert_str_eq(text, "[{\"pool\":\"rail0\",\"first\":\"10.1.0.0\",\"last\":\"10.1.0.3\","
			       "\"state\":\"granted\",\"assigns\":true,\"probe\":false,"
			       "\"addresses\":2,\"used\":1},"
			       "{\"pool\":\"rail0\",\"first\":\"10.1.0.4\",\"last\":\"10.1.0.7\","
			       "\"state\":\"returning\",\"assigns\":false,\"probe\":false,"
			       "\"addresses\":4,\"used\":0}]");
	json_free(list);
	ck_assert_int_eq(admin_blocks(&w.m, "other", &list, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_NOTFOUND);
	ck_assert_int_eq(admin_pools(&w.m, "rail0", &list, &w.e), 0);
	json_del(json_at_mut(list, 0), "definition");
	pools = json_print(list, false);
	ck_assert_str_eq(
		pools, "[{\"name\":\"rail0\",\"from\":\"cluster\",\"generation\":1,\"reserved\":0,"
		       "\"blocks\":{\"granted\":1,\"others\":1,\"lent\":0,\"borrowed\":0,"
		       "\"uid\":\"u1\"},\"capacity\":2,\"used\":1,\"resting\":0}]");
	json_free(list);
	fixture_close(&w);
}
END_TEST

/* The date is that of the first change, and pods outside of the block do not count. */
START_TEST(blocks_in_conflict_are_listed_with_their_pods)
{
	auto_free char *text = NULL;
	struct json *list = NULL;

	open_rail();
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.0", BLOCK_GRANTED, 3), 0);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""), "10.1.0.2");
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_GRANTED, 3), 0);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c2", ""), "10.1.0.3");
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c3", ""), "10.1.0.4");
	ck_assert_int_eq(admin_conflicts(&w.m, &list, &w.e), 0);
	ck_assert_uint_eq(json_len(list), 0);
	json_free(list);
	w.now = 1700000000 * SECOND;
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_CONTESTED, 0), 0);
	w.now += SECOND;
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_LOST, 0), 0);
	ck_assert_int_eq(admin_conflicts(&w.m, &list, &w.e), 0);
	text = json_print(list, false);
	ck_assert_str_eq(text, "[{\"pool\":\"rail0\",\"first\":\"10.1.0.4\",\"last\":\"10.1.0.7\","
			       "\"state\":\"lost\",\"since\":\"2023-11-14T22:13:20.000000Z\","
			       "\"pods\":[{\"interface\":\"net1\",\"container\":\"c3\","
			       "\"address\":\"10.1.0.4\"}],\"podCount\":1}]");
	json_free(list);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(admin_conflicts(&w.m, &list, &w.e), 0);
	ck_assert_uint_eq(json_len(list), 0);
	json_free(list);
	fixture_close(&w);
}
END_TEST

START_TEST(the_agent_gets_all_keys_of_a_pool)
{
	static const char text[] = "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,\"warm\":9,"
				   "\"idle\":2,\"fence\":\"strict\"}";
	auto_json struct json *def = NULL;
	char uid[] = "u1";
	struct shared_pool_def d = { .name = "rail0", .uid = uid };
	struct shared_pool_view v;
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "test", &def, &e), 0);
	d.definition = def;
	ck_assert_int_eq(shared_pool_decode(&d, &v, &e), 0);
	memset(uid, 'x', 2); /* the caller's text may go */
	ck_assert_str_eq(v.source.blocks.uid, "u1");
	ck_assert_str_eq(v.pool.uid, "u1");
	ck_assert(v.pool.warm == 9 && v.pool.idle == INT64_C(2000000000) && v.pool.strict);
	ck_assert(!v.pool.ending && !v.pool.conflict && v.pool.grid.bits == 2);
	shared_pool_view_clear(&v);
}
END_TEST

START_TEST(a_strict_pool_alone_stops_after_its_fence)
{
	struct node_record n = { .holder = "h", .epoch = 3, .give_until = INT64_MAX };

	open_rail();
	ck_assert_int_eq(w_shared(&w, "rail1", "u2",
				  "{\"subnet\":\"10.2.0.0/24\",\"blockSize\":4,"
				  "\"fence\":\"strict\"}"),
			 0);
	(void)snprintf(n.boot, sizeof(n.boot), "%s", w.m.boot);
	n.fence_until = ctx_since_boot(w.m.ctx) + INT64_C(600000000000);
	ck_assert_int_eq(blocks_put_node(&w.m, &n, &w.e), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(w_block(&w, "rail1", "10.2.0.4", BLOCK_GRANTED, 3), 0);
	ck_assert_uint_eq(w_spare(&w, "rail1"), 4);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail1\"}", "c1", ""), "10.2.0.4");
	n.fence_until = ctx_since_boot(w.m.ctx);
	ck_assert_int_eq(blocks_put_node(&w.m, &n, &w.e), 0);
	ck_assert_uint_eq(w_spare(&w, "rail1"), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 4);
	(void)w_add(&w, "{\"pool\":\"rail1\"}", "c2", "");
	ck_assert_int_eq(w.e.code, ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "fence \"strict\""));
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c3", ""), "10.1.0.4");
	fixture_close(&w);
}
END_TEST

START_TEST(a_pool_of_the_cluster_is_not_changed_by_hand)
{
	open_rail();
	ck_assert_int_eq(w_pool(&w, "rail0", RAIL, true), ERR_BUSY);
	ck_assert_str_eq(w.e.msg, "pool rail0 is a pool of the cluster");
	fixture_close(&w);
}
END_TEST

START_TEST(an_address_of_a_living_pod_is_in_no_second_pool)
{
	open_rail();
	ck_assert_int_eq(w_pool(&w, "a", "{\"subnet\":\"10.5.0.0/24\"}", false), 0);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"a\"}", "c1", ""), "10.5.0.1");
	ck_assert_int_eq(w_pool(&w, "a", "{\"subnet\":\"10.5.1.0/24\"}", true), 0);
	ck_assert_int_eq(w_pool(&w, "b", "{\"subnet\":\"10.5.0.0/24\"}", false), ERR_BUSY);
	ck_assert_str_eq(w.e.msg, "pool b would assign 10.5.0.1, which a pod has as an address of "
				  "pool a");
	ck_assert_int_eq(w_shared(&w, "b", "u2", "{\"subnet\":\"10.5.0.0/24\",\"blockSize\":4}"),
			 ERR_BUSY);
	w_del(&w, "c1");
	ck_assert_int_eq(w_pool(&w, "b", "{\"subnet\":\"10.5.0.0/24\"}", false), 0);
	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("blocks", the_agent_gets_all_keys_of_a_pool, a_strict_pool_alone_stops_after_its_fence,
	     an_address_of_a_living_pod_is_in_no_second_pool,
	     a_pool_of_the_agent_without_blocks_is_deleted_only_by_force,
	     a_pool_with_blocks_is_not_made_by_the_commands_for_one_node,
	     an_operator_sees_the_blocks_of_the_node, blocks_in_conflict_are_listed_with_their_pods,
	     a_pool_of_the_cluster_is_not_changed_by_hand, records_are_read_as_they_were_put,
	     a_damaged_record_is_an_error_with_its_key, a_block_needs_its_pool_and_its_grid,
	     spare_counts_blocks_that_may_give, a_block_in_use_is_neither_retired_nor_dropped,
	     a_definition_stays_while_anything_lives, a_change_of_ranges_moves_no_block,
	     shared_pools_are_listed,
	     a_pool_of_the_agent_is_not_deleted_by_hand_while_it_has_blocks)

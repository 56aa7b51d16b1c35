/* SPDX-License-Identifier: Apache-2.0 */
/* hold_test.c: blocks of this node that the cluster store shows in another way than they are. */
#include "cluster/testing/one_agent.h"
#include "lib/testing/testing.h"

/* Of etcd's two keys of a block, the one that the list is read from was deleted by hand. */
START_TEST(a_block_that_no_list_shows_is_written_again)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable };
	const struct block block = { .pool_uid = "u1", .owner = { "n1", "h", 7 } };
	struct one_agent n = one_agent_node();
	struct agent *a = one_agent_new(&n);
	struct agent_request r;

	one_agent_set_pool(a, &p);
	ck_assert_int_eq(one_agent_write_until(&n, a, 60, &block).call, CALL_GET);
	agent_gone(a, &n.block.key);
	r = one_agent_write_until(&n, a, 90, &block);
	ck_assert_int_eq(r.call, CALL_UPDATE);
	ck_assert(r.unlisted && one_agent_gives(&n));
	agent_answer(a, &(struct agent_reply){ .id = r.id, .at = { "u", "v" }, .block = block });
	ck_assert_int_eq(one_agent_write_until(&n, a, 95, &block).call, CALL_GET);
	agent_listed(a, NULL, 0);
	r = one_agent_write_until(&n, a, 99, &block);
	ck_assert(r.call == CALL_UPDATE && r.unlisted);
	agent_free(a);
}
END_TEST

/* A watch may be late: the block is gone by now, and the node has no pod in it. */
START_TEST(a_block_that_is_gone_is_not_written)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable };
	const struct block block = { .pool_uid = "u1", .owner = { "n2", "other", 8 } };
	struct one_agent n = one_agent_node();
	struct agent *a = one_agent_new(&n);

	one_agent_set_pool(a, &p);
	n.empty = true;
	agent_gone(a, &n.block.key);
	ck_assert_int_eq(one_agent_write_until(&n, a, 90, &block).call, CALL_GET);
	agent_free(a);
}
END_TEST

TEST_PROGRAM("keep", a_block_that_no_list_shows_is_written_again,
	     a_block_that_is_gone_is_not_written)

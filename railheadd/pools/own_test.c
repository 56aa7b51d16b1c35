/* SPDX-License-Identifier: Apache-2.0 */
/* own_test.c: what the agent does when the store changes the blocks of its node. */
#include "railheadd/testing/driver_ask.h"

static bool is_in_the_store(const void *arg)
{
	return memory_store_has(b.store, CLUSTER_BLOCK, arg);
}

/* Else another node could claim it, and assign the address of a living pod. */
START_TEST(a_block_that_was_deleted_is_made_again)
{
	static const char name[] = "rail0-0000000000000000000000000a010005";
	struct outcome o = { .done = false };

	begin();
	pool("rail0", ONE);
	begin_driver();
	ready();
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""), "10.1.0.5");
	ck_assert(is_in_the_store(name));
	memory_store_delete(b.store, CLUSTER_BLOCK, name);
	loop_until(b.base, is_in_the_store, name);
	end();
}
END_TEST

TEST_PROGRAM("own", a_block_that_was_deleted_is_made_again)

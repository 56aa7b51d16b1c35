/* SPDX-License-Identifier: Apache-2.0 */
/* loans_test.c: loans of single addresses, in cases that random runs reach rarely or not at all. */
#include "cluster/testing/world_priv.h"
#include "lib/testing/testing.h"

/* Watches show what they have, and each request is answered. Returns how many of them were lists of
 * blocks. */
static unsigned run_for(struct world *w, unsigned ticks)
{
	unsigned lists = 0;

	for (unsigned i = 0; i < ticks; i++) {
		struct message *msg;

		w->now += RETRY;
		for (unsigned k = 0; k < w->set.nodes; k++) {
			while (world_show(w, &w->machines[k]))
				;
			world_tick(w, &w->machines[k]);
		}
		while ((msg = world_pick(w, 0, false))) {
			lists += msg->request.kind == CLUSTER_BLOCK &&
				 msg->request.call == CALL_LIST;
			world_execute(w, msg);
		}
		while ((msg = world_pick(w, 0, true)))
			world_deliver(w, msg);
	}
	return lists;
}

/* Its ranges may be freed. A pod still has an address of it. */
START_TEST(a_pool_that_is_gone_is_not_listed_for_loans)
{
	const struct world_settings set = { .nodes = 1, .blocks = 2, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *m = &w->machines[0];

	world_settle(w);
	ck_assert(world_add_pod(w, m, 0));
	agent_unset_pool(m->agent, w->pool.name);
	agent_listed(m->agent, NULL, 0);
	ck_assert_uint_eq(run_for(w, 10 * RENEW / RETRY), 0);
	world_free(w);
}
END_TEST

/* The owner's only pod has ended, and the borrower has one. The store forgets the block. */
START_TEST(an_owner_takes_a_forgotten_block_again_for_its_loans)
{
	const struct world_settings set = { .nodes = 2, .blocks = 1, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *owner, *borrower;

	world_settle(w);
	owner = &w->machines[w->machines[0].n_blocks ? 0 : 1];
	borrower = &w->machines[owner == &w->machines[0]];
	ck_assert(world_add_pod(w, owner, 0));
	for (unsigned i = 0; i < 100 && !world_add_pod(w, borrower, 0); i++)
		(void)run_for(w, 1);
	world_settle(w);
	ck_assert_uint_eq(owner->blocks[0].n_lent, 1);
	world_del_pod(w, owner, 0);
	world_restore(w);
	world_settle(w);
	ck_assert_uint_eq(owner->n_blocks, 1);
	ck_assert_int_eq(owner->blocks[0].state, BLOCK_GRANTED);
	ck_assert_uint_eq(owner->blocks[0].n_lent, 1);
	ck_assert_int_eq(borrower->blocks[0].state, BLOCK_GRANTED);
	ck_assert_ptr_null(world_heal(w));
	world_free(w);
}
END_TEST

TEST_PROGRAM("loans", an_owner_takes_a_forgotten_block_again_for_its_loans,
	     a_pool_that_is_gone_is_not_listed_for_loans)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_test.c: a store that is restored forgets a block, and another node claims it. Pods
 * decide who keeps it; if both nodes have pods, the older owner is told that it lost the block.
 */
#include "cluster/testing/world_priv.h"
#include "lib/testing/testing.h"

struct pair {
	struct world *w;
	struct machine *first, *second; /* the owner before the restore, and after it */
};

static struct block_record record_of(const struct machine *m)
{
	ck_assert_uint_eq(m->n_blocks, 1);
	return m->blocks[0];
}

/* One pool of one block. The first node has a pod in it; the second claims it after a restore. */
static struct pair claimed_twice(void)
{
	const struct world_settings set = { .nodes = 2, .blocks = 1, .bits = 1, .quiet = true };
	struct pair p = { .w = world_new(&set) };

	world_settle(p.w);
	p.first = &p.w->machines[p.w->machines[0].n_blocks ? 0 : 1];
	p.second = &p.w->machines[p.first == &p.w->machines[0]];
	ck_assert(world_add_pod(p.w, p.first, 0));
	p.first->cut = true;
	world_stop_agent(p.first);
	world_restore(p.w);
	world_settle(p.w);
	ck_assert_int_eq(record_of(p.second).state, BLOCK_GRANTED);
	return p;
}

static void first_is_back(const struct pair *p)
{
	p->first->cut = false;
	world_start_agent(p->w, p->first);
	world_settle(p->w);
}

START_TEST(an_owner_without_pods_hands_it_back)
{
	struct pair p = claimed_twice();

	first_is_back(&p);
	ck_assert_int_eq(record_of(p.first).state, BLOCK_GRANTED);
	ck_assert_uint_eq(p.second->n_blocks, 0);
	ck_assert(world_add_pod(p.w, p.first, 0));
	world_free(p.w);
}
END_TEST

START_TEST(two_owners_with_pods_keep_them_and_one_assigns_no_more)
{
	struct pair p = claimed_twice();

	ck_assert(world_add_pod(p.w, p.second, 0));
	first_is_back(&p);
	ck_assert_int_eq(record_of(p.first).state, BLOCK_LOST);
	ck_assert_int_eq(record_of(p.second).state, BLOCK_GRANTED);
	ck_assert(!world_add_pod(p.w, p.first, 0));
	ck_assert(world_add_pod(p.w, p.second, 0));
	world_free(p.w);
}
END_TEST

START_TEST(a_lost_block_is_forgotten_when_its_pods_end)
{
	struct pair p = claimed_twice();

	ck_assert(world_add_pod(p.w, p.second, 0));
	first_is_back(&p);
	world_del_pod(p.w, p.first, 0);
	world_settle(p.w);
	ck_assert_uint_eq(p.first->n_blocks, 0);
	world_free(p.w);
}
END_TEST

START_TEST(a_block_that_vanished_is_claimed_again)
{
	const struct world_settings set = { .nodes = 1, .blocks = 1, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *m = &w->machines[0];

	world_settle(w);
	ck_assert(world_add_pod(w, m, 0));
	world_restore(w);
	world_settle(w);
	ck_assert_int_eq(record_of(m).state, BLOCK_GRANTED);
	ck_assert(block_may_give(&m->node, &m->blocks[0]));
	ck_assert(world_add_pod(w, m, 0));
	ck_assert_ptr_null(world_heal(w));
	world_free(w);
}
END_TEST

TEST_PROGRAM("restore", an_owner_without_pods_hands_it_back,
	     two_owners_with_pods_keep_them_and_one_assigns_no_more,
	     a_lost_block_is_forgotten_when_its_pods_end, a_block_that_vanished_is_claimed_again)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_test.c: a store that is restored forgets a block, and another node claims it. Pods
 * decide who keeps it; if both nodes have pods, the older owner is told that it lost the block. Two
 * machines of one name stop. What an agent knows when it ends, its next process knows.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/testing/one_agent.h"
#include "cluster/testing/world_priv.h"
#include "ipam/lease/block_value.h"
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

/* The store is restored again: it shows the ask that the first owner had taken back. */
START_TEST(a_lost_block_that_is_handed_over_is_confirmed)
{
	struct pair p = claimed_twice();
	struct object *o;

	ck_assert(world_add_pod(p.w, p.second, 0));
	first_is_back(&p);
	ck_assert_int_eq(record_of(p.first).state, BLOCK_LOST);
	world_del_pod(p.w, p.second, 0);
	memcpy(p.w->snapshot, p.w->objects, sizeof(p.w->snapshot));
	p.w->snapshot_versions = p.w->versions;
	for (o = p.w->snapshot; o->kind != CLUSTER_BLOCK || !o->there; o++)
		;
	o->block.asker.token = record_of(p.first).token;
	(void)snprintf(o->block.asker.node, sizeof(o->block.asker.node), "%s", p.first->name);
	(void)snprintf(o->block.asker.holder, sizeof(o->block.asker.holder), "%s",
		       p.first->node.holder);
	o->block.contested = true;
	o->block.kept = false;
	world_restore(p.w);
	world_settle(p.w);
	ck_assert_int_eq(record_of(p.first).state, BLOCK_GRANTED);
	ck_assert_uint_eq(p.second->n_blocks, 0);
	ck_assert_ptr_null(world_heal(p.w));
	world_free(p.w);
}
END_TEST

/* The operator ends one of the machines, and deletes the heartbeat. */
START_TEST(two_machines_of_one_name_stop_until_an_operator_ends_one)
{
	const struct world_settings set = {
		.nodes = 2, .blocks = 2, .bits = 1, .clones = true, .quiet = true
	};
	struct world *w = world_new(&set);
	struct machine *m = w->machines;

	world_settle(w);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(agent_health(m[i].agent), AGENT_TWIN);
		ck_assert(!world_add_pod(w, &m[i], 0));
	}
	world_power_off(w, &m[1]);
	world_settle(w);
	ck_assert_int_eq(agent_health(m[0].agent), AGENT_TWIN);
	world_find(w, CLUSTER_HEARTBEAT, m[0].name)->there = false;
	world_settle(w);
	ck_assert_int_eq(agent_health(m[0].agent), AGENT_OK);
	ck_assert(world_add_pod(w, &m[0], 0));
	world_free(w);
}
END_TEST

static void answer_all(struct world *w)
{
	struct message *msg;

	while ((msg = world_pick(w, 0, false)))
		world_execute(w, msg);
	while ((msg = world_pick(w, 0, true)))
		world_deliver(w, msg);
}

START_TEST(an_agent_that_restarts_stays_frozen)
{
	const struct world_settings set = { .nodes = 1, .blocks = 1, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *m = &w->machines[0];

	world_settle(w);
	world_restore(w);
	while (!m->node.frozen) {
		w->now += RETRY;
		world_tick(w, m);
		answer_all(w);
	}
	world_stop_agent(m);
	world_start_agent(w, m);
	answer_all(w);
	answer_all(w);
	ck_assert_int_eq(agent_health(m->agent), AGENT_FROZEN);
	world_settle(w);
	ck_assert_int_eq(agent_health(m->agent), AGENT_OK);
	ck_assert_int_eq(m->node.frozen, 0);
	world_free(w);
}
END_TEST

/* The node is told that the store forgot the block, while it still asks whether the pool is there.
 */
START_TEST(a_claim_that_a_restore_forgot_assigns_nothing)
{
	const struct world_settings set = { .nodes = 1, .blocks = 1, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *m = &w->machines[0];
	const struct block_key key = world_block(w, 0);
	char name[GRID_NAME_LEN];

	while (!world_find(w, CLUSTER_BLOCK, grid_name(key.pool, key.start, name))) {
		w->now += RETRY;
		world_tick(w, m);
		answer_all(w);
	}
	ck_assert_int_eq(record_of(m).state, BLOCK_WANTED);
	world_restore(w);
	while (world_show(w, m))
		;
	answer_all(w);
	ck_assert_int_eq(record_of(m).state, BLOCK_GRANTED);
	ck_assert(!world_add_pod(w, m, 0));
	world_settle(w);
	ck_assert(world_add_pod(w, m, 0));
	ck_assert_ptr_null(world_heal(w));
	world_free(w);
}
END_TEST

/*
 * The agent ended before it had given back a block that it had claimed from a pool that is gone.
 * The next process still has the old definition of the pool, and another node asks for the block.
 */
START_TEST(a_block_of_a_pool_that_is_gone_is_handed_over_by_no_later_process)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable };
	struct block b = { .pool_uid = "u1",
			   .owner = { "n1", "h", 7 },
			   .asker = { "n2", "h2", 8 } };
	struct one_agent n = one_agent_node();
	struct agent_request r;
	struct agent *a;
	struct key key;
	struct err e;

	n.empty = true;
	n.block.state = BLOCK_RETURNING;
	n.block.unwanted = true;
	auto_free char *stored = block_value_print(&n.block);
	block_value_key(&n.block.key, &key);
	ck_assert_int_eq(block_value_parse(key.s, stored, &n.block, &e), 0);
	a = one_agent_new(&n);
	one_agent_set_pool(a, &p);
	r = one_agent_write_until(&n, a, 1000, &b);
	ck_assert_int_eq(r.call, CALL_REMOVE);
	agent_free(a);
}
END_TEST

/* Else its mark that addresses are to be probed would be lost with it. */
START_TEST(a_block_that_a_newer_pool_wants_is_unwanted_no_more)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable };
	struct block b = { .pool_uid = "u0", .owner = { "n1", "h", 7 }, .probe = true };
	struct one_agent n = one_agent_node();
	struct agent_request r;
	struct agent *a;

	n.block.epoch = 0;
	n.block.unwanted = true;
	a = one_agent_new(&n);
	one_agent_set_pool(a, &p);
	r = one_agent_write_until(&n, a, 1000, &b);
	ck_assert_int_eq(r.call, CALL_UPDATE);
	ck_assert_str_eq(r.block.pool_uid, "u1");
	agent_answer(a, &(struct agent_reply){ .id = r.id, .block = r.block });
	ck_assert(one_agent_gives(&n) && !n.block.unwanted);
	agent_free(a);
}
END_TEST

/* A warm address stays. */
START_TEST(empty_blocks_are_returned_after_a_while)
{
	const struct world_settings set = { .nodes = 1, .blocks = 4, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *m = &w->machines[0];

	w->pool.idle = 3 * RENEW;
	world_show_pool(w, m);
	world_settle(w);
	for (unsigned i = 0; i < 6; i++) {
		ck_assert(world_add_pod(w, m, 0));
		world_settle(w);
	}
	ck_assert_uint_eq(m->n_blocks, 4);
	for (unsigned i = 0; i < 6; i++)
		world_del_pod(w, m, 0);
	world_settle(w);
	ck_assert_uint_eq(m->n_blocks, 1);
	world_free(w);
}
END_TEST

TEST_PROGRAM("restore", an_owner_without_pods_hands_it_back,
	     a_lost_block_that_is_handed_over_is_confirmed,
	     two_owners_with_pods_keep_them_and_one_assigns_no_more,
	     two_machines_of_one_name_stop_until_an_operator_ends_one,
	     an_agent_that_restarts_stays_frozen, empty_blocks_are_returned_after_a_while,
	     a_lost_block_is_forgotten_when_its_pods_end, a_block_that_vanished_is_claimed_again,
	     a_claim_that_a_restore_forgot_assigns_nothing,
	     a_block_of_a_pool_that_is_gone_is_handed_over_by_no_later_process,
	     a_block_that_a_newer_pool_wants_is_unwanted_no_more)

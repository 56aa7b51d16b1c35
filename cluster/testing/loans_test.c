/* SPDX-License-Identifier: Apache-2.0 */
/* loans_test.c: loans of single addresses, in cases that random runs reach rarely or not at all. */
#include <stdio.h>
#include <string.h>

#include "cluster/testing/world_priv.h"
#include "lib/testing/testing.h"

static struct object *find_block(struct world *w, const struct block_key *key)
{
	char name[CLUSTER_NAME_LEN];

	(void)grid_name(key->pool, key->start, name);
	return world_find(w, CLUSTER_BLOCK, name);
}

/* Watches show what they have, and agents do what is due. */
static void tick(struct world *w)
{
	w->now += RETRY;
	for (unsigned k = 0; k < w->set.nodes; k++) {
		while (world_show(w, &w->machines[k]))
			;
		world_tick(w, &w->machines[k]);
	}
}

static bool is_list(const struct message *msg)
{
	return msg->request.kind == CLUSTER_BLOCK && msg->request.call == CALL_LIST;
}

/* Each request is answered; lists of blocks so. Returns how many lists of blocks were requested. */
static unsigned reply(struct world *w, enum cluster_outcome answer)
{
	struct message *msg;
	unsigned lists = 0;

	while ((msg = world_pick(w, 0, false))) {
		lists += is_list(msg);
		world_execute(w, msg);
		if (is_list(msg))
			msg->reply.outcome = answer;
	}
	while ((msg = world_pick(w, 0, true)))
		world_deliver(w, msg);
	return lists;
}

static unsigned run(struct world *w, unsigned ticks, enum cluster_outcome answer)
{
	unsigned lists = 0;

	for (unsigned i = 0; i < ticks; i++) {
		tick(w);
		lists += reply(w, answer);
	}
	return lists;
}

static unsigned run_for(struct world *w, unsigned ticks)
{
	return run(w, ticks, CLUSTER_OK);
}

/* The pool has one block, of which one node lends an address to the other one. */
static void lend(struct world *w, struct machine **owner, struct machine **borrower)
{
	world_settle(w);
	*owner = &w->machines[w->machines[0].n_blocks ? 0 : 1];
	*borrower = &w->machines[*owner == &w->machines[0]];
	ck_assert(world_add_pod(w, *owner, 0));
	for (unsigned i = 0; i < 100 && !world_add_pod(w, *borrower, 0); i++)
		(void)run_for(w, 1);
	world_settle(w);
	ck_assert_uint_eq((*owner)->lent[0].n, 1);
	ck_assert_str_eq((*borrower)->blocks[0].lender, (*owner)->name);
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
	ck_assert_uint_eq(run_for(w, 100 * RENEW / RETRY), 0);
	world_free(w);
}
END_TEST

/* The owner's only pod has ended, and the borrower has one. The store forgets the block. */
START_TEST(an_owner_takes_a_forgotten_block_again_for_its_loans)
{
	const struct world_settings set = { .nodes = 2, .blocks = 1, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *owner, *borrower;

	lend(w, &owner, &borrower);
	world_del_pod(w, owner, 0);
	world_restore(w);
	world_settle(w);
	ck_assert_uint_eq(owner->n_blocks, 1);
	ck_assert_int_eq(owner->blocks[0].state, BLOCK_GRANTED);
	ck_assert_uint_eq(owner->lent[0].n, 1);
	ck_assert_int_eq(borrower->blocks[0].state, BLOCK_GRANTED);
	ck_assert_ptr_null(world_heal(w));
	world_free(w);
}
END_TEST

/* A list of the own blocks comes whenever a watch ends, at all nodes at once. */
START_TEST(the_pool_is_listed_for_loans_after_a_restore_alone)
{
	const struct world_settings set = { .nodes = 1, .blocks = 2, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *m = &w->machines[0];
	unsigned lists;

	/* A thousand new nodes would list the pool a thousand times. */
	ck_assert_uint_eq(run_for(w, 200 * RENEW / RETRY), 0);
	world_stop_agent(m);
	world_start_agent(w, m);
	ck_assert_uint_eq(run_for(w, 20 * RENEW / RETRY), 0);
	world_list_again(m);
	ck_assert_uint_eq(run_for(w, 20 * RENEW / RETRY), 0);
	world_restore(w);
	lists = run_for(w, 20 * RENEW / RETRY);
	ck_assert_uint_gt(lists, 0);
	/* After 8, 16, 32, ... heartbeats. */
	lists += run_for(w, 1000 * RENEW / RETRY);
	ck_assert_uint_ge(lists, 7);
	ck_assert_uint_le(lists, 9);
	world_free(w);
}
END_TEST

START_TEST(a_pool_that_begins_to_leave_is_listed_for_loans)
{
	const struct world_settings set = { .nodes = 1, .blocks = 2, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *m = &w->machines[0];

	world_settle(w);
	(void)run_for(w, 200 * RENEW / RETRY);
	world_stop_agent(m);
	world_start_agent(w, m);
	ck_assert_uint_eq(run_for(w, 20 * RENEW / RETRY), 0);
	w->pool.lends = false;
	w->pool_version++;
	ck_assert_uint_gt(run_for(w, 20 * RENEW / RETRY), 0);
	world_free(w);
}
END_TEST

/* The borrower gave the loan back and looked after the restore, before the owner wrote it again. */
START_TEST(a_loan_of_an_owner_that_was_away_for_long_comes_back)
{
	const struct world_settings set = { .nodes = 2, .blocks = 1, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *owner, *borrower;

	lend(w, &owner, &borrower);
	world_stop_agent(owner);
	/* Nobody claims what the store forgets. */
	w->pool.warm = 0;
	w->pool_version++;
	world_del_pod(w, borrower, 0);
	(void)run_for(w, 10 * RENEW / RETRY);
	ck_assert_uint_eq(borrower->n_blocks, 0);
	world_restore(w);
	(void)run_for(w, 30 * RENEW / RETRY);
	ck_assert_uint_eq(borrower->n_blocks, 0);
	world_start_agent(w, owner);
	(void)run_for(w, 4 * RENEW / RETRY);
	ck_assert_uint_eq(owner->lent[0].n, 1);
	(void)run_for(w, 60 * RENEW / RETRY);
	ck_assert_uint_eq(owner->lent[0].n, 0);
	ck_assert_ptr_null(world_heal(w));
	world_free(w);
}
END_TEST

/* The agent begins again before it has listed the pool. */
START_TEST(a_new_disk_is_remembered_until_its_loans_came_back)
{
	const struct world_settings set = { .nodes = 2, .blocks = 1, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *owner, *borrower;

	lend(w, &owner, &borrower);
	/* Nobody needs an address, so that nobody lists the pool for it. */
	w->pool.warm = 0;
	w->pool_version++;
	(void)run_for(w, 2 * RENEW / RETRY);
	world_new_disk(w, borrower);
	while (!borrower->node.epoch)
		(void)run_for(w, 1);
	ck_assert_uint_eq(owner->lent[0].n, 1);
	world_stop_agent(borrower);
	world_start_agent(w, borrower);
	(void)run_for(w, 20 * RENEW / RETRY);
	ck_assert_uint_eq(owner->lent[0].n, 0);
	world_free(w);
}
END_TEST

/* The owner is away, and a list shows the loan: the address beyond a block is another block's. */
START_TEST(a_loan_beyond_the_block_is_not_recorded)
{
	const struct world_settings set = { .nodes = 2, .blocks = 2, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *owner = &w->machines[0], *other = &w->machines[1];
	struct block *b;

	world_settle(w);
	ck_assert_uint_eq(owner->n_blocks, 1);
	ck_assert(world_add_pod(w, owner, 0));
	world_stop_agent(owner);
	b = &find_block(w, &owner->blocks[0].key)->block;
	b->loans[b->n_loans++] = (struct loan){ .at = 2, .taken = true, .to = { .token = 7 } };
	(void)snprintf(b->loans[0].to.node, sizeof(b->loans[0].to.node), "%s", other->name);
	for (unsigned i = 0; i < 20 * RENEW / RETRY; i++) {
		(void)run_for(w, 1);
		ck_assert_uint_eq(other->n_blocks, 1);
	}
	world_start_agent(w, owner);
	world_settle(w);
	ck_assert_uint_eq(b->n_loans, 0);
	ck_assert_ptr_null(world_heal(w));
	world_free(w);
}
END_TEST

/* A store that is busy or away gets no list of a large pool again and again. */
START_TEST(a_list_for_loans_that_fails_is_repeated_ever_less)
{
	static const enum cluster_outcome answers[] = { CLUSTER_AWAY, CLUSTER_REFUSED };

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		const struct world_settings set = {
			.nodes = 1, .blocks = 2, .bits = 1, .quiet = true
		};
		struct world *w = world_new(&set);
		unsigned lists;

		world_settle(w);
		world_restore(w);
		lists = run(w, 100 * RENEW / RETRY, answers[i]);
		ck_assert_uint_ge(lists, 8);
		ck_assert_uint_le(lists, 20);
		/* When it succeeds, the pauses of lists that succeed begin. */
		ck_assert_uint_le(run_for(w, 60 * RENEW / RETRY), 4);
		world_free(w);
	}
}
END_TEST

/* The owner has only loans. While it is away, another node claims what a restore forgot. */
START_TEST(a_new_owner_learns_that_an_address_was_lent)
{
	const struct world_settings set = { .nodes = 3, .blocks = 1, .bits = 2, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *owner, *borrower, *taker = &w->machines[2];
	bool gives = false;

	world_stop_agent(taker);
	lend(w, &owner, &borrower);
	world_del_pod(w, owner, 0);
	world_stop_agent(owner);
	world_stop_agent(borrower);
	world_restore(w);
	world_start_agent(w, taker);
	for (unsigned i = 0; i < 1000 && !gives; i++) {
		(void)run_for(w, 1);
		gives = taker->n_blocks && world_add_pod(w, taker, IPS - 1);
	}
	ck_assert(gives && !taker->blocks[0].probe);
	world_start_agent(w, owner);
	(void)run_for(w, 20 * RENEW / RETRY);
	ck_assert(taker->blocks[0].probe);
	ck_assert_uint_eq(owner->n_blocks, 0);
	world_free(w);
}
END_TEST

/* A restored store shows an earlier claim of the owner, which lent the address of its pod. */
START_TEST(a_restored_claim_lends_no_address_of_a_pod)
{
	for (unsigned taken = 0; taken < 2; taken++) {
		const struct world_settings set = {
			.nodes = 2, .blocks = 1, .bits = 1, .quiet = true
		};
		struct world *w = world_new(&set);
		struct machine *owner, *borrower;
		struct object *o;

		world_settle(w);
		owner = &w->machines[w->machines[0].n_blocks ? 0 : 1];
		borrower = &w->machines[owner == &w->machines[0]];
		ck_assert(world_add_pod(w, owner, 0));
		memcpy(w->snapshot, w->objects, sizeof(w->snapshot));
		for (o = w->snapshot; o->kind != CLUSTER_BLOCK || !o->there; o++)
			;
		o->block.owner.token++;
		o->block.n_loans = 1;
		o->block.loans[0] = (struct loan){ .taken = taken, .to = { .token = 7 } };
		(void)snprintf(o->block.loans[0].to.node, sizeof(o->block.loans[0].to.node), "%s",
			       borrower->name);
		world_stop_agent(borrower);
		world_restore(w);
		for (unsigned i = 0; i < 10 * RENEW / RETRY; i++) {
			(void)run_for(w, 1);
			ck_assert_uint_eq(owner->lent[0].n, 0);
		}
		ck_assert(block_may_give(&owner->node, &owner->blocks[0]));
		ck_assert_uint_eq(find_block(w, &owner->blocks[0].key)->block.n_loans, 0);
		world_start_agent(w, borrower);
		world_settle(w);
		ck_assert_ptr_null(world_heal(w));
		world_free(w);
	}
}
END_TEST

/* The pool was deleted when the store had forgotten the block. No watch has shown that yet. */
START_TEST(a_block_of_a_pool_that_is_gone_waits_for_its_loans_and_assigns_nothing)
{
	const struct world_settings set = { .nodes = 2, .blocks = 1, .bits = 1, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *owner, *borrower;
	bool contested = false;

	lend(w, &owner, &borrower);
	world_restore(w);
	w->pool_there = false;
	for (unsigned i = 0; i < 20 * RENEW / RETRY; i++) {
		(void)run_for(w, 1);
		ck_assert_uint_eq(owner->lent[0].n, 1);
		contested |= owner->blocks[0].state == BLOCK_CONTESTED;
		ck_assert(!contested || !block_may_give(&owner->node, &owner->blocks[0]));
	}
	ck_assert(contested && find_block(w, &owner->blocks[0].key));
	w->pool_version++;
	world_del_pod(w, owner, 0);
	world_del_pod(w, borrower, 0);
	world_settle(w);
	ck_assert_uint_eq(owner->n_blocks + borrower->n_blocks, 0);
	ck_assert_ptr_null(world_heal(w));
	world_free(w);
}
END_TEST

/* With fence off no new epoch begins. A taker has returned the loan, and the owner has freed it. */
START_TEST(a_node_that_was_cut_off_looks_at_its_loans_at_once)
{
	for (unsigned beats = 0; beats < 8; beats++) {
		const struct world_settings set = {
			.nodes = 2, .blocks = 1, .bits = 1, .quiet = true
		};
		struct world *w = world_new(&set);
		struct machine *owner, *borrower;

		lend(w, &owner, &borrower);
		world_stop_agent(owner);
		(void)run_for(w, beats * RENEW / RETRY);
		ck_assert(block_may_give(&borrower->node, &borrower->blocks[0]));
		find_block(w, &borrower->blocks[0].key)->block.n_loans = 0;
		w->now += HOLD / 2;
		(void)run_for(w, RENEW / RETRY);
		ck_assert_int_eq(borrower->blocks[0].state, BLOCK_CONTESTED);
		world_free(w);
	}
}
END_TEST

static bool is_borrowed(const struct block *b)
{
	return b->n_loans == 1 && b->loans[0].taken && !b->loans[0].returned;
}

/* Three owners are asked at once, and each of them makes an offer. */
START_TEST(a_need_takes_no_more_loans_than_it_waits_for)
{
	const struct world_settings set = { .nodes = 4, .blocks = 3, .bits = 2, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *borrower = NULL;
	unsigned offers = 0, taken = 0;
	bool given = false;

	world_settle(w);
	for (unsigned k = 0; k < set.nodes; k++) {
		if (w->machines[k].n_blocks)
			ck_assert(world_add_pod(w, &w->machines[k], 0));
		else
			borrower = &w->machines[k];
	}
	(void)run_for(w, 4 * RENEW / RETRY);
	ck_assert_ptr_nonnull(borrower);
	for (unsigned i = 0; i < 20 * RENEW / RETRY && (!given || i < RENEW / RETRY); i++) {
		unsigned now = 0;

		given |= !given && world_add_pod(w, borrower, 0);
		(void)run_for(w, 1);
		for (size_t k = 0; k < OBJECTS; k++)
			now += w->objects[k].there && is_borrowed(&w->objects[k].block);
		taken = now > taken ? now : taken;
		offers = w->counts.lends;
	}
	ck_assert(given);
	ck_assert_uint_eq(offers, 3);
	ck_assert_uint_eq(taken, 1);
	/* No other node waits until the other offers end. */
	(void)run_for(w, 3);
	for (unsigned k = 0; k < set.nodes; k++)
		taken += w->machines[k].lent[0].n;
	ck_assert_uint_eq(taken, 1 + 1);
	world_free(w);
}
END_TEST

static bool is_listing(struct world *w, const struct machine *m)
{
	for (size_t i = 0; i < MESSAGES; i++) {
		const struct message *msg = &w->messages[i];

		if (msg->used && is_list(msg) && &w->machines[msg->node] == m)
			return true;
	}
	return false;
}

/* After a restore the node lists the pool, and meanwhile a pod begins to wait. */
START_TEST(a_list_for_loans_serves_a_need_too)
{
	const struct world_settings set = { .nodes = 2, .blocks = 1, .bits = 2, .quiet = true };
	struct world *w = world_new(&set);
	struct machine *owner, *borrower;
	unsigned lists, lends;

	lend(w, &owner, &borrower);
	memcpy(w->snapshot, w->objects, sizeof(w->snapshot));
	w->snapshot_versions = w->versions;
	(void)run_for(w, 2 * RENEW / RETRY);
	world_restore(w);
	for (tick(w); !is_listing(w, borrower); tick(w))
		(void)reply(w, CLUSTER_OK);
	lends = w->counts.lends;
	ck_assert(!world_add_pod(w, borrower, 0));
	lists = reply(w, CLUSTER_OK);
	for (unsigned i = 0; i < 100 && w->counts.lends == lends; i++)
		lists += run_for(w, 1);
	ck_assert_uint_eq(w->counts.lends, lends + 1);
	ck_assert_uint_eq(lists, 1);
	world_free(w);
}
END_TEST

/* A restore gave the loan of a living pod to another node, and the owner of the block is off. */
static void give_loan_away(struct world *w, struct machine *m, enum block_state state)
{
	struct block_record *r = &m->blocks[0];
	struct block *b = &find_block(w, &r->key)->block;

	ck_assert_uint_eq(b->n_loans, 1);
	(void)snprintf(b->loans[0].to.node, sizeof(b->loans[0].to.node), "other");
	b->loans[0].to.token++;
	b->owner = (struct block_party){ .token = 0 };
	world_stop_agent(m);
	r->state = state;
	r->epoch = 0;
	world_start_agent(w, m);
}

/* The node claims the whole block, which lends the address of its pod to another node. */
START_TEST(a_lost_loan_stays_in_conflict_when_its_node_claims_the_block)
{
	static const enum block_state states[] = { BLOCK_LOST, BLOCK_CONTESTED };

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		const struct world_settings set = {
			.nodes = 2, .blocks = 1, .bits = 1, .quiet = true
		};
		struct world *w = world_new(&set);
		struct machine *owner, *borrower;
		struct block_key key;

		lend(w, &owner, &borrower);
		key = block_key_whole(&borrower->blocks[0].key);
		world_power_off(w, owner);
		give_loan_away(w, borrower, states[i]);
		(void)run_for(w, 20 * RENEW / RETRY);
		ck_assert(world_on_disk(borrower, &key));
		ck_assert_int_eq(world_on_disk(borrower, &key)->state, BLOCK_GRANTED);
		ck_assert_uint_eq(agent_conflicts(borrower->agent), 1);
		world_del_pod(w, borrower, 0);
		(void)run_for(w, 20 * RENEW / RETRY);
		ck_assert_uint_eq(agent_conflicts(borrower->agent), 0);
		/* The other pod keeps it. */
		ck_assert_uint_eq(world_lends(borrower, world_on_disk(borrower, &key))->n, 1);
		ck_assert_uint_eq(find_block(w, &key)->block.n_loans, 1);
		world_free(w);
	}
}
END_TEST

TEST_PROGRAM("loans", the_pool_is_listed_for_loans_after_a_restore_alone,
	     a_pool_that_begins_to_leave_is_listed_for_loans,
	     a_loan_of_an_owner_that_was_away_for_long_comes_back,
	     an_owner_takes_a_forgotten_block_again_for_its_loans,
	     a_pool_that_is_gone_is_not_listed_for_loans, a_loan_beyond_the_block_is_not_recorded,
	     a_new_disk_is_remembered_until_its_loans_came_back,
	     a_list_for_loans_that_fails_is_repeated_ever_less,
	     a_new_owner_learns_that_an_address_was_lent,
	     a_restored_claim_lends_no_address_of_a_pod,
	     a_block_of_a_pool_that_is_gone_waits_for_its_loans_and_assigns_nothing,
	     a_node_that_was_cut_off_looks_at_its_loans_at_once,
	     a_need_takes_no_more_loans_than_it_waits_for, a_list_for_loans_serves_a_need_too,
	     a_lost_loan_stays_in_conflict_when_its_node_claims_the_block)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate_test.c: a virtual machine that migrates: its block has an owner, and a node beside it. A
 * pod that two nodes start at the same moment.
 */
#include <stdio.h>

#include "cluster/testing/one_agent.h"
#include "cluster/testing/world_pods.h"
#include "lib/testing/testing.h"

/* The machine lives at the target, and nowhere else would its address be known. */
START_TEST(a_source_hands_its_block_over_although_the_pool_ends)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.usable = &usable, .sticky = true, .ending = true };
	const struct block block = { .pool_uid = "u1",
				     .owner = { "n1", "h", 7 },
				     .asker = { "n2", "other", 8 },
				     .migrates = true,
				     .identity = "ns/vm:web/net1" };
	struct one_agent n = one_agent_node();
	struct agent_request sent;
	struct agent *a;

	n.empty = true;
	a = one_agent_new(&n);
	one_agent_set_pool(a, &p);
	sent = one_agent_write_until(&n, a, 400, &block);
	ck_assert_int_eq(sent.call, CALL_UPDATE);
	ck_assert(party_equal(&sent.block.owner, &block.asker));
	ck_assert_str_eq(sent.block.identity, block.identity);
	ck_assert(!*sent.block.asker.node && !sent.block.migrates);
	agent_free(a);
}
END_TEST

/* What n1 writes when it gives up `block`. */
static struct block given_up(const struct block *block, const char *identity)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.usable = &usable, .sticky = true };
	struct one_agent n = one_agent_node();
	struct agent_request sent;
	struct agent *a;

	n.empty = true;
	n.block.state = BLOCK_RETURNING;
	(void)snprintf(n.block.identity, sizeof(n.block.identity), "%s", identity);
	a = one_agent_new(&n);
	one_agent_set_pool(a, &p);
	sent = one_agent_write_until(&n, a, 400, block);
	ck_assert_int_eq(sent.call, CALL_UPDATE);
	agent_free(a);
	return sent.block;
}

/*
 * The target had given the block up already, because another one had the identity, when the source
 * handed it over. The pod of the source had the address.
 */
START_TEST(an_address_does_not_end_with_a_target_that_gives_up)
{
	const struct block of_source = { .pool_uid = "u1",
					 .owner = { "n1", "h", 7 },
					 .asker = { "n2", "other", 8 },
					 .migrates = true,
					 .identity = "ns/vm:web/net1" };
	struct block of_target = given_up(&of_source, of_source.identity), left;

	ck_assert(party_equal(&of_target.owner, &of_source.asker));
	ck_assert_str_eq(of_target.parked_by, "n1");
	of_target.owner = of_source.owner;
	left = given_up(&of_target, "");
	ck_assert(block_is_parked(&left));
	ck_assert_str_eq(left.identity, of_source.identity);

	/* A source that claimed it in vain, as may the target: no pod had the address. */
	of_target = given_up(&of_source, "");
	ck_assert_str_eq(of_target.parked_by, "");
	of_target.owner = of_source.owner;
	of_target.probe = true;
	left = given_up(&of_target, "");
	ck_assert(!block_is_parked(&left));
}
END_TEST

/* A store that was restored gave our block to n2, and its machine migrates to n3 now. */
START_TEST(no_contest_takes_the_place_of_a_target)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.usable = &usable, .sticky = true };
	struct block block = { .pool_uid = "u1",
			       .owner = { "n2", "other", 9 },
			       .asker = { "n3", "third", 8 },
			       .migrates = true,
			       .identity = "ns/vm:web/net1" };
	struct one_agent n = one_agent_node();
	struct agent_request sent;
	struct agent *a;

	n.block.state = BLOCK_CONTESTED;
	a = one_agent_new(&n);
	one_agent_set_pool(a, &p);
	ck_assert_int_eq(one_agent_write_until(&n, a, 2000, &block).call, CALL_GET);
	/* The migration has ended. */
	block.asker = (struct block_party){ 0 };
	block.migrates = false;
	sent = one_agent_write_until(&n, a, 4000, &block);
	ck_assert_int_eq(sent.call, CALL_UPDATE);
	ck_assert(sent.block.contested && strcmp(sent.block.asker.node, "n1") == 0);
	agent_free(a);
}
END_TEST

/* A block that was taken from a dead node, while its machine migrates from `from` to `to`. */
static struct block migrating(const char *from, const char *to)
{
	struct block b = { .pool_uid = "u1",
			   .owner = { .holder = "h", .token = 7 },
			   .asker = { .holder = "h", .token = 7 },
			   .migrates = true,
			   .identity = "ns/vm:web/net1",
			   .probe = true };

	(void)snprintf(b.owner.node, sizeof(b.owner.node), "%s", from);
	(void)snprintf(b.asker.node, sizeof(b.asker.node), "%s", to);
	return b;
}

/* The target would probe the address, and the source would answer the probe. */
START_TEST(a_source_tells_its_target_that_it_probed_the_address)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.usable = &usable, .sticky = true };
	struct block_seen seen = { .block = migrating("n1", "n2") };
	struct one_agent n = one_agent_node();
	struct agent_request sent;
	struct agent *a;

	n.block.probe = true;
	memcpy(n.block.identity, seen.block.identity, sizeof(seen.block.identity));
	seen.key = n.block.key;
	a = one_agent_new(&n);
	one_agent_set_pool(a, &p);
	ck_assert_int_eq(one_agent_write_until(&n, a, 20, &seen.block).call, CALL_GET);
	agent_saw(a, &seen);
	sent = one_agent_write_until(&n, a, 100, &seen.block);
	ck_assert_int_eq(sent.call, CALL_UPDATE);
	ck_assert(sent.block.kept && sent.block.migrates && sent.block.probe);
	ck_assert(party_equal(&sent.block.asker, &seen.block.asker));
	agent_free(a);

	/* It is said once. */
	n = one_agent_node();
	a = one_agent_new(&n);
	one_agent_set_pool(a, &p);
	seen.block.kept = true;
	ck_assert_int_eq(one_agent_write_until(&n, a, 20, &seen.block).call, CALL_GET);
	agent_saw(a, &seen);
	ck_assert_int_eq(one_agent_write_until(&n, a, 100, &seen.block).call, CALL_GET);
	agent_free(a);
}
END_TEST

START_TEST(a_target_probes_what_its_source_did_not_probe)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.usable = &usable, .sticky = true };

	for (int kept = 0; kept < 2; kept++) {
		struct block block = migrating("n2", "n1");
		struct one_agent n = one_agent_node();
		struct agent *a;

		block.kept = kept;
		n.block.state = BLOCK_WANTED;
		n.block.epoch = 0;
		memcpy(n.block.identity, block.identity, sizeof(block.identity));
		a = one_agent_new(&n);
		one_agent_set_pool(a, &p);
		/* It waits for the source a while, and then probes. */
		(void)one_agent_write_until(&n, a, 20, &block);
		ck_assert_int_eq(n.block.state, kept ? BLOCK_GRANTED : BLOCK_WANTED);
		(void)one_agent_write_until(&n, a, 100, &block);
		ck_assert_int_eq(n.block.state, BLOCK_GRANTED);
		ck_assert_int_eq(n.block.probe, !kept);
		agent_free(a);
	}
}
END_TEST

/* Everything that was sent arrives, and both agents go on. */
static void step(struct world *w)
{
	struct message *msg;

	w->now += RETRY;
	for (unsigned i = 0; i < w->set.nodes; i++)
		world_tick(w, &w->machines[i]);
	while ((msg = world_pick(w, 0, false)))
		world_execute(w, msg);
	while ((msg = world_pick(w, 0, true)))
		world_deliver(w, msg);
}

/* Two nodes whose agents have renewed, and start pod 0 at the same moment. */
static struct world *start_at_once(const struct world_settings *set, struct ranges *other)
{
	struct world *w = world_new(set);
	struct shared_pool pool = w->pool;
	struct err e;

	world_settle(w);
	w->adds = true;
	pool.grid.usable = other;
	if (other)
		ck_assert_int_eq(agent_set_pool(w->machines[1].agent, &pool, &e), 0);
	for (unsigned i = 0; i < set->nodes; i++)
		(void)world_start_pod(w, &w->machines[i], 0, false);
	return w;
}

/* Both list the pool, and both try the same block. */
START_TEST(two_nodes_that_start_one_pod_at_once_create_one_block)
{
	const struct world_settings set = { .nodes = 2, .blocks = 8, .pods = 1, .quiet = true };
	struct world *w = start_at_once(&set, NULL);
	struct block_seen seen[OBJECTS];
	size_t n = 0;

	for (unsigned i = 0; i < 100; i++) {
		const size_t now = world_list(w, seen);

		ck_assert_uint_le(now, 1);
		ck_assert_uint_le(n, now);
		n = now;
		step(w);
	}
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(w->counts.gives, 1);
	ck_assert_uint_eq(w->counts.needs[NEED_HELD], 1);
	ck_assert_ptr_null(world_heal(w));
	world_free(w);
}
END_TEST

/*
 * One of them knows a newer definition of the pool, and tries another block. Both create one, and
 * both see the other one's.
 */
START_TEST(of_two_nodes_that_start_one_pod_at_once_one_keeps_its_block)
{
	const struct world_settings set = { .nodes = 2, .blocks = 8, .pods = 1, .quiet = true };
	struct block_seen seen[OBJECTS], *first;
	struct ranges other = { .n = 0 };
	struct ip_range range;
	struct world *w;
	struct err e;

	ck_assert_int_eq(ip_parse("10.0.0.8", &range.first), 0);
	ck_assert_int_eq(ip_parse("10.0.0.15", &range.last), 0);
	ck_assert_int_eq(ranges_add(&other, range, &e), 0);
	w = start_at_once(&set, &other);
	for (unsigned i = 0; world_list(w, seen) < 2; i++) {
		ck_assert_uint_lt(i, 100);
		step(w);
	}
	first = &seen[seen[1].key.start.v < seen[0].key.start.v];

	const struct cluster_version at = first->at;

	world_settle(w);
	ck_assert_uint_eq(world_list(w, seen), 1);
	ck_assert_str_eq(seen[0].at.uid, at.uid);
	ck_assert_uint_eq(w->counts.gives, 1);
	w->pool_version++;
	ck_assert_ptr_null(world_heal(w));
	world_free(w);
	ranges_clear(&other);
}
END_TEST

TEST_PROGRAM("migrate", a_source_hands_its_block_over_although_the_pool_ends,
	     an_address_does_not_end_with_a_target_that_gives_up,
	     no_contest_takes_the_place_of_a_target,
	     a_source_tells_its_target_that_it_probed_the_address,
	     a_target_probes_what_its_source_did_not_probe,
	     two_nodes_that_start_one_pod_at_once_create_one_block,
	     of_two_nodes_that_start_one_pod_at_once_one_keeps_its_block)

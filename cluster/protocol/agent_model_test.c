/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_model_test.c: random runs of a simulated cluster with the real agent: no address of a block
 * is given by a node that does not have it, and nothing is lost for ever. MODEL_RUNS, MODEL_SEED.
 * A run that fails is made small and printed.
 */
#include "cluster/testing/schedule.h"
#include "lib/testing/testing.h"

static struct world_counts counts;

/* The sanitizers look for other mistakes than the judge, and are ten times slower. */
#ifdef __SANITIZE_ADDRESS__
#define RUNS 60
#else
#define RUNS 300
#endif

static unsigned runs(void)
{
	return (unsigned)schedule_number("MODEL_RUNS", RUNS);
}

static const char *holds(struct world_settings set)
{
	struct search all = { .seed = schedule_number("MODEL_SEED", 100),
			      .times = runs(),
			      .tell = true };
	const char *bad = schedule_search(&set, &all);

	counts = all.counts;
	return bad;
}

/* So often in each 300 runs. */
static void happened(uint64_t times, uint64_t least)
{
	ck_assert_uint_gt(times * 300, least * runs());
}

START_TEST(no_address_twice_and_none_lost)
{
	const char *bad = holds((struct world_settings){ .nodes = 3, .blocks = 5, .bits = 1 });

	ck_assert_msg(!bad, "%s", bad);
}
END_TEST

START_TEST(strict_fence_holds_although_evidence_lies)
{
	const char *bad = holds((struct world_settings){
		.nodes = 3, .blocks = 4, .bits = 1, .strict = true, .lies = true });

	ck_assert_msg(!bad, "%s", bad);
}
END_TEST

START_TEST(strict_fence_of_a_pool_holds_although_evidence_lies)
{
	const char *bad = holds((struct world_settings){
		.nodes = 3, .blocks = 4, .bits = 1, .strict_pool = true, .lies = true });

	ck_assert_msg(!bad, "%s", bad);
}
END_TEST

START_TEST(idle_blocks_go_back)
{
	/* quiet: an ADD at each look would use up the pool. */
	const char *bad = holds((struct world_settings){
		.nodes = 3, .blocks = 5, .bits = 1, .idle = true, .quiet = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.returns, 300);
}
END_TEST

START_TEST(a_restored_store_does_no_harm_in_silence)
{
	const char *bad = holds(
		(struct world_settings){ .nodes = 4, .blocks = 4, .bits = 0, .restores = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.restores, 50);
	happened(counts.strays, 5);
}
END_TEST

/* More blocks than the first list of a search has. */
START_TEST(a_search_in_parts_of_the_pool_finds_each_block)
{
	const char *bad =
		holds((struct world_settings){ .nodes = 4, .blocks = 24, .ranges = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.needs[NEED_MET], 100);
	happened(counts.needs[NEED_FULL], 5);
}
END_TEST

/* A creation tells whether its pool is still wanted, and which blocks beside a taken one are. */
START_TEST(creations_that_tell_more_are_as_safe)
{
	const char *bad = holds((struct world_settings){ .nodes = 4,
							 .blocks = 20,
							 .restores = true,
							 .pools = true,
							 .disks = true,
							 .ranges = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.pools_gone, 20);
	happened(counts.restores, 50);
}
END_TEST

START_TEST(strict_fence_holds_after_a_restore)
{
	const char *bad = holds((struct world_settings){
		.nodes = 3, .blocks = 4, .bits = 1, .strict = true, .restores = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.judged_again, 20);
}
END_TEST

START_TEST(no_block_outlives_its_pool)
{
	const char *bad =
		holds((struct world_settings){ .nodes = 3, .blocks = 4, .bits = 1, .pools = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.pools_gone, 20);
}
END_TEST

START_TEST(a_machine_with_a_new_disk_goes_on)
{
	const char *bad =
		holds((struct world_settings){ .nodes = 3, .blocks = 4, .bits = 1, .disks = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.disks, 50);
}
END_TEST

START_TEST(all_misfortunes_at_once)
{
	const char *bad = holds((struct world_settings){ .nodes = 4,
							 .blocks = 4,
							 .bits = 1,
							 .restores = true,
							 .pools = true,
							 .disks = true });

	ck_assert_msg(!bad, "%s", bad);
}
END_TEST

START_TEST(a_certain_block_comes_or_its_owner_is_named)
{
	const char *bad = holds((struct world_settings){
		.nodes = 3, .blocks = 5, .bits = 1, .wants = true, .quiet = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.wants[NEED_MET], 500);
	happened(counts.wants[NEED_FULL], 20);
}
END_TEST

START_TEST(certain_blocks_in_all_misfortunes)
{
	const char *bad = holds((struct world_settings){ .nodes = 4,
							 .blocks = 4,
							 .bits = 1,
							 .restores = true,
							 .pools = true,
							 .disks = true,
							 .wants = true,
							 .ranges = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.wants[NEED_MET], 100);
	happened(counts.wants[NEED_REFUSED], 10);
}
END_TEST

/* More nodes than blocks: most pods get an address that another node lends. */
START_TEST(addresses_are_lent_and_given_back)
{
	const char *bad = holds((struct world_settings){
		.nodes = 3, .blocks = 1, .bits = 2, .wants = true, .calm = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.lends, 300);
	happened(counts.borrowed, 300);
	happened(counts.given_back, 300);
	happened(counts.takes, 5);
}
END_TEST

START_TEST(loans_cool_down_before_they_go_back)
{
	const char *bad = holds((struct world_settings){ .nodes = 3,
							 .blocks = 1,
							 .bits = 2,
							 .restores = true,
							 .calm = true,
							 .cooldown = 30 });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.given_back, 300);
	happened(counts.restores, 50);
}
END_TEST

/* A restored store shows loans to nodes that have the whole block now, and to new disks. */
START_TEST(loans_that_a_restore_brings_back_cool_down)
{
	struct world_settings set = { .nodes = 4,
				      .blocks = 2,
				      .bits = 2,
				      .restores = true,
				      .disks = true,
				      .recalls = true,
				      .calm = true,
				      .cooldown = 30 };
	const char *bad = holds(set);

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.restores, 50);
	set.bits = 1;
	set.disks = false;
	set.wants = true;
	bad = holds(set);
	ck_assert_msg(!bad, "%s", bad);
}
END_TEST

START_TEST(loans_hold_although_evidence_lies)
{
	const char *bad = holds((struct world_settings){ .nodes = 3,
							 .blocks = 1,
							 .bits = 2,
							 .strict = true,
							 .lies = true,
							 .wants = true,
							 .calm = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.lends, 300);
}
END_TEST

START_TEST(loans_outlive_disks_and_pools)
{
	const char *bad = holds((struct world_settings){ .nodes = 3,
							 .blocks = 1,
							 .bits = 2,
							 .pools = true,
							 .disks = true,
							 .idle = true,
							 .wants = true,
							 .quiet = true,
							 .calm = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.lends, 200);
	happened(counts.disks, 50);
}
END_TEST

START_TEST(loans_in_all_misfortunes)
{
	const char *bad = holds((struct world_settings){ .nodes = 4,
							 .blocks = 2,
							 .bits = 1,
							 .restores = true,
							 .pools = true,
							 .disks = true,
							 .wants = true,
							 .ranges = true,
							 .calm = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.lends, 100);
	happened(counts.restores, 50);
}
END_TEST

/* A pool that leaves lends no more, and no node leaves it before all loans came back. */
START_TEST(loans_come_back_when_the_pool_lends_no_more)
{
	const char *bad = holds((struct world_settings){ .nodes = 3,
							 .blocks = 2,
							 .bits = 2,
							 .disks = true,
							 .wants = true,
							 .recalls = true,
							 .calm = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.lends, 200);
	happened(counts.recalls, 300);
}
END_TEST

/* Three pods more than addresses; they start anywhere, also while they live elsewhere. */
START_TEST(pods_move_with_their_addresses)
{
	const char *bad = holds((struct world_settings){ .nodes = 3, .blocks = 5, .pods = 8 });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.gives, 300);
	happened(counts.parks, 300);
	happened(counts.moves, 100);
	happened(counts.returned, 100);
	happened(counts.expired, 50);
	happened(counts.evicted, 20);
	happened(counts.takes, 20);
	happened(counts.needs[NEED_HELD], 50);
}
END_TEST

START_TEST(pods_move_beside_free_blocks)
{
	const char *bad = holds(
		(struct world_settings){ .nodes = 4, .blocks = 9, .pods = 3, .ranges = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.returned, 100);
}
END_TEST

START_TEST(pods_move_in_misfortune)
{
	const char *bad = holds((struct world_settings){ .nodes = 4,
							 .blocks = 4,
							 .pods = 5,
							 .restores = true,
							 .pools = true,
							 .disks = true });

	ck_assert_msg(!bad, "%s", bad);
}
END_TEST

/* Parked blocks of nodes that are away are no less free than those of living ones. */
START_TEST(parked_blocks_are_free_when_the_pool_is_sticky_no_more)
{
	const char *bad = holds(
		(struct world_settings){ .nodes = 3, .blocks = 5, .pods = 8, .loosens = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.parks, 300);
	bad = holds((struct world_settings){ .nodes = 4,
					     .blocks = 4,
					     .pods = 5,
					     .disks = true,
					     .ranges = true,
					     .loosens = true });
	ck_assert_msg(!bad, "%s", bad);
}
END_TEST

/* A third of the pods starts beside its source, and may outlive it or not. */
START_TEST(machines_migrate_with_their_addresses)
{
	const char *bad = holds(
		(struct world_settings){ .nodes = 3, .blocks = 5, .pods = 8, .migrates = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.shared, 100);
	happened(counts.unshared, 30);
	happened(counts.followed, 30);
	happened(counts.asks_back, 5);
	happened(counts.takes, 20);
}
END_TEST

/* A block that was taken from a dead node. It is rare that its machine migrates, so runs are many.
 */
START_TEST(a_target_hears_that_its_source_has_probed)
{
	const struct world_settings set = { .nodes = 3, .blocks = 1, .pods = 1, .migrates = true };
	struct search all = { .seed = 100, .times = 300, .tell = true };
	const char *bad = schedule_search(&set, &all);

	ck_assert_msg(!bad, "%s", bad);
	ck_assert_uint_gt(all.counts.vouched, 5);
}
END_TEST

START_TEST(machines_migrate_although_their_pool_ends)
{
	const char *bad = holds((struct world_settings){
		.nodes = 3, .blocks = 3, .pods = 4, .migrates = true, .pools = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.pools_gone, 20);
	happened(counts.shared, 50);
}
END_TEST

/* The store of the source or of the target is lost, and its pod lives. */
START_TEST(machines_migrate_beside_new_disks)
{
	const char *bad = holds((struct world_settings){
		.nodes = 3, .blocks = 2, .pods = 2, .migrates = true, .disks = true });

	ck_assert_msg(!bad, "%s", bad);
	happened(counts.disks, 50);
	happened(counts.shared, 50);
}
END_TEST

START_TEST(machines_migrate_in_misfortune)
{
	const char *bad = holds((struct world_settings){ .nodes = 4,
							 .blocks = 4,
							 .pods = 5,
							 .migrates = true,
							 .restores = true,
							 .pools = true,
							 .disks = true });

	ck_assert_msg(!bad, "%s", bad);
}
END_TEST

START_TEST(all_that_can_happen_does)
{
	const struct world_settings set = { .nodes = 3, .blocks = 5, .bits = 1 };

	ck_assert_ptr_null(holds(set));
	happened(counts.gives, 500);
	happened(counts.grants, 500);
	happened(counts.confirms, 500);
	happened(counts.returns, 100);
	happened(counts.handed_over, 20);
	happened(counts.takes, 20);
	happened(counts.taken_free, 20);
	happened(counts.late, 100);
	happened(counts.full, 100);
	happened(counts.needs[NEED_MET], 100);
	happened(counts.needs[NEED_FULL], 5);
	happened(counts.needs[NEED_AWAY], 20);
}
END_TEST

TEST_PROGRAM("agent_model", no_address_twice_and_none_lost,
	     a_search_in_parts_of_the_pool_finds_each_block, creations_that_tell_more_are_as_safe,
	     strict_fence_holds_after_a_restore, no_block_outlives_its_pool,
	     a_machine_with_a_new_disk_goes_on, pods_move_with_their_addresses,
	     pods_move_beside_free_blocks, pods_move_in_misfortune,
	     parked_blocks_are_free_when_the_pool_is_sticky_no_more,
	     machines_migrate_with_their_addresses, a_target_hears_that_its_source_has_probed,
	     machines_migrate_although_their_pool_ends, machines_migrate_beside_new_disks,
	     machines_migrate_in_misfortune, all_misfortunes_at_once,
	     strict_fence_holds_although_evidence_lies,
	     strict_fence_of_a_pool_holds_although_evidence_lies, idle_blocks_go_back,
	     a_restored_store_does_no_harm_in_silence, a_certain_block_comes_or_its_owner_is_named,
	     certain_blocks_in_all_misfortunes, addresses_are_lent_and_given_back,
	     loans_cool_down_before_they_go_back, loans_that_a_restore_brings_back_cool_down,
	     loans_hold_although_evidence_lies, loans_outlive_disks_and_pools,
	     loans_in_all_misfortunes, loans_come_back_when_the_pool_lends_no_more,
	     all_that_can_happen_does)

/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_test.c: the whole table: what the agent repairs by itself, state by state. */
#include "railheadd/watch/verdict.h"

#include <stdio.h>

#include "lib/testing/testing.h"

START_TEST(only_what_is_proved_gone_is_stale)
{
	static const enum verdict want[] = {
		[REPAIR_HEALTHY] = VERDICT_NONE,         [REPAIR_BUSY] = VERDICT_NONE,
		[REPAIR_UNKNOWN] = VERDICT_LEFT,         [REPAIR_GONE] = VERDICT_NONE,
		[REPAIR_PARTLY_GONE] = VERDICT_NONE,     [REPAIR_LINK_RENAMED] = VERDICT_NONE,
		[REPAIR_LINK_GONE] = VERDICT_NONE,       [REPAIR_LINK_REPLACED] = VERDICT_NONE,
		[REPAIR_NETNS_MOVED] = VERDICT_NONE,     [REPAIR_NETNS_UNKNOWN] = VERDICT_LEFT,
		[REPAIR_EARLIER_BOOT] = VERDICT_STALE,   [REPAIR_NETNS_GONE] = VERDICT_STALE,
		[REPAIR_NETNS_REPLACED] = VERDICT_STALE, [REPAIR_UNFINISHED] = VERDICT_LEFT,
		[REPAIR_DAMAGED] = VERDICT_LEFT,
	};

	ck_assert_uint_eq(ARRAY_SIZE(want), REPAIR_DAMAGED + 1);
	for (int s = 0; s <= REPAIR_DAMAGED; s++) {
		enum repair_state state = (enum repair_state)s;

		ck_assert_msg(verdict_of(state) == want[s], "%s", repair_state_name(state));
		/* Never more than a person without --force. */
		ck_assert(verdict_of(state) != VERDICT_STALE || repair_is_stale(state));
	}
}
END_TEST

START_TEST(the_owner_of_a_vf_must_be_known_by_its_inode)
{
	struct vf_entry x = { .vf = "0000:01:00.1", .boot = "b", .owned = true };
	struct vf_report r = { .outcome = VF_WOULD_REPAIR };

	x.owner.netns_id.ino = 7;
	ck_assert_int_eq(verdict_of_vf(&x, &r), VERDICT_STALE);
	r.outcome = VF_SKIPPED; /* its owner lives */
	ck_assert_int_eq(verdict_of_vf(&x, &r), VERDICT_NONE);
	r.outcome = VF_WAS_HEALTHY;
	ck_assert_int_eq(verdict_of_vf(&x, &r), VERDICT_NONE);
	r.outcome = VF_WOULD_REPAIR;
	x.owner.netns_id.ino = 0;
	ck_assert_int_eq(verdict_of_vf(&x, &r), VERDICT_LEFT);
	x.owned = false; /* the VF does not exist any more */
	ck_assert_int_eq(verdict_of_vf(&x, &r), VERDICT_STALE);
	x.boot[0] = '\0'; /* damaged */
	ck_assert_int_eq(verdict_of_vf(&x, &r), VERDICT_LEFT);
}
END_TEST

TEST_PROGRAM("railheadd/watch/verdict", only_what_is_proved_gone_is_stale,
	     the_owner_of_a_vf_must_be_known_by_its_inode)

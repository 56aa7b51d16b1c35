/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mistakes_test.c: the simulated cluster finds what it shall find: deliberate mistakes of the
 * protocol, and runs that once failed. MODEL_TRIES, MODEL_TELL.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cluster/testing/schedule.h"
#include "lib/testing/testing.h"

/* Each of these runs found a mistake of the protocol or of the judge, which random runs find
 * rarely. */
static const struct {
	struct world_settings set;
	uint64_t seed;
} rare[] = {
#define RARE       .nodes = 4, .blocks = 2, .restores = true, .calm = true
#define RARE_SMALL RARE, .bits = 1, .recalls = true, .wants = true, .cooldown = 30
#define RARE_LARGE RARE, .bits = 2, .recalls = true, .disks = true, .cooldown = 30
#define RARE_POOLS RARE, .bits = 1, .pools = true, .disks = true, .wants = true, .ranges = true
#define RARE_PODS  .nodes = 4, .blocks = 9, .pods = 3, .ranges = true
#define RARE_MOVES .nodes = 3, .blocks = 2, .pods = 2, .migrates = true, .disks = true
#define RARE_IDLE                                                                                  \
	.nodes = 3, .blocks = 1, .bits = 2, .calm = true, .pools = true, .disks = true,            \
	.idle = true, .wants = true, .quiet = true
	{ { RARE, .bits = 1, .disks = true }, 5376 },
	{ { RARE_SMALL }, 9262 },
	{ { RARE_SMALL }, 10394 },
	{ { RARE_LARGE }, 5112 },
	{ { RARE_LARGE }, 6020 },
	{ { RARE_LARGE }, 9129 },
	{ { RARE_LARGE }, 9640 },
	{ { RARE_POOLS }, 900258 },
	{ { RARE_POOLS }, 902818 },
	{ { RARE_IDLE }, 901160 },
	{ { RARE_IDLE }, 901488 },
	{ { RARE_IDLE }, 3025 },
	{ { .nodes = 4, .blocks = 4, .restores = true }, 22066 },
	{ { RARE_PODS }, 7974 },
	{ { RARE_PODS }, 101242 },
	{ { RARE_PODS }, 103615 },
	{ { RARE_PODS }, 700148 },
	{ { RARE_PODS }, 701468 },
	{ { RARE_PODS }, 701612 },
	{ { RARE_MOVES }, 500223 },
	{ { RARE_MOVES }, 500699 },
	{ { .nodes = 3, .blocks = 4, .pods = 6, .migrates = true }, 61179 },
};

START_TEST(rare_runs_hold)
{
	for (size_t i = 0; i < ARRAY_SIZE(rare); i++) {
		struct search one = { .seed = rare[i].seed, .times = 1, .tell = true };
		const char *bad = schedule_search(&rare[i].set, &one);

		ck_assert_msg(!bad, "%s", bad);
	}
}
END_TEST

/* A model that finds no mistake proves nothing. Each is found within a few runs from its seed. */
static const struct {
	struct world_settings set;
	uint64_t seed;
} mistakes[] = {
	{ { .nodes = 3, .blocks = 5, .bits = 1, .wrong = NO_EPOCH }, 1 },
	{ { .nodes = 3, .blocks = 5, .bits = 1, .wrong = LOOK_ONLY }, 850 },
	{ { .nodes = 3, .blocks = 5, .bits = 1, .wrong = BEAT_FIRST }, 1 },
	{ { .nodes = 3, .blocks = 5, .bits = 1, .wrong = KEEP_USED }, 1 },
	{ { .nodes = 5, .blocks = 3, .bits = 0, .wrong = BLIND_REMOVE }, 8800 },
	{ { .nodes = 4, .blocks = 3, .bits = 0, .wrong = DEAF }, 150 },
	{ { .nodes = 4, .blocks = 4, .bits = 0, .restores = true, .wrong = DEAF }, 1 },
	{ { .nodes = 3, .blocks = 4, .bits = 1, .strict = true, .lies = true, .wrong = SHORT_HOLD },
	  9700 },
	{ { .nodes = 4, .blocks = 4, .bits = 0, .restores = true, .wrong = DROP_USED }, 350 },
	{ { .nodes = 3, .blocks = 4, .bits = 1, .wrong = LOSE_PROBE }, 1 },
	{ { .nodes = 4, .blocks = 2, .bits = 1, .restores = true, .calm = true, .wrong = NO_VALUE },
	  1500 },
	{ { .nodes = 3, .blocks = 5, .bits = 1, .wrong = OLD_EVIDENCE }, 1 },
	{ { .nodes = 4, .blocks = 8, .pods = 2, .wrong = STALE_LIST }, 1 },
	{ { .nodes = 3, .blocks = 8, .pods = 3, .wrong = LOSE_IDENTITY }, 1 },
	{ { .nodes = 3, .blocks = 4, .pods = 6, .migrates = true, .wrong = LOSE_MIGRATES }, 1 },
	{ { .nodes = 3,
	    .blocks = 2,
	    .pods = 2,
	    .migrates = true,
	    .disks = true,
	    .wrong = VOUCH_ALWAYS },
	  3700 },
	{ { .nodes = 3, .blocks = 1, .bits = 2, .calm = true, .wrong = GIVE_LENT }, 1 },
	{ { .nodes = 4, .blocks = 1, .bits = 3, .calm = true, .wrong = LOSE_LOANS }, 1300 },
};

START_TEST(each_mistake_of_the_protocol_is_found)
{
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		struct world_settings set = mistakes[i].set;
		struct search all = { .seed = mistakes[i].seed,
				      .times = (unsigned)schedule_number("MODEL_TRIES", 100),
				      .tell = getenv("MODEL_TELL") != NULL };

		ck_assert_msg(schedule_search(&set, &all),
			      "mistake %d of the protocol is not found", (int)set.wrong);
		printf("mistake %d: seed %" PRIu64 "\n", (int)set.wrong, all.seed);

		/* Else it is not the mistake that was found. */
		struct search one = { .seed = all.seed, .times = 1, .tell = true };

		set.wrong = RIGHT;
		ck_assert_msg(!schedule_search(&set, &one),
			      "seed %" PRIu64 " without mistake %d: %s", all.seed,
			      (int)mistakes[i].set.wrong, one.bad);
	}
}
END_TEST

TEST_PROGRAM("mistakes", rare_runs_hold, each_mistake_of_the_protocol_is_found)

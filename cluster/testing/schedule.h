/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h: random schedules of the simulated cluster. One that fails is made small.
 *
 * For test programs only.
 */
#ifndef RAILHEAD_CLUSTER_TESTING_SCHEDULE_H
#define RAILHEAD_CLUSTER_TESTING_SCHEDULE_H

#include "cluster/testing/world.h"

/* So many schedules, of the seeds from `seed` on. */
struct search {
	uint64_t seed; /* afterwards: of the schedule that fails */
	unsigned times;
	bool tell;                  /* make it small, and print its steps */
	struct world_counts counts; /* what happened in all of them */
	char bad[256];
};

/* schedule_search - NULL: all hold. Else what the first bad one violates, in s->bad. */
const char *schedule_search(const struct world_settings *settings, struct search *s);

/* schedule_number - a number of the environment. */
uint64_t schedule_number(const char *name, uint64_t otherwise);

#endif

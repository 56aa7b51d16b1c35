/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.h: how many durations were at most so long, for a metric. The bounds begin where an ADD
 * can be: at 50 microseconds.
 */
#ifndef RAILHEAD_IPAM_ALLOC_HISTOGRAM_H
#define RAILHEAD_IPAM_ALLOC_HISTOGRAM_H

#include "lib/base/base.h"

#define HISTOGRAM_BOUNDS 15

struct histogram {
	uint64_t n[HISTOGRAM_BOUNDS + 1]; /* not cumulative; the last: longer than each bound */
	uint64_t sum;                     /* microseconds */
};

/* histogram_bounds - microseconds, growing; a duration belongs to the first that is not below it.
 */
extern const uint32_t histogram_bounds[HISTOGRAM_BOUNDS];

/* histogram_observe - count a duration. */
void histogram_observe(struct histogram *h, uint32_t micros);

#endif

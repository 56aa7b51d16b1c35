/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h: what many measurements come to, and how a time and a rate are written. Pure. */
#ifndef RAILHEAD_RDMA_PROBE_DATA_STATS_H
#define RAILHEAD_RDMA_PROBE_DATA_STATS_H

#include "lib/base/base.h"

/* Nanoseconds. */
struct latency {
	uint64_t min, p50, p99, max;
};

/* stats_latency - of n >= 1 samples, which it sorts. Percentiles are nearest ranks: true samples.
 */
struct latency stats_latency(uint64_t *samples, size_t n);

/* stats_median - of n >= 1 values, which it sorts; of an even number the mean of the middle two. */
double stats_median(double *values, size_t n);

/*
 * The rule for outliers: low is the value under which one is too slow: below the median by more
 * than 5 times 1.4826 MAD (the median of the distances from the median, scaled to be the standard
 * deviation of normal noise), and by at least a tenth of it. The tenth is for fabrics so even that
 * the MAD is next to nothing. low is 0 where the values differ so much that none can stand out.
 */
struct spread {
	size_t n; /* values */
	double median, mad, low;
};

/* stats_spread - of n values, which it sorts; all zero for n == 0. */
struct spread stats_spread(double *values, size_t n);

#define STATS_TEXT_LEN 24
/* stats_time - "1.52 us": three digits and a unit from ns to s. */
char *stats_time(uint64_t ns, char buf[STATS_TEXT_LEN]);
/* stats_rate - of bytes a second, in bits, as link rates are: "97.3 Gbit/s", "80.1 Mbit/s". */
char *stats_rate(double bytes_a_second, char buf[STATS_TEXT_LEN]);
/* stats_size - "64 KiB", "1000 B". */
char *stats_size(uint64_t bytes, char buf[STATS_TEXT_LEN]);

/* stats_per_second - bytes in ns nanoseconds; 0 when no time went by. */
double stats_per_second(uint64_t bytes, uint64_t ns);

#endif

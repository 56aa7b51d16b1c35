/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h: statistics of measurements, and times, rates and sizes as text. Pure. */
#ifndef RAILHEAD_RDMA_JOB_STATS_H
#define RAILHEAD_RDMA_JOB_STATS_H

#include "lib/base/base.h"

/* Nanoseconds. */
struct latency {
	uint64_t min, p50, p99, max;
};

/* stats_latency - from n >= 1 samples in ns, which it sorts. Percentiles are samples (nearest
 * rank). */
struct latency stats_latency(uint64_t *samples, size_t n);

/* stats_median - from n >= 1 values, which it sorts. For an even n: the mean of the middle two. */
double stats_median(double *values, size_t n);

/*
 * The rule for outliers: a value below `low` is too slow. low is the median minus 5 * 1.4826 * MAD,
 * but at most nine tenths of the median. MAD is the median of the distances from the median; times
 * 1.4826 it is the standard deviation of normal noise. The tenth is for even fabrics, where the MAD
 * is almost 0. low is 0 if the values differ so much that none is an outlier.
 */
struct spread {
	size_t n; /* values */
	double median, mad, low;
};

/* stats_spread - from n values, which it sorts; all members are 0 for n == 0. */
struct spread stats_spread(double *values, size_t n);

#define STATS_TEXT_LEN 24
/* stats_time - "1.52 us": three digits and a unit from ns to s. Returns buf, as those below. */
char *stats_time(uint64_t ns, char buf[STATS_TEXT_LEN]);
/* stats_rate - in bits, like rates of links: "97.3 Gbit/s", "80.1 Mbit/s". */
char *stats_rate(double bytes_a_second, char buf[STATS_TEXT_LEN]);
/* stats_size - "64 KiB", "1000 B". */
char *stats_size(uint64_t bytes, char buf[STATS_TEXT_LEN]);

/* stats_per_second - the rate of so many bytes in ns nanoseconds; 0 if ns is 0. */
double stats_per_second(uint64_t bytes, uint64_t ns);

#endif

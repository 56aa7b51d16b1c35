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

/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c: percentiles, and numbers with units as text. */
#include "rdma/job/stats.h"

#include <stdio.h>

static int by_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest sample that is not below `percent` percent of all samples. */
static uint64_t nearest_rank(const uint64_t *sorted, size_t n, unsigned percent)
{
	size_t rank = (n * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

struct latency stats_latency(uint64_t *samples, size_t n)
{
	qsort(samples, n, sizeof(*samples), by_u64);
	return (struct latency){ samples[0], nearest_rank(samples, n, 50),
				 nearest_rank(samples, n, 99), samples[n - 1] };
}

/* Three digits, in the largest unit in which the value is at least 1. */
static char *three_digits(double value, double step, const char *const *units,
			  char buf[STATS_TEXT_LEN])
{
	while (units[1] && value >= step - 0.5) {
		value /= step;
		units++;
	}
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	(void)snprintf(buf, STATS_TEXT_LEN, "%.*f %s", decimals, value, units[0]);
	return buf;
}

char *stats_time(uint64_t ns, char buf[STATS_TEXT_LEN])
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };

	return three_digits((double)ns, 1000, units, buf);
}

char *stats_rate(double bytes_a_second, char buf[STATS_TEXT_LEN])
{
	static const char *const units[] = { "bit/s", "kbit/s", "Mbit/s", "Gbit/s", NULL };

	return three_digits(bytes_a_second * 8, 1000, units, buf);
}

char *stats_size(uint64_t bytes, char buf[STATS_TEXT_LEN])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	size_t unit = 0;

	while (unit + 1 < ARRAY_SIZE(units) && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	(void)snprintf(buf, STATS_TEXT_LEN, "%llu %s", (unsigned long long)bytes, units[unit]);
	return buf;
}

double stats_per_second(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * 1e9 / (double)ns : 0;
}

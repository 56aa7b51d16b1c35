/* SPDX-License-Identifier: Apache-2.0 */
/* stats_test.c: statistics of small samples, outliers, and texts with units. */
#include "rdma/job/stats.h"

#include "lib/testing/testing.h"

START_TEST(percentiles_are_true_samples)
{
	uint64_t hundred[100], one[] = { 5 }, few[] = { 30, 10, 20 };

	for (size_t i = 0; i < 100; i++)
		hundred[i] = 100 - i; /* 1 to 100, backwards */
	struct latency l = stats_latency(hundred, 100);
	ck_assert_uint_eq(l.min, 1);
	ck_assert_uint_eq(l.p50, 50);
	ck_assert_uint_eq(l.p99, 99);
	ck_assert_uint_eq(l.max, 100);
	l = stats_latency(one, 1);
	ck_assert_uint_eq(l.min + l.p50 + l.p99 + l.max, 20);
	l = stats_latency(few, 3);
	ck_assert_uint_eq(l.p50, 20);
	ck_assert_uint_eq(l.p99, 30);
}
END_TEST

START_TEST(writes_times_and_rates)
{
	char b[STATS_TEXT_LEN];

	ck_assert_str_eq(stats_time(0, b), "0.00 ns");
	ck_assert_str_eq(stats_time(999, b), "999 ns");
	ck_assert_str_eq(stats_time(1520, b), "1.52 us");
	ck_assert_str_eq(stats_time(99950, b), "100 us");
	ck_assert_str_eq(stats_time(999999, b), "1.00 ms");
	ck_assert_str_eq(stats_time(15200000, b), "15.2 ms");
	ck_assert_str_eq(stats_time(7200000000000, b), "7200 s");
	ck_assert_str_eq(stats_rate(12.25e9, b), "98.0 Gbit/s");
	ck_assert_str_eq(stats_rate(50e9, b), "400 Gbit/s");
	ck_assert_str_eq(stats_rate(1e6, b), "8.00 Mbit/s");
	ck_assert_str_eq(stats_rate(0, b), "0.00 bit/s");
	ck_assert_str_eq(stats_size(65536, b), "64 KiB");
	ck_assert_str_eq(stats_size(1000, b), "1000 B");
	ck_assert_str_eq(stats_size(0, b), "0 B");
	ck_assert_str_eq(stats_size(5ull << 40, b), "5120 GiB");
}
END_TEST

START_TEST(no_time_is_no_rate)
{
	ck_assert_double_eq(stats_per_second(100, 0), 0);
	ck_assert_double_eq(stats_per_second(1000, 1000000000), 1000);
}
END_TEST

TEST_PROGRAM("rdma/job/stats", percentiles_are_true_samples, writes_times_and_rates,
	     no_time_is_no_rate)

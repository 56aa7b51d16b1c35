/* SPDX-License-Identifier: Apache-2.0 */
/* job_facts_test.c: which errors a port counted during the tests, on a fake sysfs. */
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "rdma/probe/job.h"

#define PORT "class/infiniband/mlx5_0/ports/1"

static void count(const char *dir, const char *name, const char *text)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", dir, name);
	testing_file(full, 0644, text);
}

static struct ctx sysfs_with_port(void)
{
	const char *dir = testing_dir();
	char full[256];
	struct ctx ctx;

	ctx_init(&ctx, "test");
	ctx.sysfs = dir;
	for (const char *const *name =
		     (const char *const[]){ "class", "class/net", "class/net/rail0",
					    "class/infiniband", "class/infiniband/mlx5_0",
					    "class/infiniband/mlx5_0/ports", PORT,
					    "class/infiniband/mlx5_0/ports/1/counters",
					    "class/infiniband/mlx5_0/ports/1/hw_counters", NULL };
	     *name; name++) {
		(void)snprintf(full, sizeof(full), "%s/%s", dir, *name);
		ck_assert_int_eq(mkdir(full, 0755), 0);
	}
	return ctx;
}

/* Counters of a kind are one figure, and none that stands still is named. */
START_TEST(what_a_port_counted_is_named)
{
	struct job_own_rail rail = { .count = {
					     .device = "mlx5_0", .netdev = "rail0", .port = 1 } };
	const struct ctx ctx = sysfs_with_port();
	char text[JOB_TEXT];

	rail.count.first.known = (1u << COUNT_N) - 1;
	rail.count.first.value[COUNT_LINK_ERROR] = 7;
	rail.count.first.value[COUNT_LINK_DOWN] = 1;
	count(ctx.sysfs, PORT "/counters/port_rcv_errors", "0\n");
	count(ctx.sysfs, "class/net/rail0/carrier_down_count", "1\n");
	job_counted(&ctx, &rail, text);
	ck_assert_str_eq(text, "");
	count(ctx.sysfs, PORT "/counters/symbol_error", "20\n");
	count(ctx.sysfs, PORT "/hw_counters/rx_icrc_encapsulated", "1\n");
	count(ctx.sysfs, PORT "/hw_counters/oos_drop_count", "3\n");
	job_counted(&ctx, &rail, text);
	ck_assert_str_eq(text, "counted link errors +14, packets out of order +3");
	count(ctx.sysfs, "class/net/rail0/carrier_down_count", "3\n");
	count(ctx.sysfs, PORT "/hw_counters/to_retransmits", "5\n");
	job_counted(&ctx, &rail, text);
	ck_assert_str_eq(text, "counted link errors +14, link down +2, packets sent again +5, "
			       "packets out of order +3");
}
END_TEST

/* In mode shared a pod sees its interface at most: that is no proof of a good port. */
START_TEST(a_port_without_visible_counters_says_so)
{
	struct job_own_rail rail = { .count = {
					     .device = "mlx5_0", .netdev = "rail0", .port = 1 } };
	const struct ctx ctx = sysfs_with_port();
	char text[JOB_TEXT];

	job_counted(&ctx, &rail, text);
	ck_assert_str_eq(text, "shows its pod no counters");
	count(ctx.sysfs, "class/net/rail0/carrier_down_count", "0\n");
	job_counted(&ctx, &rail, text);
	ck_assert_str_eq(text, "shows its pod no counters");
	count(ctx.sysfs, "class/net/rail0/carrier_down_count", "1\n");
	job_counted(&ctx, &rail, text);
	ck_assert_str_eq(text, "counted link down +1");
}
END_TEST

TEST_PROGRAM("rdma/probe/job_facts", what_a_port_counted_is_named,
	     a_port_without_visible_counters_says_so)

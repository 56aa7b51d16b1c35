/* SPDX-License-Identifier: Apache-2.0 */
/* job_facts_test.c: which errors a port counted during the tests, on a fake sysfs. */
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "rdma/probe/job.h"

static void count(const char *dir, const char *name, const char *text)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/port/%s", dir, name);
	testing_file(full, 0644, text);
}

/* A counter that the port lacks says nothing, and none that stands still is named. */
START_TEST(what_a_port_counted_is_named)
{
	struct job_own_rail rail = { .dir = "port", .counts = { 7, 0, 1 } };
	const char *dir = testing_dir();
	char full[256], text[JOB_TEXT];
	struct ctx ctx;

	ctx_init(&ctx, "test");
	ctx.sysfs = dir;
	for (const char *const *name =
		     (const char *const[]){ "", "/counters", "/hw_counters", NULL };
	     *name; name++) {
		(void)snprintf(full, sizeof(full), "%s/port%s", dir, *name);
		ck_assert_int_eq(mkdir(full, 0755), 0);
	}
	job_counted(&ctx, &rail, text);
	ck_assert_str_eq(text, "");
	count(dir, "counters/symbol_error", "21\n");
	count(dir, "counters/link_downed", "1\n");
	count(dir, "counters/port_rcv_errors", "0\n");
	count(dir, "hw_counters/out_of_sequence", "3\n");
	job_counted(&ctx, &rail, text);
	ck_assert_str_eq(text, "symbol_error +14, out_of_sequence +3");
}
END_TEST

TEST_PROGRAM("rdma/probe/job_facts", what_a_port_counted_is_named)

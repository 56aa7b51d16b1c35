/* SPDX-License-Identifier: Apache-2.0 */
/* job_vars_test.c: the variables found in environments, and numbers as NCCL reads them. */
#include "diag/job_vars.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"

static struct job_vars of(const char *text, size_t len)
{
	struct job_vars j = { 0 };

	job_vars_environ(&j, text, len);
	return j;
}
#define OF(text) of(text, sizeof(text) - 1)

START_TEST(a_variable_is_found_by_its_whole_name)
{
	struct job_vars j = OF("PATH=/bin\0NCCL_IB_TC=106\0HOME=/\0");

	ck_assert(j.var[JOB_NCCL_IB_TC].set && !j.var[JOB_UCX_TC].set);
	ck_assert_str_eq(j.var[JOB_NCCL_IB_TC].text, "106");
	ck_assert_str_eq(j.var[JOB_NCCL_IB_TC].from, "the environment");
	j = OF("XNCCL_IB_TC=106\0NCCL_IB_TCX=1\0NCCL_IB_TC\0");
	ck_assert(!j.var[JOB_NCCL_IB_TC].set);
	/* The last has no NUL. */
	j = OF("A=\0UCX_IB_TRAFFIC_CLASS=1");
	ck_assert_str_eq(j.var[JOB_UCX_TC].text, "1");
	j = OF("");
	ck_assert(!j.var[JOB_UCX_TC].set);
	for (size_t i = 0; i < JOB_N; i++)
		ck_assert_uint_gt(strlen(job_var_name((enum job_var)i)), 5);
}
END_TEST

START_TEST(the_first_of_two_counts)
{
	struct job_vars j = OF("NCCL_IB_TC=96\0NCCL_IB_TC=106\0");

	ck_assert_str_eq(j.var[JOB_NCCL_IB_TC].text, "96");
	/* Also an empty one. */
	j = OF("NCCL_IB_TC=\0NCCL_IB_TC=106\0");
	ck_assert(!j.var[JOB_NCCL_IB_TC].set);
}
END_TEST

START_TEST(a_long_value_is_cut)
{
	char text[2 * JOB_VALUE_LEN];
	int n = snprintf(text, sizeof(text), "NCCL_IB_TC=%0*d", JOB_VALUE_LEN - 1, 7);
	struct job_vars j = of(text, (size_t)n);

	ck_assert(!j.var[JOB_NCCL_IB_TC].cut && job_number(&j, JOB_NCCL_IB_TC, -1) == 7);
	n = snprintf(text, sizeof(text), "NCCL_IB_TC=%0*d", JOB_VALUE_LEN, 7);
	j = of(text, (size_t)n);
	ck_assert(j.var[JOB_NCCL_IB_TC].cut);
	ck_assert_uint_eq(strlen(j.var[JOB_NCCL_IB_TC].text), JOB_VALUE_LEN - 1);
	/* The rails of a large machine. */
	n = snprintf(text, sizeof(text), "NCCL_IB_HCA==");
	for (int i = 0; i < 32; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "roceP2p1s0f1v%d:1,", i);
	j = of(text, (size_t)n);
	ck_assert(!j.var[JOB_NCCL_IB_HCA].cut);
}
END_TEST

static int64_t number(const char *value)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "NCCL_IB_TC=%s", value);
	struct job_vars j = of(text, (size_t)n);

	return job_number(&j, JOB_NCCL_IB_TC, -7);
}

START_TEST(numbers_are_read_as_NCCL_does)
{
	ck_assert_int_eq(number("106"), 106);
	ck_assert_int_eq(number("0x6a"), 106);
	ck_assert_int_eq(number("0"), 0);
	ck_assert_int_eq(number("-1"), -1);
	ck_assert_int_eq(number(""), -7);
	ck_assert_int_eq(number("auto"), 0);
	ck_assert_int_eq(number(" "), 0);
	ck_assert_int_eq(number("99999999999999999999"), -7);
}
END_TEST

START_TEST(the_version_of_NCCL_is_found)
{
	struct job_vars j = OF("NCCL_VERSION=2.24.3-1\0");
	struct lib_version v = { 0 };

	ck_assert_int_eq(job_nccl_version(&j, &v), JOB_NCCL_IMAGE);
	ck_assert_uint_eq(v.minor, 24);
	/* The library that is loaded is the truth, and pip's one makes the image's version void. */
	job_vars_maps(&j, "7f00-7f01 r-xp 0 08:01 5 /lib/libc.so.6\n"
			  "7f02-7f03 r-xp 0 08:01 6 /usr/lib/libnccl.so.2\n");
	ck_assert_int_eq(job_nccl_version(&j, &v), JOB_NCCL_UNKNOWN);
	job_vars_maps(&j, "7f02-7f03 r-xp 0 08:01 6 /usr/lib/libnccl.so.2\n"
			  "7f04-7f05 r-xp 0 08:01 7 /usr/lib/libnccl.so.2.27.3\n");
	ck_assert_int_eq(job_nccl_version(&j, &v), JOB_NCCL_LIBRARY);
	ck_assert_uint_eq(v.minor, 27);
	j = OF("NCCL_VERSION=new\0");
	ck_assert_int_eq(job_nccl_version(&j, &v), JOB_NCCL_UNKNOWN);
	ck_assert_uint_eq(v.minor, 27);
}
END_TEST

START_TEST(files_of_settings_come_after_the_environment)
{
	struct job_vars j = OF("NCCL_IB_TC=106\0NCCL_IB_HCA=\0");

	job_vars_file(&j,
		      "# NCCL_NET=Socket\nNCCL_IB_TC=96\nNCCL_IB_GID_INDEX=3\nNCCL_IB_HCA=mlx5\n"
		      "no setting\n\nUCX_IB_TRAFFIC_CLASS=1\nNCCL_NET=IB",
		      "/etc/nccl.conf");
	ck_assert_str_eq(j.var[JOB_NCCL_IB_TC].text, "106");
	ck_assert_str_eq(j.var[JOB_NCCL_IB_GID_INDEX].text, "3");
	ck_assert_str_eq(j.var[JOB_NCCL_IB_GID_INDEX].from, "/etc/nccl.conf");
	ck_assert(!j.var[JOB_NCCL_IB_HCA].set && !j.var[JOB_UCX_TC].set);
	ck_assert_str_eq(j.var[JOB_NCCL_NET].text, "IB");
	job_vars_file(&j, "NCCL_NET=Socket\n", "/root/.nccl.conf");
	ck_assert_str_eq(j.var[JOB_NCCL_NET].text, "IB");
}
END_TEST

TEST_PROGRAM("job_vars", files_of_settings_come_after_the_environment, the_version_of_NCCL_is_found,
	     a_variable_is_found_by_its_whole_name, the_first_of_two_counts, a_long_value_is_cut,
	     numbers_are_read_as_NCCL_does)

/* SPDX-License-Identifier: Apache-2.0 */
/* traffic_class_test.c: the class of a port as files have it. */
#include "lib/rdma/traffic_class.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

START_TEST(traffic_classes_as_files_have_them)
{
	uint8_t tc = 77;

	ck_assert(traffic_class_parse("Global tclass=106", &tc) == 0 && tc == 106);
	ck_assert(traffic_class_parse("0", &tc) == 0 && tc == 0);
	ck_assert(traffic_class_parse("255", &tc) == 0 && tc == 255);
	ck_assert(traffic_class_parse("", &tc) == -1 && traffic_class_parse("256", &tc) == -1 &&
		  traffic_class_parse("tclass=", &tc) == -1 && tc == 255);
}
END_TEST

/* Write the file of a port. */
static void put(const char *sysfs, uint32_t port, const char *text)
{
	char path[TRAFFIC_CLASS_PATH_LEN], full[TRAFFIC_CLASS_PATH_LEN + 64];

	(void)snprintf(full, sizeof(full), "%s/%s", sysfs,
		       traffic_class_path("mlx5_1", port, path));
	for (char *slash = full + strlen(sysfs) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	testing_file(full, 0644, text);
}

static uint8_t class_of(const char *sysfs, uint32_t port)
{
	struct err e = { 0 };
	uint8_t tc = 77;

	ck_assert_msg(traffic_class_read(sysfs, "mlx5_1", port, &tc, &e) == 0, "%s", e.msg);
	return tc;
}

START_TEST(each_port_has_its_own)
{
	const char *sysfs = testing_dir();

	ck_assert_uint_eq(class_of(sysfs, 1), 0);
	put(sysfs, 1, "Global tclass=106\n");
	put(sysfs, 2, "96\n");
	ck_assert_uint_eq(class_of(sysfs, 1), 106);
	ck_assert_uint_eq(class_of(sysfs, 2), 96);
	put(sysfs, 1, "\n");
	ck_assert_uint_eq(class_of(sysfs, 1), 0);
}
END_TEST

static int read_it(void *arg, struct err *e)
{
	uint8_t tc;

	return traffic_class_read(arg, "mlx5_1", 1, &tc, e);
}

START_TEST(allocations_may_fail)
{
	char *sysfs = (char *)testing_dir();

	put(sysfs, 1, "106\n");
	ck_assert_str_eq(alloc_fail_each(read_it, sysfs), "ok");
}
END_TEST

TEST_PROGRAM("traffic_class", traffic_classes_as_files_have_them, each_port_has_its_own,
	     allocations_may_fail)

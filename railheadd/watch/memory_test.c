/* SPDX-License-Identifier: Apache-2.0 */
/* memory_test.c: the file of the rails: there and back, damaged, and not to be read. */
#include "railheadd/watch/memory.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sys/fs.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/watch/rail_table.h"

#define FILE_PATH "/mnt/lib/rails.json"

static const struct ctx ctx = { .state_dir = "/mnt/lib" };

#define RAILS                                                                                      \
	{                                                                                          \
		.ctx = &ctx, .name = "rails"                                                       \
	}

static int take(void *arg, const struct json *list, struct err *e)
{
	return rail_table_load(arg, list, e);
}

static void fill(struct rail_table *t)
{
	static const char text[] = "[{\"pci\":\"0000:21:00.0\",\"device\":\"mlx5_0\",\"port\":1,"
				   "\"best\":400000,\"active\":true,\"told\":[\"port\"]}]";
	auto_json struct json *known = NULL;
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "known", &known, &e), 0);
	ck_assert_int_eq(rail_table_load(t, known, &e), 0);
}

static void put(const char *text)
{
	ck_assert(mkdir("/mnt/lib", 0700) == 0 || access("/mnt/lib", F_OK) == 0);
	testing_file(FILE_PATH, 0600, text);
}

START_TEST(a_later_agent_knows_the_rails)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 }, later = { 0 };
	auto_clean(memory_clear) struct memory m = RAILS, n = RAILS;
	struct err e = { .msg = "" };

	(void)testing_dir();
	ck_assert_int_eq(memory_load(&m, take, &t, &e), 0);
	ck_assert_uint_eq(t.n, 0);
	fill(&t);
	ck_assert_msg(memory_save(&m, rail_table_known(&t), &e) == 0, "%s", e.msg);
	ck_assert_int_eq(memory_load(&n, take, &later, &e), 0);
	ck_assert_uint_eq(later.n, 1);
	ck_assert_str_eq(later.rail[0].pci, "0000:21:00.0");
	ck_assert(later.rail[0].best == 400000 && later.rail[0].was_active);
	ck_assert(later.rail[0].result[RAIL_PORT].told);
	/* Without a change it is not written. */
	ck_assert_int_eq(unlink(FILE_PATH), 0);
	ck_assert_int_eq(memory_save(&m, rail_table_known(&t), &e), 0);
	ck_assert_int_eq(access(FILE_PATH, F_OK), -1);
	t.rail[0].best = 1;
	ck_assert_int_eq(memory_save(&m, rail_table_known(&t), &e), 0);
	ck_assert_int_eq(access(FILE_PATH, F_OK), 0);
}
END_TEST

static void damaged(const char *text, const char *part)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_clean(memory_clear) struct memory m = RAILS;
	struct err e = { .msg = "" };

	put(text);
	ck_assert_int_eq(memory_load(&m, take, &t, &e), -1);
	ck_assert_msg(strstr(e.msg, part) != NULL, "%s", e.msg);
	ck_assert_uint_eq(t.n, 0);
	fill(&t);
	ck_assert_int_eq(memory_save(&m, rail_table_known(&t), &e), 0);
	rail_table_clear(&t);
	ck_assert_int_eq(memory_load(&m, take, &t, &e), 0);
	ck_assert_uint_eq(t.n, 1);
}

START_TEST(a_damaged_file_is_replaced)
{
	(void)testing_dir();
	damaged("", "rails.json");
	damaged("{\"version\":1,\"rails\":[", "rails.json");
	damaged("{\"version\":2,\"rails\":[]}", "rails.json.version");
	damaged("{\"version\":1}", "rails.json.rails");
	damaged("{\"version\":1,\"rails\":[{\"pci\":\"a\",\"device\":\"b\",\"port\":1},{}]}",
		"rails.pci");
}
END_TEST

/* It may have what the agent must know, so it stays. */
START_TEST(a_file_that_cannot_be_read_is_left_alone)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_clean(memory_clear) struct memory m = RAILS;
	struct err e = { .msg = "" };
	struct stat st;

	(void)testing_dir();
	put("{\"version\":1,\"rails\":[]}");
	ck_assert_int_eq(chmod(FILE_PATH, 0666), 0);
	ck_assert_int_eq(memory_load(&m, take, &t, &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	fill(&t);
	ck_assert_int_eq(memory_save(&m, rail_table_known(&t), &e), 0);
	ck_assert_int_eq(stat(FILE_PATH, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0666);
}
END_TEST

static int save_and_load(void *arg, struct err *e)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_clean(memory_clear) struct memory m = RAILS;

	return memory_save(&m, rail_table_known(arg), e) || memory_load(&m, take, &t, e) ? -1 : 0;
}

START_TEST(memory_may_end_anywhere)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };

	(void)testing_dir();
	fill(&t);
	ck_assert_str_eq(alloc_fail_each(save_and_load, &t), "ok");
}
END_TEST

TEST_PROGRAM("railheadd/watch/memory", a_later_agent_knows_the_rails, a_damaged_file_is_replaced,
	     a_file_that_cannot_be_read_is_left_alone, memory_may_end_anywhere)

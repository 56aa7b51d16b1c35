/* SPDX-License-Identifier: Apache-2.0 */
/* list_test.c: shows which members of JSON objects are in the rows of a table. */
#include "lib/cli/list.h"

#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static struct out_cell twice(const struct cmd_run *r, const struct json *n, char buf[LIST_TEXT_LEN])
{
	(void)r;
	(void)snprintf(buf, LIST_TEXT_LEN, "%.0f", 2 * json_num(n));
	return (struct out_cell){ buf, OUT_PLAIN };
}

static const struct list_column columns[] = {
	{ .title = "NAME", 0, "name", .other = "id" },
	{ .title = "SIZE", OUT_RIGHT, "size" },
	{ .title = "INNER", 0, "a.b" },
	{ .title = "YES", 0, "yes" },
	{ .title = "TWICE", OUT_RIGHT, "size", .cell = twice },
	{ .title = NULL },
};

static int print(FILE *to, struct err *e)
{
	static const char text[] = "[{\"name\":\"x\",\"size\":7,\"a\":{\"b\":\"in\"},\"yes\":true},"
				   "{\"name\":\"\",\"id\":\"y\",\"yes\":false}]";
	struct cmd_run r = { .out.to = to };
	auto_json struct json *rows = NULL;

	return json_parse(text, strlen(text), "rows", &rows, e) || list_print(&r, columns, rows, e)
		       ? -1
		       : 0;
}

START_TEST(a_cell_is_the_member_of_its_row)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	struct err e;

	ck_assert_ptr_nonnull(to);
	ck_assert_int_eq(print(to, &e), 0);
	(void)fclose(to);
	ck_assert_str_eq(text, "NAME  SIZE  INNER  YES  TWICE\n"
			       "x        7  in     yes     14\n"
			       "y        -  -      no       0\n");
	free(text);
}
END_TEST

static int print_nowhere(void *arg, struct err *e)
{
	return print(arg, e);
}

START_TEST(each_allocation_may_fail)
{
	FILE *to = fopen("/dev/null", "w");

	ck_assert_ptr_nonnull(to);
	ck_assert_str_eq(alloc_fail_each(print_nowhere, to), "ok");
	(void)fclose(to);
}
END_TEST

START_TEST(more_columns_than_a_table_has_are_an_error)
{
	struct list_column many[LIST_COLUMNS_MAX + 2] = { { .title = NULL } };
	struct cmd_run r = { .out.to = stdout };
	struct err e = { 0 };

	for (size_t i = 0; i <= LIST_COLUMNS_MAX; i++)
		many[i].title = "X";
	ck_assert_int_eq(list_print(&r, many, NULL, &e), -1);
	ck_assert_str_eq(e.msg, "a table has more than 12 columns");
	many[LIST_COLUMNS_MAX].title = NULL;
	ck_assert_int_eq(list_print(&r, many, NULL, &e), 0);
}
END_TEST

TEST_PROGRAM("list", a_cell_is_the_member_of_its_row, more_columns_than_a_table_has_are_an_error,
	     each_allocation_may_fail)

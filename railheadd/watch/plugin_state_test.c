/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_state_test.c: states of installed programs, and which of them people do not know yet. */
#include "railheadd/watch/plugin_state.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define OLD "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
#define NEW "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"

static struct receipt_program program(const char *name, const char *sha256)
{
	struct receipt_program p;

	(void)snprintf(p.name, sizeof(p.name), "%s", name);
	(void)snprintf(p.sha256, sizeof(p.sha256), "%s", sha256);
	return p;
}

static enum plugin_state state(enum held held, const char *sha256)
{
	struct receipt_program p = program("macvlan", OLD);
	struct plan_item seen = { .held = held };

	(void)snprintf(seen.held_sha256, sizeof(seen.held_sha256), "%s", sha256);
	return plugin_state_of(&p, &seen);
}

START_TEST(the_file_under_the_name_says_the_state)
{
	ck_assert_int_eq(state(HELD_OURS, OLD), PLUGIN_INTACT);
	ck_assert_int_eq(state(HELD_OURS, NEW), PLUGIN_OTHER_BUILD);
	ck_assert_int_eq(state(HELD_FOREIGN, ""), PLUGIN_OVERWRITTEN);
	ck_assert_int_eq(state(HELD_FOLDER, ""), PLUGIN_OVERWRITTEN);
	ck_assert_int_eq(state(HELD_NONE, ""), PLUGIN_MISSING);
}
END_TEST

START_TEST(a_runtime_finds_no_plugin_of_railhead)
{
	ck_assert(plugin_is_broken(PLUGIN_OVERWRITTEN) && plugin_is_broken(PLUGIN_MISSING));
	ck_assert(!plugin_is_broken(PLUGIN_INTACT) && !plugin_is_broken(PLUGIN_OTHER_BUILD));
}
END_TEST

START_TEST(only_a_changed_state_is_news)
{
	struct plugin_table before = { .n = 1 };
	struct plugin_row now = { program("macvlan", OLD), PLUGIN_OVERWRITTEN };

	before.row[0] = now;
	ck_assert(!plugin_is_news(&before, &now));
	now.state = PLUGIN_MISSING;
	ck_assert(plugin_is_news(&before, &now));
	now.state = PLUGIN_INTACT;
	ck_assert(plugin_is_news(&before, &now));
}
END_TEST

START_TEST(an_unknown_program_counts_as_intact)
{
	struct plugin_table before = { .n = 0 };
	struct plugin_row now = { program("macvlan", OLD), PLUGIN_INTACT };

	ck_assert(!plugin_is_news(&before, &now));
	now.state = PLUGIN_MISSING;
	ck_assert(plugin_is_news(&before, &now));
}
END_TEST

START_TEST(a_row_is_found_by_name_and_digest)
{
	struct plugin_table t = { .n = 1, .row = { { program("sriov", OLD), PLUGIN_MISSING } } };
	struct receipt_program same = program("sriov", OLD), newer = program("sriov", NEW);
	struct receipt_program other = program("rdma", OLD);

	ck_assert_ptr_eq(plugin_row_of(&t, &same), &t.row[0]);
	ck_assert_ptr_null(plugin_row_of(&t, &newer));
	ck_assert_ptr_null(plugin_row_of(&t, &other));
}
END_TEST

START_TEST(the_status_counts_the_intact_and_names_the_others)
{
	struct plugin_table t = { .n = 4,
				  .row = { { program("macvlan", OLD), PLUGIN_OVERWRITTEN },
					   { program("ipvlan", OLD), PLUGIN_INTACT },
					   { program("sriov", OLD), PLUGIN_OTHER_BUILD },
					   { program("rdma", OLD), PLUGIN_MISSING } } };
	auto_json struct json *obj = json_new_object();

	ck_assert_int_eq(plugin_table_add_status(&t, obj), 0);
	auto_free char *text = json_print(obj, false);
	ck_assert_str_eq(text, "{\"intact\":1,\"overwritten\":[\"macvlan\"],\"missing\":[\"rdma\"],"
			       "\"otherBuild\":[\"sriov\"]}");
}
END_TEST

static int add_status(void *table, struct err *e)
{
	auto_json struct json *obj = json_new_object();

	return obj && plugin_table_add_status(table, obj) == 0 ? 0 : err_nomem(e);
}

START_TEST(a_status_without_memory_is_an_error)
{
	struct plugin_table t = { .n = 3,
				  .row = { { program("macvlan", OLD), PLUGIN_OVERWRITTEN },
					   { program("sriov", OLD), PLUGIN_OTHER_BUILD },
					   { program("rdma", OLD), PLUGIN_MISSING } } };

	ck_assert_str_eq(alloc_fail_each(add_status, &t), "ok");
}
END_TEST

TEST_PROGRAM("plugin_state", the_file_under_the_name_says_the_state,
	     a_runtime_finds_no_plugin_of_railhead, only_a_changed_state_is_news,
	     an_unknown_program_counts_as_intact, a_row_is_found_by_name_and_digest,
	     the_status_counts_the_intact_and_names_the_others, a_status_without_memory_is_an_error)

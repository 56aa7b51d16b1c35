/* SPDX-License-Identifier: Apache-2.0 */
/* given_test.c: ids that come again, and ids that are dropped. */
#include "railheadd/devices/given.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static struct err e;

/* "id@time ..." */
static const char *text(const struct given *g)
{
	static char out[1024];
	char one[96];

	*out = '\0';
	for (size_t i = 0; i < g->n; i++) {
		(void)snprintf(one, sizeof(one), "%s%s@%d", i ? " " : "", g->id[i].id,
			       (int)g->id[i].at);
		testing_append(out, sizeof(out), one);
	}
	return out;
}

START_TEST(each_id_has_its_latest_time)
{
	static const char *const ids[] = { "9", "10", "9", "1", "9" };
	struct given g = { .n = 0 };

	given_settle(&g, 0);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(given_add(&g, ids[i], i == 4 ? 1 : i, &e), 0);
	given_settle(&g, INT64_MIN);
	ck_assert_str_eq(text(&g), "1@3 10@1 9@2");
	given_clear(&g);
	ck_assert_uint_eq(g.n, 0);
}
END_TEST

START_TEST(an_id_is_dropped_by_its_latest_time)
{
	struct given g = { .n = 0 };

	ck_assert_int_eq(given_add(&g, "a", 10, &e) | given_add(&g, "b", 10, &e), 0);
	ck_assert_int_eq(given_add(&g, "b", 20, &e), 0);
	given_settle(&g, 10);
	ck_assert_str_eq(text(&g), "a@10 b@20");
	given_settle(&g, 11);
	ck_assert_str_eq(text(&g), "b@20");
	given_settle(&g, 21);
	ck_assert_str_eq(text(&g), "");
	given_clear(&g);
}
END_TEST

/* As one of an init container, which no list has. */
START_TEST(an_id_that_was_never_listed_stays_while_it_is_in_use)
{
	struct given g = { .n = 0 };

	given_in_use(&g, "a", 9);
	ck_assert_int_eq(given_add(&g, "a", 1, &e) | given_add(&g, "b", 1, &e), 0);
	ck_assert_int_eq(given_list(&g, "c", 1, &e) | given_add(&g, "d", 1, &e), 0);
	ck_assert_int_eq(given_list(&g, "d", 2, &e), 0);
	given_settle(&g, 0);
	given_in_use(&g, "a", 9);
	given_in_use(&g, "c", 9);
	given_in_use(&g, "d", 9);
	given_in_use(&g, "none", 9);
	given_settle(&g, 1);
	ck_assert_str_eq(text(&g), "a@9 b@1 c@1 d@2");
	/* Another pod gets it. */
	ck_assert_int_eq(given_add(&g, "d", 2, &e), 0);
	given_settle(&g, 2);
	given_in_use(&g, "d", 5);
	given_in_use(&g, "a", 5);
	ck_assert_str_eq(text(&g), "a@9 d@5");
	given_clear(&g);
}
END_TEST

START_TEST(ids_that_no_kubelet_gives_are_ignored)
{
	char longest[RESOURCE_ID_LEN + 1];
	struct given g = { .n = 0 };

	memset(longest, 'x', RESOURCE_ID_LEN);
	longest[RESOURCE_ID_LEN] = '\0';
	ck_assert_int_eq(given_add(&g, "", 0, &e) | given_add(&g, longest, 0, &e), 0);
	ck_assert_uint_eq(g.n, 0);
	ck_assert_int_eq(given_add(&g, longest + 1, 0, &e), 0);
	ck_assert_str_eq(g.id[0].id, longest + 1);
	given_clear(&g);
}
END_TEST

static int add_three(void *arg, struct err *err)
{
	struct given g = { .n = 0 };
	int rc = given_add(&g, arg, 0, err) || given_add(&g, arg, 1, err) ||
				 given_add(&g, arg, 2, err)
			 ? -1
			 : 0;

	given_clear(&g);
	return rc;
}

START_TEST(no_memory_is_an_error)
{
	char id[] = "id";

	ck_assert_str_eq(alloc_fail_each(add_three, id), "ok");
}
END_TEST

TEST_PROGRAM("railheadd/devices/given", each_id_has_its_latest_time,
	     an_id_is_dropped_by_its_latest_time,
	     an_id_that_was_never_listed_stays_while_it_is_in_use,
	     ids_that_no_kubelet_gives_are_ignored, no_memory_is_an_error)

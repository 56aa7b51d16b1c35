/* SPDX-License-Identifier: Apache-2.0 */
/* pin_test.c: a group keeps its number, whatever its cables do. */
#include "fabric/pin.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define L(label_, cables_)                                                                         \
	{                                                                                          \
		.node = "n", .label = (label_), .file = PIN_NONE, .cables = (cables_)              \
	}
#define NO PIN_NONE

static bool used[PIN_GROUPS_MAX];

static void pinned(struct pin *pin, size_t n)
{
	struct err e;

	ck_assert_int_eq(pin_groups(pin, n, used, &e), 0);
}

START_TEST(names_of_groups)
{
	char text[PIN_NAME_LEN];

	ck_assert_str_eq(pin_name(17, text), "g17");
	ck_assert_str_eq(pin_name(PIN_NONE, text), "-");
	ck_assert_uint_eq(pin_parse("g17"), 17);
	ck_assert_uint_eq(pin_parse("g0"), 0);
	static const char *const bad[] = {
		"", "g", "17", "g-1", "g01", "g4096", "h1", "g1 ", NULL
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_uint_eq(pin_parse(bad[i]), PIN_NONE);
}
END_TEST

START_TEST(new_groups_get_the_first_numbers_that_are_not_in_use)
{
	struct pin pin[] = { L(NO, 0), L(NO, 1), L(NO, FABRIC_NO_GROUP), L(NO, 1) };

	used[0] = used[2] = true; /* they have pools */
	pinned(pin, ARRAY_SIZE(pin));
	ck_assert_uint_eq(pin[0].group, 1);
	ck_assert_uint_eq(pin[1].group, 3);
	ck_assert_uint_eq(pin[3].group, 3);
	ck_assert(pin[2].group == PIN_NONE && pin[2].seen == PIN_NONE);
	ck_assert(used[1] && used[3] && !used[4]);
}
END_TEST

/* The order of the groups changes when one of them grows. */
START_TEST(a_group_keeps_the_number_of_its_labels)
{
	struct pin pin[] = {
		L(5, 1), L(NO, 1), L(2, 0), L(NO, 0), L(NO, 0), L(0, FABRIC_NO_GROUP)
	};

	pinned(pin, ARRAY_SIZE(pin));
	ck_assert_uint_eq(pin[1].group, 5);
	ck_assert(pin[3].group == 2 && pin[4].group == 2);
	ck_assert_uint_eq(pin[5].group, 0);
}
END_TEST

/* A cable in another leaf is a finding: the pods of the node keep their subnet. */
START_TEST(cables_move_no_node_that_has_a_label)
{
	struct pin pin[] = { L(0, 0), L(0, 0), L(1, 0), L(1, 1), L(1, 1) };

	pinned(pin, ARRAY_SIZE(pin));
	ck_assert(pin[2].group == 1 && pin[2].seen == 0);
	ck_assert(pin[3].group == 1 && pin[3].seen == 1);
}
END_TEST

/* A group that was split: the larger part has the number, and the other one a new one. */
START_TEST(two_groups_never_have_one_number)
{
	struct pin pin[] = { L(0, 0), L(0, 0), L(0, 1), L(NO, 1) };

	pinned(pin, ARRAY_SIZE(pin));
	ck_assert(pin[2].group == 0 && pin[2].seen == 1);
	ck_assert(pin[3].group == 1 && pin[3].seen == 1);
}
END_TEST

/* One node of a large group came from a small one: its label names the small group still. */
START_TEST(a_larger_group_takes_no_number_of_a_smaller_one)
{
	struct pin pin[] = { L(0, 0), L(NO, 0), L(NO, 0), L(NO, 0),
			     L(0, 1), L(0, 1),  L(2, 1),  L(2, 2) };

	pinned(pin, ARRAY_SIZE(pin));
	ck_assert_uint_eq(pin[4].seen, 0);
	ck_assert_uint_eq(pin[1].seen, 1);
	/* The number that a group has no use for is free for the next one. */
	ck_assert_uint_eq(pin[7].seen, 2);
}
END_TEST

START_TEST(the_file_counts_before_the_cables_and_after_the_label)
{
	struct pin pin[] = { { "a", NO, 3, 0, 0, 0 }, { "b", 4, 3, FABRIC_NO_GROUP, 0, 0 } };

	pinned(pin, ARRAY_SIZE(pin));
	ck_assert(pin[0].group == 3 && pin[0].seen == 3);
	ck_assert_uint_eq(pin[1].group, 4);
}
END_TEST

static int pin_one(void *arg, struct err *e)
{
	(void)arg;
	struct pin pin[] = { L(NO, 0) };

	return pin_groups(pin, 1, (bool[PIN_GROUPS_MAX]){ false }, e);
}

START_TEST(no_number_or_no_memory_is_left)
{
	struct pin pin[] = { L(NO, 0) };
	struct err e;

	ck_assert_str_eq(alloc_fail_each(pin_one, NULL), "ok");
	for (size_t i = 0; i < PIN_GROUPS_MAX; i++)
		used[i] = true;
	ck_assert_int_eq(pin_groups(pin, 1, used, &e), -1);
	ck_assert_str_eq(e.msg, "more than 4096 groups");
}
END_TEST

TEST_PROGRAM("pin", names_of_groups, new_groups_get_the_first_numbers_that_are_not_in_use,
	     a_group_keeps_the_number_of_its_labels, cables_move_no_node_that_has_a_label,
	     two_groups_never_have_one_number, a_larger_group_takes_no_number_of_a_smaller_one,
	     the_file_counts_before_the_cables_and_after_the_label, no_number_or_no_memory_is_left)

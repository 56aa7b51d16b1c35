/* SPDX-License-Identifier: Apache-2.0 */
/* numbers_test.c: the notes of the numbers that pods have, also damaged ones. */
#include "lib/rdma/numbers.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define RUN  "/mnt/run"
#define NOTE RUN "/numbers/0000:3b:02.0"

static const struct ctx ctx = { .run_dir = RUN, .log = { .fd = -1 } };
static const struct rdma_chardevs one = { .uverbs = { "uverbs1", 231, 193 } },
				  two = { .uverbs = { "uverbs2", 231, 194 } };

static int check(const char *pod, const struct rdma_chardevs *now, struct err *e)
{
	const struct rdma_numbers n = {
		.ctx = &ctx, .log = &ctx.log, .bus = "0000:3b:02.0", .pod = pod
	};

	*e = (struct err){ .msg = "" };
	return rdma_numbers_check(&n, now, e);
}

START_TEST(a_pod_keeps_the_numbers_of_its_first_ADD)
{
	struct err e;

	(void)testing_dir();
	ck_assert_int_eq(check("a", &one, &e), 0);
	ck_assert_int_eq(check("a", &one, &e), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(check("a", &two, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_STATE);
		ck_assert_ptr_nonnull(
			strstr(e.msg, "the pod has uverbs1 231:193, the device uverbs2"));
	}
	ck_assert_int_eq(check("b", &two, &e), 0);
	ck_assert_int_eq(check("b", &one, &e), -1);
	/* The device of the first pod was another one's meanwhile. */
	ck_assert_int_eq(check("a", &two, &e), 0);
}
END_TEST

START_TEST(a_damaged_note_counts_as_none)
{
	static const char *const notes[] = { "", "a", "\n", "a b\n" };
	struct err e;

	(void)testing_dir();
	ck_assert_int_eq(check("a", &one, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++) {
		testing_file(NOTE, 0600, notes[i]);
		ck_assert_int_eq(check("a", &two, &e), 0);
	}
	ck_assert_int_eq(check("a", &one, &e), -1);
}
END_TEST

/* Then it is unknown what the pod has. */
START_TEST(a_note_that_cannot_be_read_is_an_error)
{
	struct err e;

	(void)testing_dir();
	ck_assert_int_eq(check("a", &one, &e), 0);
	ck_assert_int_eq(unlink(NOTE), 0);
	ck_assert_int_eq(mkdir(NOTE, 0700), 0);
	ck_assert_int_eq(check("a", &one, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_IO);
}
END_TEST

TEST_PROGRAM("lib/rdma/numbers", a_pod_keeps_the_numbers_of_its_first_ADD,
	     a_damaged_note_counts_as_none, a_note_that_cannot_be_read_is_an_error)

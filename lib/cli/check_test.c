/* SPDX-License-Identifier: Apache-2.0 */
/* check_test.c: shows how the findings of several rails are printed. */
#include "lib/cli/check.h"

#include <errno.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static void add(struct findings *all, const char *subject, const char *value, const char *reason)
{
	struct finding *f = findings_add(all, "mtu", reason ? FINDING_WARN : FINDING_OK);

	finding_set_subject(f, "%s", subject);
	finding_set_value(f, "%s", value);
	if (!reason)
		return;
	finding_set_reason(f, "%s", reason);
	finding_set_remedy(f, "set it to 4200");
}

static char *reported(const struct findings *all)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	struct cmd_run r = { .out.to = to };
	struct err e = { 0 };

	ck_assert_ptr_nonnull(to);
	ck_assert_int_eq(check_report(&r, all, 3, FINDINGS_OK, &e), 0);
	(void)fclose(to);
	return text;
}

START_TEST(equal_findings_of_eight_rails_are_one)
{
	auto_findings struct findings all = { 0 };
	char subject[16];

	for (int i = 0; i < 8; i++) {
		(void)snprintf(subject, sizeof(subject), "net%d", i);
		add(&all, subject, "the MTU is 1500", "bandwidth is lower");
		if (i == 3)
			add(&all, "net9", "the MTU is 9000", NULL);
	}
	auto_free char *text = reported(&all);

	ck_assert_str_eq(
		text,
		"warn     mtu  net0, net1, net2, net3, net4, net5, net6, net7: the MTU is 1500\n"
		"              so: bandwidth is lower\n"
		"              do: set it to 4200\n"
		"ok       mtu  net9: the MTU is 9000\n"
		"1 ok, 8 warned, 0 failed, 0 unknown\n");
}
END_TEST

START_TEST(other_evidence_has_a_line_and_another_conclusion_its_own)
{
	auto_findings struct findings all = { 0 };

	add(&all, "net0", "the MTU is 1500", "bandwidth is lower");
	add(&all, "net1", "the MTU is 200", "no packet fits");
	add(&all, "net2", "the MTU is 1400", "bandwidth is lower");
	auto_free char *text = reported(&all);

	ck_assert_str_eq(text, "warn     mtu  net0: the MTU is 1500\n"
			       "warn     mtu  net2: the MTU is 1400\n"
			       "              so: bandwidth is lower\n"
			       "              do: set it to 4200\n"
			       "warn     mtu  net1: the MTU is 200\n"
			       "              so: no packet fits\n"
			       "              do: set it to 4200\n"
			       "0 ok, 3 warned, 0 failed, 0 unknown\n");
}
END_TEST

START_TEST(without_memory_it_is_an_error)
{
	auto_findings struct findings all = { 0 };
	struct cmd_run r = { .out = { .to = stdout, .json = true } };
	struct err e = { 0 };

	add(&all, "net0", "the MTU is 1500", "bandwidth is lower");
	alloc_fail_begin(1);
	const int rc = check_report(&r, &all, 3, FINDINGS_OK, &e);

	(void)alloc_fail_end();
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(e.errnum, ENOMEM);
}
END_TEST

TEST_PROGRAM("check", equal_findings_of_eight_rails_are_one,
	     other_evidence_has_a_line_and_another_conclusion_its_own,
	     without_memory_it_is_an_error)

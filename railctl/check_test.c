/* SPDX-License-Identifier: Apache-2.0 */
/* check_test.c: shows which state and exit status follow from the findings of all diagnoses. */
#include "railctl/check.h"

#include <string.h>

#include "lib/testing/testing.h"

static void begin(struct diagnoses *d)
{
	*d = (struct diagnoses){ 0 };
	for (size_t i = 0; i < DIAGNOSES; i++) {
		d->of[i].name = "a check";
		(void)strcpy(d->of[i].none, "not here");
	}
}

/* With a finding of this state in the diagnosis i. */
static void found(struct diagnoses *d, size_t i, enum finding_state s)
{
	d->of[i].none[0] = '\0';
	finding_set_value(findings_add(&d->of[i].found, "id", s), "seen");
}

static int status(const struct diagnoses *d, bool strict)
{
	static const struct opt opt = { .name = "strict" };
	struct opt_value value = { &opt, "" };
	struct cmd_run r = { .opts = { .values = &value, .n_values = strict } };

	return diagnoses_status(&r, d);
}

START_TEST(nothing_to_check_is_unknown)
{
	struct diagnoses d;

	begin(&d);
	ck_assert_int_eq(diagnoses_state(&d), FINDING_UNKNOWN);
	ck_assert_int_eq(status(&d, false), CHECK_UNKNOWN);
	d.of[2].none[0] = '\0';
	ck_assert_int_eq(diagnoses_state(&d), FINDING_OK);
	ck_assert_int_eq(status(&d, true), CMD_OK);
}
END_TEST

START_TEST(status_follows_from_the_worst_finding)
{
	auto_diagnoses struct diagnoses d;
	char counts[DIAGNOSES_COUNTS_LEN];

	begin(&d);
	found(&d, 0, FINDING_OK);
	ck_assert_int_eq(status(&d, true), CMD_OK);
	found(&d, 3, FINDING_UNKNOWN);
	ck_assert_int_eq(status(&d, false), CHECK_UNKNOWN);
	found(&d, 1, FINDING_WARN);
	ck_assert_int_eq(diagnoses_state(&d), FINDING_WARN);
	ck_assert_int_eq(status(&d, false), CHECK_UNKNOWN);
	ck_assert_int_eq(status(&d, true), CMD_FAILED);
	found(&d, 1, FINDING_FAIL);
	ck_assert_int_eq(status(&d, false), CMD_FAILED);
	ck_assert_str_eq(diagnoses_counts(&d, counts), "1 ok, 1 warned, 1 failed, 1 unknown");
}
END_TEST

START_TEST(json_has_each_finding_with_its_diagnosis)
{
	auto_diagnoses struct diagnoses d;
	auto_json struct json *o = NULL;
	const struct json *first;

	begin(&d);
	found(&d, 6, FINDING_WARN);
	o = diagnoses_json(&d);
	ck_assert_str_eq(json_text(o, "state"), "warn");
	ck_assert_uint_eq(json_len(json_get(o, "diagnoses")), DIAGNOSES);
	first = json_first(json_get(o, "diagnoses"));
	ck_assert_str_eq(json_text(first, "state"), "none");
	ck_assert_str_eq(json_text(first, "reason"), "not here");
	ck_assert_uint_eq(json_len(json_get(o, "findings")), 1);
	first = json_first(json_get(o, "findings"));
	ck_assert_str_eq(json_text(first, "diagnosis"), "a check");
	ck_assert_str_eq(json_text(first, "value"), "seen");
}
END_TEST

TEST_PROGRAM("check", nothing_to_check_is_unknown, status_follows_from_the_worst_finding,
	     json_has_each_finding_with_its_diagnosis)

/* SPDX-License-Identifier: Apache-2.0 */
/* receipt_test.c: a receipt is read as it was written, and damaged ones are refused. */
#include "install/receipt.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define SUM_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SUM_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEAD  "{\"receipt\":1,\"version\":\"0.1.0\",\"build\":\"0a1b\",\"programs\":"

static const struct receipt two = {
	.changing = true,
	.version = "0.1.0",
	.build = "0a1b",
	.chain = "/host/etc/cni/net.d",
	.n = 2,
	.program = { { "rh-macvlan", SUM_A }, { "railhead-ipam", SUM_B } },
};

START_TEST(a_text_is_read_back)
{
	auto_free char *text = receipt_print(&two);
	struct receipt r;
	struct err e = { .msg = "" };

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(receipt_decode(text, strlen(text), &r, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(r.changing, 1);
	ck_assert_str_eq(r.version, "0.1.0");
	ck_assert_str_eq(r.build, "0a1b");
	ck_assert_str_eq(r.chain, "/host/etc/cni/net.d");
	ck_assert_uint_eq(r.n, 2);
	ck_assert_str_eq(r.program[0].name, "rh-macvlan");
	ck_assert_str_eq(r.program[0].sha256, SUM_A);
	ck_assert_ptr_eq(receipt_find(&r, "railhead-ipam"), &r.program[1]);
	ck_assert_ptr_null(receipt_find(&r, "macvlan"));
}
END_TEST

START_TEST(the_text_stays_the_same)
{
	auto_free char *text = receipt_print(&two);

	ck_assert_str_eq(text, "{\n\t\"receipt\": 1,\n\t\"version\": \"0.1.0\",\n\t\"build\": "
			       "\"0a1b\",\n\t\"chain\": \"/host/etc/cni/net.d\",\n\t\"changing\": "
			       "true,\n\t\"programs\": [\n\t\t{\n"
			       "\t\t\t\"name\": \"rh-macvlan\",\n\t\t\t\"sha256\": \"" SUM_A
			       "\"\n\t\t},\n\t\t{\n\t\t\t\"name\": \"railhead-ipam\",\n"
			       "\t\t\t\"sha256\": \"" SUM_B "\"\n\t\t}\n\t]\n}");
}
END_TEST

START_TEST(a_complete_one_does_not_say_changing)
{
	struct receipt r = two;

	r.changing = false;
	auto_free char *text = receipt_print(&r);
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_null(strstr(text, "changing"));
}
END_TEST

static void is_refused(const char *text, const char *words)
{
	struct receipt r;
	struct err e = { .msg = "" };

	ck_assert_msg(receipt_decode(text, strlen(text), &r, &e) == -1, "%s", text);
	ck_assert_msg(strstr(e.msg, words) != NULL, "%s: %s", text, e.msg);
}

START_TEST(damage_is_named)
{
	is_refused("", "receipt");
	is_refused("[]", "an array");
	is_refused("{}", "receipt.receipt");
	is_refused("{\"receipt\":2,\"version\":\"1\",\"build\":\"0\",\"programs\":[]}",
		   "receipt.receipt");
	is_refused("{\"receipt\":1,\"version\":\"\",\"build\":\"0\",\"programs\":[]}",
		   "receipt.version");
	is_refused("{\"receipt\":1,\"version\":\"0123456789012345678901234567890123456789\","
		   "\"build\":\"0\",\"programs\":[]}",
		   "receipt.version");
	is_refused(HEAD "{}}", "receipt.programs");
	is_refused(HEAD "[1]}", "receipt.programs has a number");
	is_refused(HEAD "[{\"name\":\"macvlan\"}]}", "sha256");
	is_refused(HEAD "[{\"name\":\"macvlan\",\"sha256\":\"aa\"}]}", "sha256");
	is_refused(HEAD "[{\"name\":\"macvlan\",\"sha256\":\"" SUM_A "a\"}]}", "sha256");
	is_refused(HEAD "[{\"name\":\"macvlan\",\"sha256\":\"A" SUM_A "\"}]}", "sha256");
	is_refused(HEAD "[{\"name\":\"a\",\"sha256\":\"" SUM_A
			"\"},{\"name\":\"a\",\"sha256\":\"" SUM_B "\"}]}",
		   "has a twice");
}
END_TEST

START_TEST(capital_digits_are_no_digest)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%s",
		       HEAD "[{\"name\":\"a\",\"sha256\":\"" SUM_A "\"}]}");
	memset(strstr(text, SUM_A), 'A', 1);
	is_refused(text, "a: sha256 is not a digest");
}
END_TEST

START_TEST(a_name_stays_in_the_folder)
{
	static const char *const bad[] = {
		"",   ".",   "..",
		".x", "a/b", "/etc/passwd",
		"-x", "a b", "0123456789012345678901234567890123456789012345678901234567890123",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char text[512];

		(void)snprintf(text, sizeof(text),
			       HEAD "[{\"name\":\"%s\",\"sha256\":\"" SUM_A "\"}]}", bad[i]);
		is_refused(text, "not a name of a program");
		ck_assert(!program_name_valid(bad[i]));
	}
	ck_assert(program_name_valid("rh-ib-sriov"));
}
END_TEST

START_TEST(a_program_is_added_once)
{
	struct receipt r = two;
	struct err e = { .msg = "" };
	char name[16];

	ck_assert_int_eq(receipt_add(&r, "rh-macvlan", SUM_B, &e), 0);
	ck_assert_uint_eq(r.n, 2);
	ck_assert_str_eq(r.program[0].sha256, SUM_B);
	while (r.n < RECEIPT_PROGRAMS) {
		(void)snprintf(name, sizeof(name), "p%zu", r.n);
		ck_assert_int_eq(receipt_add(&r, name, SUM_A, &e), 0);
	}
	ck_assert_int_eq(receipt_add(&r, "p2", SUM_B, &e), 0);
	ck_assert_int_eq(receipt_add(&r, "more", SUM_A, &e), -1);
	ck_assert_str_eq(e.msg, "more than 64 programs");

	auto_free char *text = receipt_print(&r);
	struct receipt again;

	ck_assert_ptr_nonnull(text);
	ck_assert_uint_lt(strlen(text), RECEIPT_MAX);
	ck_assert_int_eq(receipt_decode(text, strlen(text), &again, &e), 0);
	ck_assert_uint_eq(again.n, RECEIPT_PROGRAMS);
}
END_TEST

START_TEST(more_programs_than_there_is_room_for_are_refused)
{
	char whole[16384] = HEAD "[";

	for (int i = 0; i <= RECEIPT_PROGRAMS; i++) {
		char one[128];

		(void)snprintf(one, sizeof(one), "%s{\"name\":\"p%d\",\"sha256\":\"" SUM_A "\"}",
			       i ? "," : "", i);
		testing_append(whole, sizeof(whole), one);
	}
	testing_append(whole, sizeof(whole), "]}");
	is_refused(whole, "more than 64 programs");
}
END_TEST

static int there_and_back(void *arg, struct err *e)
{
	auto_free char *text = receipt_print(arg);
	struct receipt r;

	return text ? receipt_decode(text, strlen(text), &r, e) : err_nomem(e);
}

START_TEST(failed_allocations_leave_nothing)
{
	struct receipt r = two;

	ck_assert_str_eq(alloc_fail_each(there_and_back, &r), "ok");
}
END_TEST

TEST_PROGRAM("receipt", the_text_stays_the_same, a_text_is_read_back,
	     a_complete_one_does_not_say_changing, damage_is_named, capital_digits_are_no_digest,
	     a_name_stays_in_the_folder, a_program_is_added_once,
	     more_programs_than_there_is_room_for_are_refused, failed_allocations_leave_nothing)

/* SPDX-License-Identifier: Apache-2.0 */
/* plan_test.c: names, actions and order of the programs of an install and of a removal. */
#include "install/plan.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define SUM_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SUM_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct plan plan_of(const char *list, const char *prefix)
{
	struct plan p;
	struct err e = { .msg = "" };

	ck_assert_msg(plan_choose(list, prefix, &p, &e) == 0, "%s", e.msg);
	return p;
}

static struct plan_item *item_of(struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->item[i].name, name) == 0)
			return &p->item[i];
	}
	ck_abort_msg("no item %s", name);
}

static void hold(struct plan_item *x, enum held held, const char *wanted, const char *there)
{
	x->held = held;
	memcpy(x->sha256, wanted, sizeof(x->sha256));
	memcpy(x->held_sha256, there, strlen(there) + 1);
}

START_TEST(all_plugins_or_those_of_a_list)
{
	struct plan all = plan_of(NULL, ""), some = plan_of("ib-sriov,macvlan,macvlan", "");

	ck_assert_uint_eq(all.n, 11);
	ck_assert_uint_eq(some.n, 3);
	ck_assert_str_eq(some.item[0].name, "railhead-ipam");
	ck_assert_str_eq(some.item[1].name, "macvlan");
	ck_assert_str_eq(some.item[2].name, "ib-sriov");
}
END_TEST

START_TEST(the_chained_plugin_has_no_prefix)
{
	struct plan p = plan_of("macvlan", "rh-");

	plan_add_chained(&p);
	ck_assert_uint_eq(p.n, 3);
	ck_assert_str_eq(item_of(&p, "railhead")->program, "railhead");
}
END_TEST

START_TEST(a_prefix_is_for_names_that_others_have)
{
	struct plan p = plan_of("macvlan,railhead-ipam,railhead-hook,railctl,rdma-probe", "rh-");

	ck_assert_uint_eq(p.n, 5);
	ck_assert_str_eq(item_of(&p, "rdma-probe")->program, "rdma-probe");
	ck_assert_str_eq(item_of(&p, "railctl")->program, "railctl");
	ck_assert_str_eq(item_of(&p, "railhead-hook")->program, "railhead-hook");
	ck_assert_str_eq(item_of(&p, "rh-macvlan")->program, "macvlan");
	ck_assert_str_eq(item_of(&p, "railhead-ipam")->program, "railhead-ipam");
}
END_TEST

START_TEST(unknown_plugins_and_bad_prefixes_are_refused)
{
	static const char *const lists[] = { "",    "macvlan,", "host-local", "macvlan, ipvlan",
					     "mac", "railct" };
	static const char *const prefixes[] = {
		"-", "../", "a/", "a b", ".rh-", "012345678901234567890123456789012"
	};
	struct plan p;
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		ck_assert_msg(plan_choose(lists[i], "", &p, &e) == -1 && e.code == ERR_FIELD, "%s",
			      lists[i]);
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		ck_assert_msg(plan_choose(NULL, prefixes[i], &p, &e) == -1 && e.code == ERR_CONFIG,
			      "%s", prefixes[i]);
	ck_assert_int_eq(plan_choose(NULL, "01234567890123456789012345678901", &p, &e), 0);
}
END_TEST

START_TEST(a_new_program_is_added_replaced_repaired_or_the_same)
{
	struct plan p = plan_of("macvlan,ipvlan,rdma,sriov", "");
	struct err e = { .msg = "" };

	hold(item_of(&p, "sriov"), HELD_OURS, SUM_A, SUM_A);
	item_of(&p, "sriov")->held_wrong = true;
	hold(item_of(&p, "macvlan"), HELD_OURS, SUM_A, SUM_A);
	hold(item_of(&p, "ipvlan"), HELD_OURS, SUM_A, SUM_B);
	ck_assert_int_eq(plan_decide(&p, false, &e), 0);
	ck_assert_int_eq(item_of(&p, "macvlan")->action, PLAN_SAME);
	ck_assert_int_eq(item_of(&p, "ipvlan")->action, PLAN_REPLACE);
	ck_assert_int_eq(item_of(&p, "rdma")->action, PLAN_ADD);
	ck_assert_int_eq(item_of(&p, "sriov")->action, PLAN_REPAIR);
}
END_TEST

START_TEST(files_of_others_are_named)
{
	struct plan p = plan_of("macvlan,ipvlan", "");
	struct err e = { .msg = "" };

	item_of(&p, "macvlan")->held = HELD_FOREIGN;
	item_of(&p, "ipvlan")->held = HELD_FOREIGN;
	ck_assert_int_eq(plan_decide(&p, false, &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	ck_assert_str_eq(e.msg, "the CNI folder has files of another project: macvlan, ipvlan");
	ck_assert_ptr_nonnull(strstr(e.detail, "PLUGIN_PREFIX"));
	ck_assert_ptr_nonnull(strstr(e.detail, "FORCE=1"));
	ck_assert_int_eq(plan_decide(&p, true, &e), 0);
	ck_assert_int_eq(item_of(&p, "macvlan")->action, PLAN_REPLACE);
}
END_TEST

START_TEST(no_prefix_helps_railhead_ipam)
{
	struct plan p = plan_of("macvlan", "rh-");
	struct err e = { .msg = "" };

	item_of(&p, "railhead-ipam")->held = HELD_FOREIGN;
	ck_assert_int_eq(plan_decide(&p, false, &e), -1);
	ck_assert_ptr_null(strstr(e.detail, "PLUGIN_PREFIX"));
}
END_TEST

START_TEST(a_folder_is_never_replaced)
{
	struct plan p = plan_of("macvlan", "");
	struct err e = { .msg = "" };

	item_of(&p, "macvlan")->held = HELD_FOLDER;
	ck_assert_int_eq(plan_decide(&p, true, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "a folder macvlan"));
}
END_TEST

static const struct receipt earlier = {
	.version = "0.1.0",
	.n = 5,
	.program = { { "railhead-ipam", SUM_A },
		     { "old-macvlan", SUM_A },
		     { "old-ipvlan", SUM_A },
		     { "old-rdma", SUM_A },
		     { "old-sriov", SUM_A } },
};

START_TEST(an_earlier_program_goes_when_nothing_needs_it)
{
	struct plan p = plan_of("macvlan", "");
	struct err e = { .msg = "" };

	plan_add_earlier(&p, &earlier);
	ck_assert_uint_eq(p.n, 6);
	hold(item_of(&p, "old-macvlan"), HELD_OURS, SUM_A, SUM_A);
	hold(item_of(&p, "old-ipvlan"), HELD_OURS, SUM_A, SUM_A);
	item_of(&p, "old-ipvlan")->needed = true;
	hold(item_of(&p, "old-rdma"), HELD_OURS, SUM_A, SUM_B);
	item_of(&p, "old-sriov")->held = HELD_FOREIGN;
	ck_assert_int_eq(plan_decide(&p, false, &e), 0);
	ck_assert_int_eq(item_of(&p, "old-macvlan")->action, PLAN_DROP);
	ck_assert_int_eq(item_of(&p, "old-ipvlan")->action, PLAN_NEEDED);
	ck_assert_int_eq(item_of(&p, "old-rdma")->action, PLAN_FORGET);
	ck_assert_int_eq(item_of(&p, "old-sriov")->action, PLAN_FORGET);
}
END_TEST

START_TEST(what_an_interrupted_install_left_is_dropped_too)
{
	struct plan p = { .n = 0 };
	struct receipt r = earlier;
	struct err e = { .msg = "" };

	r.changing = true;
	plan_add_earlier(&p, &r);
	hold(item_of(&p, "old-rdma"), HELD_OURS, SUM_A, SUM_B);
	ck_assert_int_eq(plan_decide(&p, false, &e), 0);
	ck_assert_int_eq(item_of(&p, "old-rdma")->action, PLAN_DROP);
	ck_assert_int_eq(item_of(&p, "old-macvlan")->action, PLAN_FORGET);
}
END_TEST

START_TEST(the_IPAM_comes_first_or_last)
{
	struct plan p = { .n = 0 }, none = { .n = 0 };
	struct receipt r = earlier;

	r.program[0] = earlier.program[1];
	r.program[1] = earlier.program[0];
	plan_add_earlier(&p, &r);
	plan_order(&p, true);
	ck_assert_str_eq(p.item[4].name, "railhead-ipam");
	ck_assert_str_eq(p.item[0].name, "old-macvlan");
	ck_assert_str_eq(p.item[3].name, "old-sriov");
	plan_order(&p, false);
	ck_assert_str_eq(p.item[0].name, "railhead-ipam");
	ck_assert_str_eq(p.item[1].name, "old-macvlan");
	ck_assert_str_eq(p.item[4].name, "old-sriov");
	plan_order(&none, true);
	ck_assert_uint_eq(none.n, 0);
}
END_TEST

START_TEST(versions_are_compared_by_number)
{
	static const char *const rising[] = { "",      "0.0.9",   "0.1",
					      "0.1.2", "0.1.10",  "0.2.0",
					      "1",     "1.0.0.1", "18446744073709551615" };

	for (size_t i = 0; i < ARRAY_SIZE(rising); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(rising); j++)
			ck_assert_msg(version_older(rising[i], rising[j]) == (i < j), "%s %s",
				      rising[i], rising[j]);
	}
	ck_assert(!version_older("0.1", "0.1.0") && !version_older("0.1.0", "0.1"));
	ck_assert(!version_older("x.1", "0.1") && !version_older("0.1", "x.1"));
	ck_assert(version_older("99999999999999999999999.1", "0.2"));
}
END_TEST

START_TEST(the_receipt_has_dropped_programs_until_they_are_gone)
{
	struct plan p = plan_of("macvlan", "");
	struct receipt r = { .changing = true };
	struct err e = { .msg = "" };

	plan_add_earlier(&p, &earlier);
	item_of(&p, "old-macvlan")->action = PLAN_DROP;
	item_of(&p, "old-ipvlan")->action = PLAN_NEEDED;
	item_of(&p, "old-rdma")->action = PLAN_FORGET;
	item_of(&p, "old-sriov")->action = PLAN_FORGET;
	ck_assert_int_eq(plan_receipt(&p, &r, &e), 0);
	ck_assert_uint_eq(r.n, 4);
	ck_assert_ptr_nonnull(receipt_find(&r, "old-macvlan"));
	r.changing = false;
	ck_assert_int_eq(plan_receipt(&p, &r, &e), 0);
	ck_assert_uint_eq(r.n, 3);
	ck_assert_ptr_nonnull(receipt_find(&r, "macvlan"));
	ck_assert_ptr_nonnull(receipt_find(&r, "old-ipvlan"));
}
END_TEST

START_TEST(a_receipt_with_too_many_programs_is_refused)
{
	struct plan p = plan_of(NULL, "");
	struct receipt r = { .n = 0 }, out = { .changing = true };
	struct err e = { .msg = "" };

	for (size_t i = 0; i < RECEIPT_PROGRAMS; i++) {
		char name[8] = { 'x', (char)('a' + i / 26), (char)('a' + i % 26) };

		ck_assert_int_eq(receipt_add(&r, name, SUM_A, &e), 0);
	}
	plan_add_earlier(&p, &r);
	for (size_t i = 0; i < p.n; i++)
		p.item[i].action = PLAN_NEEDED;
	ck_assert_int_eq(plan_receipt(&p, &out, &e), -1);
	ck_assert_str_eq(e.msg, "more than 64 programs");
}
END_TEST

static int decide_foreign(void *arg, struct err *e)
{
	struct err why = { .msg = "" };

	if (plan_decide(arg, false, &why) == -1 && why.code == ERR_BUSY)
		return 0;
	return err_pass(e, &why);
}

START_TEST(failed_allocations_are_said)
{
	struct plan p = plan_of("macvlan,ipvlan", "");

	item_of(&p, "macvlan")->held = HELD_FOREIGN;
	ck_assert_str_eq(alloc_fail_each(decide_foreign, &p), "ok");
}
END_TEST

TEST_PROGRAM("plan", all_plugins_or_those_of_a_list, the_chained_plugin_has_no_prefix,
	     a_prefix_is_for_names_that_others_have, unknown_plugins_and_bad_prefixes_are_refused,
	     a_new_program_is_added_replaced_repaired_or_the_same, files_of_others_are_named,
	     no_prefix_helps_railhead_ipam, a_folder_is_never_replaced,
	     an_earlier_program_goes_when_nothing_needs_it,
	     what_an_interrupted_install_left_is_dropped_too, the_IPAM_comes_first_or_last,
	     versions_are_compared_by_number, the_receipt_has_dropped_programs_until_they_are_gone,
	     a_receipt_with_too_many_programs_is_refused, failed_allocations_are_said)

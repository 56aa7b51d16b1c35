// SPDX-License-Identifier: Apache-2.0
/* Shows on a real kernel that rules are added, listed and deleted, and that none but ours go. */
#include "lib/net/rule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

static struct rule_spec rule(const char *from, uint32_t table, uint32_t priority)
{
	struct rule_spec r = { .table = table, .priority = priority };

	ck_assert_int_eq(ip_parse_prefix(from, &r.from), 0);
	return r;
}

static int say(const struct rule_spec *r, void *arg)
{
	char *out = arg, text[PREFIX_STR_LEN];

	(void)sprintf(out + strlen(out), "%u: from %s%s%s lookup %u\n", r->priority,
		      ip_format_prefix(r->from, text), r->conditional ? " if" : "",
		      r->chosen ? " chosen" : "", r->table);
	return 0;
}

/* Those that every namespace has. */
#define USUAL_V4 "0: from 0.0.0.0/0 lookup 255\n"
#define MAIN_V4  "32766: from 0.0.0.0/0 lookup 254\n32767: from 0.0.0.0/0 lookup 253\n"
#define USUAL_V6 "0: from ::/0 lookup 255\n"
#define MAIN_V6  "32766: from ::/0 lookup 254\n"

static void lists(struct nl *nl, const char *expected)
{
	char text[2048] = "";
	struct err e = { 0 };

	ck_assert_msg(nl_rule_list(nl, say, text, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(text, expected);
}

START_TEST(rules_are_added_listed_and_deleted)
{
	auto_nl struct nl *nl = NULL;
	const struct rule_spec v4 = rule("10.1.0.5/32", 1000, 1000),
			       v6 = rule("fd00::5/128", 70000, 1000),
			       net = rule("10.1.0.0/16", 7, 900);
	struct err e = { 0 };

	net_enter_new();
	nl = net_socket();
	lists(nl, USUAL_V4 MAIN_V4 USUAL_V6 MAIN_V6);
	ck_assert_msg(nl_rule_add(nl, &v4, &e) == 0, "%s", e.msg);
	ck_assert_msg(nl_rule_add(nl, &v6, &e) == 0, "%s", e.msg);
	ck_assert_msg(nl_rule_add(nl, &net, &e) == 0, "%s", e.msg);
	lists(nl, USUAL_V4
	      "900: from 10.1.0.0/16 lookup 7\n1000: from 10.1.0.5/32 lookup 1000\n" MAIN_V4
		      USUAL_V6 "1000: from fd00::5/128 lookup 70000\n" MAIN_V6);
	ck_assert_int_eq(nl_rule_add(nl, &v4, &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_ptr_nonnull(strstr(e.msg, "add rule from 10.1.0.5/32 to table 1000"));
	ck_assert_int_eq(nl_rule_delete(nl, &v4, &e), 0);
	ck_assert_int_eq(nl_rule_delete(nl, &v4, &e), 0);
	ck_assert_int_eq(nl_rule_delete(nl, &v6, &e), 0);
	lists(nl, USUAL_V4 "900: from 10.1.0.0/16 lookup 7\n" MAIN_V4 USUAL_V6 MAIN_V6);
}
END_TEST

START_TEST(a_rule_of_IPv6_may_hold_for_senders_without_an_address)
{
	auto_nl struct nl *nl = NULL;
	struct rule_spec r = rule("fd00::5/128", 70000, 1000);
	struct err e = { 0 };

	net_enter_new();
	nl = net_socket();
	r.chosen = true;
	ck_assert_msg(nl_rule_add(nl, &r, &e) == 0, "%s", e.msg);
	lists(nl, USUAL_V4 MAIN_V4 USUAL_V6 "1000: from fd00::5/128 chosen lookup 70000\n" MAIN_V6);
	ck_assert_int_eq(nl_rule_delete(nl, &r, &e), 0);
	lists(nl, USUAL_V4 MAIN_V4 USUAL_V6 MAIN_V6);
}
END_TEST

START_TEST(a_rule_with_more_conditions_says_so)
{
	auto_nl struct nl *nl = NULL;

	net_enter_new();
	nl = net_socket();
	ck_assert_int_eq(system("ip rule add from 10.1.0.6 fwmark 1 lookup 8 priority 901 && "
				"ip rule add from 10.1.0.6 to 10.2.0.0/16 lookup 8 priority 902 && "
				"ip rule add from 10.1.0.6 dport 9999 lookup 8 priority 903 && "
				"ip rule add not from 10.1.0.6 lookup 8 priority 904"),
			 0);
	lists(nl, USUAL_V4 "901: from 10.1.0.6/32 if lookup 8\n902: from 10.1.0.6/32 if lookup 8\n"
			   "903: from 10.1.0.6/32 if lookup 8\n"
			   "904: from 10.1.0.6/32 if lookup 8\n" MAIN_V4 USUAL_V6 MAIN_V6);
}
END_TEST

static int list_again(void *arg, struct err *e)
{
	char text[2048] = "";

	return nl_rule_list(arg, say, text, e);
}

START_TEST(each_failing_allocation_is_an_error)
{
	auto_nl struct nl *nl = NULL;

	net_enter_new();
	nl = net_socket();
	ck_assert_str_eq(alloc_fail_each(list_again, nl), "ok");
}
END_TEST

TEST_PROGRAM("net/rule", rules_are_added_listed_and_deleted,
	     a_rule_of_IPv6_may_hold_for_senders_without_an_address,
	     a_rule_with_more_conditions_says_so, each_failing_allocation_is_an_error)

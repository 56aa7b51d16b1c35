/* SPDX-License-Identifier: Apache-2.0 */
/* finding_test.c: shows the order, the lines, the JSON and the exit status of findings. */
#include "lib/cli/finding.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static void add(struct findings *all, const char *id, enum finding_state s, const char *value)
{
	finding_set_value(findings_add(all, id, s), "%s", value);
}

static char *ids(const struct findings *all, char *buf)
{
	*buf = '\0';
	for (size_t i = 0; i < all->n; i++)
		(void)strcat(buf, all->item[i].id);
	return buf;
}

START_TEST(the_worst_is_fail_before_warn_before_unknown_before_ok)
{
	static const enum finding_state rising[] = { FINDING_OK, FINDING_UNKNOWN, FINDING_WARN,
						     FINDING_FAIL };
	struct findings none = { 0 };

	ck_assert_int_eq(findings_worst(&none), FINDING_OK);
	for (size_t i = 0; i < ARRAY_SIZE(rising); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(rising); k++) {
			auto_findings struct findings all = { 0 };

			add(&all, "a", rising[i], "x");
			add(&all, "b", rising[k], "x");
			ck_assert_int_eq(findings_worst(&all), rising[i > k ? i : k]);
			ck_assert_int_eq(finding_worse(rising[i], rising[k]),
					 rising[i > k ? i : k]);
		}
	}
}
END_TEST

START_TEST(sorting_puts_the_worst_first_and_keeps_the_order_else)
{
	auto_findings struct findings all = { 0 };
	struct err e = { 0 };
	char buf[16];

	ck_assert_int_eq(findings_sort(&all, &e), 0);
	add(&all, "a", FINDING_OK, "x");
	add(&all, "b", FINDING_FAIL, "x");
	add(&all, "c", FINDING_UNKNOWN, "x");
	add(&all, "d", FINDING_WARN, "x");
	add(&all, "e", FINDING_FAIL, "x");
	add(&all, "f", FINDING_OK, "x");
	ck_assert_int_eq(findings_sort(&all, &e), 0);
	ck_assert_str_eq(ids(&all, buf), "bedcaf");
	add(&all, "g", FINDING_OK, "x"); /* the sorted array grows, too */
	add(&all, "h", FINDING_OK, "x");
	add(&all, "i", FINDING_OK, "x");
	ck_assert_str_eq(ids(&all, buf), "bedcafghi");
	ck_assert_uint_eq(findings_count(&all, FINDING_OK), 5);
	ck_assert_uint_eq(findings_count(&all, FINDING_UNKNOWN), 1);
}
END_TEST

static char *printed(const struct findings *all)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	const struct out o = { .to = to };

	ck_assert_ptr_nonnull(to);
	findings_print(&o, all, 8, FINDINGS_OK | FINDINGS_EACH);
	findings_print_counts(&o, all);
	(void)fclose(to);
	return text;
}

START_TEST(lines_have_evidence_reason_and_remedy)
{
	auto_findings struct findings all = { 0 };
	struct finding *f = findings_add(&all, "mtu", FINDING_WARN);

	finding_set_subject(f, "mlx5_%d:1", 0);
	finding_set_value(f, "%d", 1500);
	finding_set_path(f, "/sys/class/net/%s/mtu", "eth0");
	finding_set_reason(f, "RDMA is slow");
	finding_set_remedy(f, "set %s", "9000");
	f = findings_add(&all, "acs", FINDING_OK);
	finding_set_path(f, "/sys/x");
	f = findings_add(&all, "iommu", FINDING_UNKNOWN);
	finding_set_subject(f, "GPU 0");

	auto_free char *got = printed(&all);
	ck_assert_str_eq(got, "warn     mtu       mlx5_0:1: 1500 (/sys/class/net/eth0/mtu)\n"
			      "                   so: RDMA is slow\n"
			      "                   do: set 9000\n"
			      "ok       acs       /sys/x\n"
			      "unknown  iommu     GPU 0: -\n"
			      "1 ok, 1 warned, 0 failed, 1 unknown\n");
}
END_TEST

START_TEST(json_has_all_keys)
{
	auto_findings struct findings all = { 0 };

	add(&all, "gid", FINDING_WARN, "none");
	all.item[0].code = "gid-none";
	finding_set_reason(&all.item[0], "so");
	finding_set_remedy(&all.item[0], "do");
	finding_set_subject(findings_add(&all, "mtu", FINDING_OK), "net1");

	auto_json struct json *o = findings_json(&all, "findings");
	auto_free char *got = o ? json_print(o, false) : NULL;
	ck_assert_str_eq(
		got, "{\"version\":1,\"state\":\"warn\",\"findings\":["
		     "{\"check\":\"gid\",\"code\":\"gid-none\",\"state\":\"warn\","
		     "\"subject\":null,\"value\":\"none\",\"consequence\":\"so\","
		     "\"remedy\":\"do\"},{\"check\":\"mtu\",\"state\":\"ok\",\"subject\":\"net1\","
		     "\"value\":null,\"consequence\":null,\"remedy\":null}]}");
}
END_TEST

START_TEST(a_text_may_be_set_again_and_is_cut_at_the_limit)
{
	auto_findings struct findings all = { 0 };
	struct finding *f = findings_add(&all, "x", FINDING_OK);

	finding_set_value(f, "first");
	finding_set_value(f, "%02000d", 7);
	ck_assert_uint_eq(strlen(f->value), FINDING_TEXT_LEN - 1);
}
END_TEST

static int find_some(void *arg, struct err *e)
{
	auto_findings struct findings all = { 0 };

	(void)arg;
	for (int i = 0; i < 5; i++) {
		struct finding *f = findings_add(&all, "x", FINDING_WARN);

		finding_set_subject(f, "%d", i);
		finding_set_value(f, "%d", i);
		finding_set_path(f, "%d", i);
		finding_set_reason(f, "%d", i);
		finding_set_remedy(f, "%d", i);
	}
	return findings_sort(&all, e) || findings_check(&all, e) ? -1 : 0;
}

START_TEST(each_allocation_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(find_some, NULL), "ok");
}
END_TEST

TEST_PROGRAM("finding", the_worst_is_fail_before_warn_before_unknown_before_ok,
	     sorting_puts_the_worst_first_and_keeps_the_order_else,
	     lines_have_evidence_reason_and_remedy, json_has_all_keys,
	     a_text_may_be_set_again_and_is_cut_at_the_limit, each_allocation_may_fail)

// SPDX-License-Identifier: Apache-2.0
/* Each difference that matters to a job is found, and nothing else is. */
#include "diag/diff.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

/* Two GPUs, two HCAs; each GPU has its own HCA. */
static const char machine[] =
	"{\"version\": 1, \"source\": {\"vm\": false}, \"advice\": null, \"gpus\": ["
	"{\"index\": 0, \"bdf\": \"0000:01:00.0\", \"numa\": 0, \"vendor\": \"nvidia\", "
	"\"nearest\": [\"mlx5_0\"], \"share\": [\"mlx5_0\"], \"hcas\": ["
	"{\"name\": \"mlx5_0\", \"class\": \"PIX\", \"switches\": 1, \"bandwidth_gbps\": 400},"
	"{\"name\": \"mlx5_1\", \"class\": \"SYS\", \"switches\": 2, \"bandwidth_gbps\": 400}],"
	"\"nccl\": {\"local\": [\"mlx5_0\"], \"class\": \"PIX\", \"gdr\": true, "
	"\"bandwidth_gBps\": 48}},"
	"{\"index\": 1, \"bdf\": \"0000:81:00.0\", \"numa\": 1, \"vendor\": \"nvidia\", "
	"\"nearest\": [\"mlx5_1\"], \"share\": [\"mlx5_1\"], \"hcas\": ["
	"{\"name\": \"mlx5_1\", \"class\": \"PIX\", \"switches\": 1, \"bandwidth_gbps\": 400}],"
	"\"nccl\": {\"local\": [\"mlx5_1\"], \"class\": \"PIX\", \"gdr\": true}}],"
	"\"hcas\": ["
	"{\"name\": \"mlx5_0\", \"bdf\": \"0000:02:00.0\", \"kind\": \"pf\", \"numa\": 0, "
	"\"role\": \"compute\", \"ports\": [{\"port\": 1, \"active\": true, "
	"\"layer\": \"Ethernet\", \"rate_mbps\": 400000, \"ifname\": \"eth0\"}]},"
	"{\"name\": \"mlx5_1\", \"bdf\": \"0000:82:00.0\", \"kind\": \"pf\", \"numa\": 1, "
	"\"role\": \"compute\", \"ports\": [{\"port\": 1, \"active\": true, "
	"\"layer\": \"Ethernet\", \"rate_mbps\": 400000, \"ifname\": \"eth1\"}]}],"
	"\"findings\": [{\"check\": \"acs\", \"state\": \"ok\", \"gpu\": \"0000:01:00.0\", "
	"\"hca\": \"mlx5_0\"},"
	"{\"check\": \"acs\", \"state\": \"warn\", \"gpu\": \"0000:81:00.0\", "
	"\"hca\": \"mlx5_1\", \"consequence\": \"slow\"},"
	"{\"check\": \"dmabuf\", \"state\": \"ok\"}]}";

/* ---- documents with a change ---- */

#define TEXT_LEN 8192

/* The machine, with the n-th place of `old` (from 0) replaced. Static text. */
static const char *with(const char *from, const char *old, unsigned n, const char *new)
{
	static char text[2][TEXT_LEN];
	static unsigned turn;
	char *to = text[turn++ % 2];
	const char *at = strstr(from, old);

	for (; n; n--)
		at = strstr(at + 1, old);
	ck_assert_ptr_nonnull(at);
	(void)snprintf(to, TEXT_LEN, "%.*s%s%s", (int)(at - from), from, new, at + strlen(old));
	return to;
}

struct both {
	struct json *expected, *found;
	struct findings all;
};

static void both_clear(struct both *b)
{
	findings_clear(&b->all);
	json_free(b->expected);
	json_free(b->found);
}
#define auto_both auto_clean(both_clear)

static enum topo_diff_what what = TOPO_DIFF_ALL;

static int compare(struct both *b, const char *expected, const char *found)
{
	struct err e;

	ck_assert_int_eq(json_parse(expected, strlen(expected), "expected", &b->expected, &e), 0);
	ck_assert_int_eq(json_parse(found, strlen(found), "found", &b->found, &e), 0);
	return topo_diff(b->expected, b->found, what, &b->all, &e);
}

/* One line for each finding: "state id subject: value\n". Static text. */
static const char *differences(const char *expected, const char *found)
{
	static char text[TEXT_LEN];
	auto_both struct both b = { 0 };
	size_t len = 0;

	*text = '\0';
	ck_assert_int_eq(compare(&b, expected, found), 0);
	for (size_t i = 0; i < b.all.n; i++) {
		const struct finding *f = &b.all.item[i];

		ck_assert(f->reason && f->remedy);
		len += (size_t)snprintf(text + len, TEXT_LEN - len, "%s %s %s: %s\n",
					finding_state_name(f->state), f->id,
					f->subject ? f->subject : "-", f->value);
	}
	return text;
}

START_TEST(equal_machines_have_no_difference)
{
	ck_assert_str_eq(differences(machine, machine), "");
}
END_TEST

/* ---- one change ---- */

static const struct {
	const char *old;
	unsigned n;
	const char *new, *line;
} changes[] = {
	{ "\"vm\": false", 0, "\"vm\": true",
	  "fail vm -: virtual machine: expected false, found true\n" },
	{ "\"vendor\": \"nvidia\"", 1, "\"vendor\": \"amd\"",
	  "fail device GPU 1: vendor: expected nvidia, found amd\n" },
	{ "\"numa\": 0", 0, "\"numa\": 1", "warn numa GPU 0: NUMA node: expected 0, found 1\n" },
	{ "\"class\": \"PIX\", \"switches\"", 0, "\"class\": \"PHB\", \"switches\"",
	  "fail path GPU 0 mlx5_0: class: expected PIX, found PHB\n" },
	{ "\"switches\": 1", 1, "\"switches\": 2",
	  "fail path GPU 1 mlx5_1: switch chips: expected 1, found 2\n" },
	{ "\"bandwidth_gbps\": 400", 0, "\"bandwidth_gbps\": 200",
	  "fail path GPU 0 mlx5_0: Gbit/s of the narrowest link: expected 400, found 200\n" },
	/* a path that no job uses */
	{ "\"class\": \"SYS\"", 0, "\"class\": \"NODE\"", "" },
	{ "\"gdr\": true", 1, "\"gdr\": false",
	  "fail gdr GPU 1: GPUDirect RDMA of NCCL: expected true, found false\n" },
	{ "\"class\": \"PIX\", \"gdr\"", 0, "\"class\": \"PHB\", \"gdr\"",
	  "fail nccl GPU 0: NCCL's path to its HCA: expected PIX, found PHB\n" },
	{ "\"local\": [\"mlx5_0\"]", 0, "\"local\": [\"mlx5_0\", \"mlx5_1\"]",
	  "fail nccl GPU 0: HCAs that NCCL will use: expected mlx5_0, found mlx5_0,mlx5_1\n" },
	{ "\"share\": [\"mlx5_1\"]", 0, "\"share\": []",
	  "fail nearest GPU 1: HCAs that it should use: expected mlx5_1, found none\n" },
	{ "\"nearest\": [\"mlx5_1\"]", 0, "\"nearest\": [\"mlx5_0\"]",
	  "fail nearest GPU 1: nearest HCAs: expected mlx5_1, found mlx5_0\n" },
	{ "\"bandwidth_gBps\": 48", 0, "\"bandwidth_gBps\": 24",
	  "fail nccl GPU 0: GB/s of that path: expected 48, found 24\n" },
	{ "\"index\": 1", 0, "\"differs\": {\"setting\": \"NCCL_PXN_DISABLE=1\"}, \"index\": 1",
	  "warn setting GPU 1: setting of NCCL: expected none, found NCCL_PXN_DISABLE=1\n" },
	{ "\"advice\": null", 0, "\"advice\": {\"setting\": \"NCCL_NET_GDR_LEVEL=PHB\"}",
	  "warn setting -: setting of NCCL for all GPUs: expected none, found "
	  "NCCL_NET_GDR_LEVEL=PHB\n" },
	{ "\"kind\": \"pf\"", 0, "\"kind\": \"bond\"",
	  "fail device mlx5_0: kind: expected pf, found bond\n" },
	{ "\"role\": \"compute\"", 1, "\"role\": \"storage\"",
	  "warn role mlx5_1: role: expected compute, found storage\n" },
	{ "\"active\": true", 0, "\"active\": false",
	  "fail port mlx5_0:1: active: expected true, found false\n" },
	{ "\"layer\": \"Ethernet\"", 0, "\"layer\": \"InfiniBand\"",
	  "fail port mlx5_0:1: link layer: expected Ethernet, found InfiniBand\n" },
	{ "\"rate_mbps\": 400000", 1, "\"rate_mbps\": 200000",
	  "fail port mlx5_1:1: Mbit/s: expected 400000, found 200000\n" },
	{ "\"ifname\": \"eth1\"", 0, "\"ifname\": \"eth7\"",
	  "warn name mlx5_1:1: interface: expected eth1, found eth7\n" },
	{ "\"port\": 1", 0, "\"port\": 2", "fail port mlx5_0:1: port: expected one, found none\n" },
	{ "\"state\": \"ok\"", 0, "\"state\": \"fail\"",
	  "fail acs GPU 0 mlx5_0: expected ok, found fail\n" },
	{ "\"state\": \"warn\"", 0, "\"state\": \"ok\"",
	  "warn acs GPU 1 mlx5_1: expected warn, found ok\n" },
	{ "\"dmabuf\", \"state\": \"ok\"", 0, "\"dmabuf\", \"state\": \"warn\"",
	  "warn dmabuf -: expected ok, found warn\n" },
	{ "\"dmabuf\", \"state\": \"ok\"", 0, "\"dmabuf\", \"state\": \"unknown\"",
	  "unknown dmabuf -: expected ok, found unknown\n" },
	/* one machine does not know */
	{ "\"active\": true", 0, "\"active\": null", "unknown port mlx5_0:1: active\n" },
	{ "\"gdr\": true", 0, "\"gdr\": null", "unknown gdr GPU 0: GPUDirect RDMA of NCCL\n" },
	{ "\"vm\": false", 0, "\"vm\": null", "unknown vm -: virtual machine\n" },
	/* values that railctl does not write */
	{ "\"share\": [\"mlx5_1\"]", 0, "\"share\": [7]",
	  "fail nearest GPU 1: HCAs that it should use: expected mlx5_1, found \n" },
	{ "\"state\": \"ok\"", 0, "\"state\": \"odd\"", "" },
	/* findings about one device, and two about one subject, of which the worse counts */
	{ "\"gpu\": \"0000:81:00.0\", \"hca\": \"mlx5_1\", \"consequence\"", 0, "\"consequence\"",
	  "" },
	{ "{\"check\": \"dmabuf\", \"state\": \"ok\"}", 0,
	  "{\"check\": \"dmabuf\", \"state\": \"fail\", \"value\": \"off\"}, "
	  "{\"check\": \"dmabuf\", \"state\": \"warn\"}",
	  "fail dmabuf -: expected ok, found fail: off\n" },
};

START_TEST(a_change_is_one_difference)
{
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		const char *found = with(machine, changes[i].old, changes[i].n, changes[i].new);

		ck_assert_str_eq(differences(machine, found), changes[i].line);
	}
}
END_TEST

START_TEST(the_first_machine_may_be_the_one_that_does_not_know)
{
	auto_both struct both b = { 0 };

	ck_assert_int_eq(
		compare(&b, with(machine, "\"active\": true", 0, "\"active\": null"), machine), 0);
	ck_assert_uint_eq(b.all.n, 1);
	ck_assert_str_eq(b.all.item[0].value, "active");
	ck_assert_str_eq(b.all.item[0].reason, "the first machine does not have this value");
}
END_TEST

START_TEST(a_finding_about_an_hca_alone)
{
	static const char *const old = "{\"check\": \"dmabuf\", \"state\": \"ok\"}";
	const char *ok =
		with(machine, old, 0, "{\"check\": \"x\", \"state\": \"ok\", \"hca\": \"mlx5_1\"}");
	const char *bad = with(machine, old, 0,
			       "{\"check\": \"x\", \"state\": \"fail\", \"hca\": \"mlx5_1\"}");

	ck_assert_str_eq(differences(ok, bad), "fail x mlx5_1: expected ok, found fail\n");
}
END_TEST

/* A path to an HCA that the file does not have, a list with a number, and a port without a number.
 */
START_TEST(a_machine_that_railctl_did_not_write_is_equal_to_itself)
{
	static const char *const odd[][2] = {
		{ "\"nearest\": [\"mlx5_0\"]", "\"nearest\": [\"mlx5_9\", 7]" },
		{ "\"share\": [\"mlx5_0\"]", "\"share\": [7, 8]" },
		{ "\"port\": 1, ", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		const char *text = with(machine, odd[i][0], 0, odd[i][1]);

		ck_assert_str_eq(differences(text, text), "");
	}
}
END_TEST

/* ---- devices that belong together ---- */

START_TEST(a_missing_hca_is_a_difference_and_so_is_what_follows)
{
	const char *at = strstr(machine, ",{\"name\": \"mlx5_1\", \"bdf\"");
	char cut[TEXT_LEN];

	(void)snprintf(cut, sizeof(cut), "%.*s%s", (int)(at - machine), machine,
		       strstr(at, "],\"findings\""));
	ck_assert_str_eq(differences(machine, cut),
			 "fail hca mlx5_1 0000:82:00.0: expected, but not found\n");
	ck_assert_str_eq(differences(cut, machine),
			 "warn hca mlx5_1 0000:82:00.0: found, but not expected\n");
}
END_TEST

START_TEST(a_renamed_hca_is_one_difference)
{
	static char text[TEXT_LEN];
	const char *from = machine, *at;
	size_t len = 0;

	for (; (at = strstr(from, "mlx5_1")); from = at + 6)
		len += (size_t)snprintf(text + len, TEXT_LEN - len, "%.*sib1", (int)(at - from),
					from);
	(void)snprintf(text + len, TEXT_LEN - len, "%s", from);
	ck_assert_str_eq(differences(machine, text),
			 "warn name mlx5_1: name: expected mlx5_1, found ib1\n");
}
END_TEST

START_TEST(a_moved_device_is_found_by_its_name)
{
	const char *found =
		with(machine, "\"bdf\": \"0000:82:00.0\"", 0, "\"bdf\": \"0000:92:00.0\"");

	ck_assert_str_eq(differences(machine, found),
			 "warn address mlx5_1: expected 0000:82:00.0, found 0000:92:00.0\n");
}
END_TEST

START_TEST(machines_without_a_common_address_are_compared_by_order)
{
	static char text[TEXT_LEN];

	(void)snprintf(text, sizeof(text), "%s", machine);
	for (char *at = text; (at = strstr(at, "\"0000:")); at++)
		at[1] = '1';
	ck_assert_str_eq(differences(machine, text),
			 "warn address -: expected the same PCI addresses, found none\n");
}
END_TEST

START_TEST(vfs_of_a_visible_pf_do_not_count)
{
	const char *vf = ",{\"name\": \"mlx5_9\", \"bdf\": \"0000:02:00.1\", \"kind\": \"vf\", "
			 "\"pf\": \"0000:02:00.0\", \"ports\": []}],\"findings\"";
	const char *found = with(machine, "],\"findings\"", 0, vf);

	ck_assert_str_eq(differences(machine, found), "");
	found = with(found, "\"pf\": \"0000:02:00.0\"", 0, "\"pf\": null");
	ck_assert_str_eq(differences(machine, found),
			 "warn hca mlx5_9 0000:02:00.1: found, but not expected\n");
	found = with(found, "\"kind\": \"vf\"", 0, "\"kind\": \"software\"");
	ck_assert_str_eq(differences(machine, found), "");
}
END_TEST

START_TEST(several_findings_of_one_subject_count_as_the_worst)
{
	const char *more = "\"findings\": [{\"check\": \"dmabuf\", \"state\": \"fail\", "
			   "\"value\": \"v\"},";
	const char *found = with(machine, "\"findings\": [", 0, more);

	ck_assert_str_eq(differences(machine, found),
			 "fail dmabuf -: expected ok, found fail: v\n");
	ck_assert_str_eq(differences(found, found), "");
	found = with(machine, "\"state\": \"ok\"}]", 0,
		     "\"state\": \"ok\"}, {\"check\": \"dmabuf\", \"state\": \"fail\"}]");
	ck_assert_str_eq(differences(machine, found), "fail dmabuf -: expected ok, found fail\n");
}
END_TEST

/* What one machine does not know has its reason, whichever machine it is. */
START_TEST(an_unknown_finding_says_why)
{
	const char *acs = "\"state\": \"warn\", \"gpu\": \"0000:81:00.0\", "
			  "\"hca\": \"mlx5_1\", \"consequence\": \"slow\"";
	const char *unread = "\"state\": \"unknown\", \"gpu\": \"0000:81:00.0\", \"hca\": "
			     "\"mlx5_1\", \"consequence\": \"unread\", \"remedy\": \"be root\"";
	const char *other = with(machine, acs, 0, unread);
	auto_both struct both first = { 0 }, second = { 0 };

	ck_assert_int_eq(compare(&first, other, machine), 0);
	ck_assert_str_eq(first.all.item[0].reason, "on the expected machine: unread");
	ck_assert_str_eq(first.all.item[0].remedy, "be root");
	ck_assert_int_eq(compare(&second, machine, other), 0);
	ck_assert_str_eq(second.all.item[0].reason, "unread");
	ck_assert_str_eq(second.all.item[0].remedy, "be root");
}
END_TEST

#define HEAD   "{\"version\": 1, \"gpus\": [], \"hcas\": ["
#define COMMON "{\"name\": \"mlx5_1\", \"bdf\": \"0000:02:00.0\"}"

START_TEST(an_hca_that_may_not_be_used_is_not_expected)
{
	static const char two[] = HEAD COMMON ", {\"name\": \"mlx5_0\", \"considered\": true}]}";

	ck_assert_str_eq(differences(two, HEAD COMMON "]}"),
			 "fail hca mlx5_0: expected, but not found\n");
	ck_assert_str_eq(differences(with(two, "true", 0, "false"), HEAD COMMON "]}"), "");
}
END_TEST

/* As in a topology file of a card with two ports. */
START_TEST(of_two_hcas_at_one_address_the_name_decides)
{
	static const char two[] = HEAD COMMON ", {\"name\": \"mlx5_0\", \"bdf\": "
					      "\"0000:02:00.0\"}]}";

	ck_assert_str_eq(differences(two, HEAD COMMON "]}"),
			 "fail hca mlx5_0 0000:02:00.0: expected, but not found\n");
}
END_TEST

/* A file that NCCL wrote has no roles, ports and checks. */
START_TEST(only_nccl_counts_for_its_own_file)
{
	const char *roles = with(machine, "\"role\": \"compute\"", 0, "\"role\": \"storage\"");
	const char *down = with(roles, "\"active\": true", 0, "\"active\": false");
	const char *nodes = with(down, "\"numa\": 0", 0, "\"numa\": 1");
	auto_both struct both same = { 0 }, other = { 0 };

	what = TOPO_DIFF_NCCL;
	ck_assert_int_eq(compare(&same, machine, nodes), 0);
	ck_assert_uint_eq(same.all.n, 0);
	ck_assert_int_eq(compare(&other, machine, with(nodes, "true}}]", 0, "false}}]")), 0);
	ck_assert_uint_eq(other.all.n, 1);
	ck_assert_str_eq(other.all.item[0].id, "gdr");
	what = TOPO_DIFF_ALL;
}
END_TEST

#define CARD(name) "{\"name\": \"" name "\", \"bdf\": \"0000:02:00.0\"}"

/* NCCL 2.21 to 2.23 writes two ports as one net. On a machine no device has such a name. */
START_TEST(a_port_is_found_in_the_fused_hca_of_nccls_file)
{
	static const char two[] = HEAD CARD("mlx5_0") "," CARD("mlx5_1") "]}";
	auto_both struct both part = { 0 }, other = { 0 }, longer = { 0 };

	what = TOPO_DIFF_NCCL;
	ck_assert_int_eq(compare(&part, two, HEAD CARD("mlx5_0+mlx5_1") "]}"), 0);
	ck_assert_uint_eq(part.all.n, 0);
	ck_assert_int_eq(compare(&other, two, HEAD CARD("mlx5_0+mlx5_2") "]}"), 0);
	ck_assert_uint_eq(other.all.n, 1);
	ck_assert_int_eq(compare(&longer, two, HEAD CARD("mlx5_0+mlx5_10") "]}"), 0);
	ck_assert_uint_eq(longer.all.n, 1);
	what = TOPO_DIFF_ALL;
	ck_assert_ptr_nonnull(strstr(differences(two, HEAD CARD("mlx5_0+mlx5_1") "]}"),
				     "fail hca mlx5_1 0000:02:00.0: expected, but not found\n"));
}
END_TEST

/* ---- documents that are none ---- */

static const char *const bad[] = {
	"[]",
	"{\"gpus\": [], \"hcas\": []}",
	"{\"version\": 2, \"gpus\": [], \"hcas\": []}",
	"{\"version\": 1, \"gpus\": {}, \"hcas\": []}",
	"{\"version\": 1, \"gpus\": []}",
};

START_TEST(another_document_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_both struct both first = { 0 }, second = { 0 };

		ck_assert_int_eq(compare(&first, bad[i], machine), -1);
		ck_assert_int_eq(compare(&second, machine, bad[i]), -1);
	}
}
END_TEST

START_TEST(too_many_devices_are_refused)
{
	auto_both struct both b = { 0 };
	struct json *list;
	struct err e;

	ck_assert_int_eq(compare(&b, machine, machine), 0);
	list = json_get_mut(b.found, "gpus");
	for (int i = 2; i < TOPO_DIFF_DEVICES_MAX; i++)
		ck_assert_ptr_nonnull(json_push_object(list));
	ck_assert_int_eq(topo_diff(b.expected, b.found, TOPO_DIFF_ALL, &b.all, &e), 0);
	ck_assert_ptr_nonnull(json_push_object(list));
	ck_assert_int_eq(topo_diff(b.expected, b.found, TOPO_DIFF_ALL, &b.all, &e), -1);
	ck_assert_int_eq(e.code, ERR_EXHAUSTED);
}
END_TEST

static int diff_again(void *arg, struct err *e)
{
	const struct both *b = arg;
	auto_findings struct findings all = { 0 };

	return topo_diff(b->expected, b->found, TOPO_DIFF_ALL, &all, e);
}

START_TEST(each_failed_allocation_is_an_error)
{
	auto_both struct both b = { 0 };
	const char *found = with(machine, "\"active\": true", 0, "\"active\": false");

	ck_assert_int_eq(compare(&b, machine, with(found, "\"ok\"", 0, "\"warn\"")), 0);
	ck_assert_str_eq(alloc_fail_each(diff_again, &b), "ok");
}
END_TEST

TEST_PROGRAM("diff", equal_machines_have_no_difference, a_change_is_one_difference,
	     the_first_machine_may_be_the_one_that_does_not_know, a_finding_about_an_hca_alone,
	     a_machine_that_railctl_did_not_write_is_equal_to_itself,
	     a_missing_hca_is_a_difference_and_so_is_what_follows, a_renamed_hca_is_one_difference,
	     a_moved_device_is_found_by_its_name, of_two_hcas_at_one_address_the_name_decides,
	     an_hca_that_may_not_be_used_is_not_expected,
	     machines_without_a_common_address_are_compared_by_order,
	     vfs_of_a_visible_pf_do_not_count, several_findings_of_one_subject_count_as_the_worst,
	     an_unknown_finding_says_why, only_nccl_counts_for_its_own_file,
	     a_port_is_found_in_the_fused_hca_of_nccls_file, another_document_is_refused,
	     too_many_devices_are_refused, each_failed_allocation_is_an_error)

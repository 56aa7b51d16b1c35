/* SPDX-License-Identifier: Apache-2.0 */
/* rail_list_test.c: the file of the operator, and what the machine says without it. */
#include "topo/read/rail_list.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "lib/testing/typos.h"
#include "topo/testing/tree.h"

static const char *shown(const struct rail_list *l)
{
	static char text[512];
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < l->n; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u %s", i ? ", " : "",
					 l->rail[i].number, l->rail[i].ifname);
	return text;
}

static const char *parsed(const char *text, struct err *e)
{
	struct rail_list l;

	return rail_list_parse(text, strlen(text), NULL, &l, e) ? e->msg : shown(&l);
}

START_TEST(the_file_names_interfaces)
{
	struct rail_list l;
	struct err e;
	const char text[] = "{\"rails\":[{\"rail\":3,\"interface\":\"eth3\"},{\"rail\":0,"
			    "\"interface\":\"eth0\"},{\"rail\":63,\"interface\":\"b\"}]}";

	ck_assert_str_eq(parsed(text, &e), "0 eth0, 3 eth3, 63 b");
	ck_assert_str_eq(parsed("{\"rails\":[]}", &e), "");
	ck_assert_int_eq(rail_list_parse(text, strlen(text), NULL, &l, &e), 0);
	ck_assert_str_eq(rail_list_find(&l, 3)->ifname, "eth3");
	ck_assert_ptr_null(rail_list_find(&l, 1));
	ck_assert_str_eq(l.source, "rails.json");
}
END_TEST

/* Without a look at /sys no card has an interface. */
START_TEST(a_card_without_an_interface_is_not_forgotten)
{
	struct rail_list l;
	struct err e;
	const char text[] = "{\"rails\":[{\"rail\":3,\"pci\":\"3b:00.0\"},{\"rail\":0,"
			    "\"interface\":\"eth0\"}]}";

	ck_assert_int_eq(rail_list_parse(text, strlen(text), NULL, &l, &e), 0);
	ck_assert_str_eq(shown(&l), "0 eth0");
	ck_assert_ptr_null(rail_list_find(&l, 3));
	ck_assert_ptr_null(rail_list_find_dead(&l, 0));
	ck_assert_uint_eq(l.n_dead, 1);
	ck_assert_str_eq(rail_list_find_dead(&l, 3)->pci, "0000:3b:00.0");
	ck_assert_ptr_nonnull(
		strstr(parsed("{\"rails\":[{\"rail\":3,\"pci\":\"3b:00.0\"},{\"rail\":3,"
			      "\"interface\":\"eth0\"}]}",
			      &e),
		       "rails[1].rail: 3 is given twice"));
}
END_TEST

START_TEST(a_wrong_file_names_key_and_value)
{
	static const struct {
		const char *text, *word;
	} wrong[] = {
		{ "[]", "must be an object" },
		{ "{}", "rails" },
		{ "{\"rails\":1}", "rails" },
		{ "{\"rails\":[],\"more\":1}", "more" },
		{ "{\"rails\":[[]]}", "rails[0]: must be an object" },
		{ "{\"rails\":[{\"rail\":0,\"interface\":\"a\",\"x\":1}]}", "x" },
		{ "{\"rails\":[{\"rail\":64,\"interface\":\"a\"}]}", "rails[0].rail" },
		{ "{\"rails\":[{\"rail\":0}]}", "rails[0]: give either" },
		{ "{\"rails\":[{\"rail\":0,\"interface\":\"a\",\"pci\":\"0000:01:00.0\"}]}",
		  "rails[0]: give either" },
		{ "{\"rails\":[{\"rail\":0,\"interface\":\"\"}]}", "rails[0].interface: \"\"" },
		{ "{\"rails\":[{\"rail\":0,\"pci\":\"x\"}]}", "rails[0].pci: \"x\"" },
		{ "{\"rails\":[{\"rail\":7,\"interface\":\"a\"},{\"rail\":7,\"interface\":\"b\"}]}",
		  "rails[1].rail: 7 is given twice" },
		{ "{\"rails\":[{\"rail\":7,\"interface\":\"a\"},{\"rail\":8,\"interface\":\"a\"}]}",
		  "rails 7 and 8 are both interface a" },
		{ "{", "the file: byte 1" },
	};
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		ck_assert_msg(strstr(parsed(wrong[i].text, &e), wrong[i].word) != NULL &&
				      !strstr(e.msg, RAIL_LIST_FILE),
			      "%s: %s", wrong[i].text, e.msg);
	(void)parsed("{\"rails\":[{\"rail\":0,\"interface\":\"0000:01:00.0\"}]}", &e);
	ck_assert_str_eq(e.detail, "its key is \"pci\"");
}
END_TEST

START_TEST(too_many_rails)
{
	char text[64 * 64] = "{\"rails\":[";
	struct err e;

	for (int i = 0; i <= RAIL_LIST_MAX; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       "%s{\"rail\":%d,\"interface\":\"e%d\"}", i ? "," : "", i, i);
	(void)strcat(text, "]}"); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy) */
	ck_assert_ptr_nonnull(strstr(parsed(text, &e), "more than 32 rails"));
}
END_TEST

static const char *dir;

static struct ctx machine(const char *name)
{
	static char sys[160], proc[160], etc[160];

	dir = tree_made(name);

	(void)snprintf(sys, sizeof(sys), "%s/sys", dir);
	(void)snprintf(proc, sizeof(proc), "%s/proc", dir);
	(void)snprintf(etc, sizeof(etc), "%s/etc", dir);
	return (struct ctx){ .sysfs = sys, .proc = proc, .etc_dir = etc };
}

static const char *loaded(const struct ctx *c, struct rail_list *l)
{
	struct err e = { .msg = "" };

	ck_assert_msg(rail_list_load(c, l, &e) == 0, "%s", e.msg);
	return shown(l);
}

START_TEST(the_machine_says_it_without_a_file)
{
	struct ctx c = machine("dgx-h100");
	struct rail_list l;

	ck_assert_str_eq(loaded(&c, &l), "0 rail0, 1 rail1, 2 rail2, 3 rail3, 4 rail4, 5 rail5, 6 "
					 "rail6, 7 rail7");
	ck_assert_str_eq(l.source, "topology");
}
END_TEST

/* Ports of NVSwitches, sub-devices of XDR cards, and InfiniBand for storage on the nodes of GPUs.
 */
START_TEST(what_looks_like_a_rail_is_none)
{
	static const char *const rails[][2] = {
		{ "hgx-b200-ib", "0 rail0, 1 rail1, 2 rail2, 3 rail3, 4 rail4, 5 rail5, 6 rail6, 7 "
				 "rail7" },
		{ "gb300-xdr", "0 ibp3s0, 1 ibp3s1, 2 ibp3s2, 3 ibp3s3" },
		{ "gb200-ib-storage", "0 ibp3s0, 1 ibp3s1, 2 ibp3s2, 3 ibp3s3" },
	};
	struct rail_list l;

	for (size_t i = 0; i < ARRAY_SIZE(rails); i++) {
		struct ctx c = machine(rails[i][0]);

		ck_assert_str_eq(loaded(&c, &l), rails[i][1]);
	}
}
END_TEST

/* A port that is DOWN shows the rate of one lane: its card stays one of the fastest. */
START_TEST(a_cable_that_is_out_changes_no_number)
{
	struct ctx c = machine("gb200-ib-storage");
	static const char *const port =
		"sys/devices/pci0000:00/0000:00:00.0/0000:03:00.0/infiniband/mlx5_0/ports/1";
	char path[160];
	struct rail_list l;

	(void)snprintf(path, sizeof(path), "%s/state", port);
	tree_put(dir, path, "1: DOWN\n");
	(void)snprintf(path, sizeof(path), "%s/rate", port);
	tree_put(dir, path, "10 Gb/sec (4X)\n");
	ck_assert_str_eq(loaded(&c, &l), "0 ibp3s0, 1 ibp3s1, 2 ibp3s2, 3 ibp3s3");
}
END_TEST

/* The rails near these GPUs, or the error. */
static const char *near(const struct ctx *c, const char (*pci)[PCI_STR_LEN], size_t n,
			struct rail_list *all)
{
	static struct err e;
	struct rail_list l;

	return rail_list_load_near(c, (struct rail_gpus){ pci, n }, all, &l, &e) ? e.msg
										 : shown(&l);
}

START_TEST(the_rails_near_a_GPU)
{
	static const char two[][PCI_STR_LEN] = { "0000:19:00.0", "0000:2a:00.0" },
			  none[][PCI_STR_LEN] = { "0000:19:00.1" };
	struct ctx c = machine("dgx-h100");
	struct rail_list all;

	ck_assert_str_eq(near(&c, two, 2, &all), "0 rail0, 1 rail1");
	ck_assert_uint_eq(all.n, 8);
	ck_assert_str_eq(all.source, "topology");
	ck_assert_str_eq(near(&c, none, 1, &all), "this machine has no GPU at 0000:19:00.1");
}
END_TEST

/* An ADD waits for it. */
START_TEST(the_machine_is_read_once)
{
	static const char gpu[][PCI_STR_LEN] = { "0000:19:00.0" };
	struct ctx c = machine("dgx-h100");
	struct rail_list all;

	alloc_fail_begin(0);
	(void)loaded(&c, &all);
	const unsigned once = alloc_fail_end().calls;
	alloc_fail_begin(0);
	ck_assert_str_eq(near(&c, gpu, 1, &all), "0 rail0");
	ck_assert_uint_lt(alloc_fail_end().calls, once + once / 2);
}
END_TEST

static int load_near(void *arg, struct err *e)
{
	static const char gpu[][PCI_STR_LEN] = { "0000:19:00.0" };
	struct rail_list all, l;

	return rail_list_load_near(arg, (struct rail_gpus){ gpu, 1 }, &all, &l, e);
}

START_TEST(allocations_may_fail)
{
	struct ctx c = machine("dgx-h100");

	ck_assert_str_eq(alloc_fail_each(load_near, &c), "ok");
}
END_TEST

/* The operator numbers them in another way; which is near is the machine's to say. */
START_TEST(the_file_comes_before_the_machine)
{
	static const char gpu[][PCI_STR_LEN] = { "0000:19:00.0" };
	struct ctx c = machine("dgx-h100");
	struct rail_list l;

	tree_put(dir, "etc/rails.json",
		 "{\"rails\":[{\"rail\":5,\"interface\":\"rail0\"},{\"rail\":1,\"interface\":"
		 "\"rail7\"}]}");
	ck_assert_str_eq(loaded(&c, &l), "1 rail7, 5 rail0");
	ck_assert_str_eq(near(&c, gpu, 1, &l), "5 rail0");
	ck_assert_str_eq(shown(&l), "1 rail7, 5 rail0");
}
END_TEST

static bool refuses(const char *text, void *arg)
{
	struct rail_list l;
	struct err e;

	(void)arg;
	return rail_list_parse(text, strlen(text), NULL, &l, &e) != 0;
}

START_TEST(no_key_is_mistyped_in_silence)
{
	ck_assert_uint_gt(typos_all_told("{\"rails\":[{\"rail\":3,\"pci\":\"3b:00.0\"},{\"rail\":0,"
					 "\"interface\":\"eth0\"}]}",
					 NULL, refuses, NULL),
			  9);
}
END_TEST

TEST_PROGRAM("topo/read/rail_list", the_file_names_interfaces,
	     a_card_without_an_interface_is_not_forgotten, a_wrong_file_names_key_and_value,
	     too_many_rails, the_machine_says_it_without_a_file, what_looks_like_a_rail_is_none,
	     a_cable_that_is_out_changes_no_number, the_rails_near_a_GPU, the_machine_is_read_once,
	     allocations_may_fail, the_file_comes_before_the_machine, no_key_is_mistyped_in_silence)

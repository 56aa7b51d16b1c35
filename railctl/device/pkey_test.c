/* SPDX-License-Identifier: Apache-2.0 */
/* pkey_test.c: partitions of options, and of the records of a pod's attachments. */
#include "railctl/device/pkey.h"

#include <string.h>

#include "cni/record/record.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"
#include "sriov/claim/taken.h"

#define SELF "/proc/self/ns/net"

static void attached(const struct ctx *ctx, const char *ifname, struct netns_id where,
		     const char *pkey)
{
	const struct vf_place p = { .vf = "0000:3b:02.1", .pf = "0000:3b:00.0" };
	auto_json struct json *device = sriov_device(&p, NULL, NULL);
	const struct record r = { .key = { "n", "c", ifname },
				  .plugin = "ib-sriov",
				  .kind = "",
				  .netns = SELF,
				  .netns_id = where,
				  .boot = "00000000-0000-0000-0000-000000000000",
				  .master = "",
				  .device = device };
	struct err e = { .msg = "" };

	ck_assert(!pkey || json_add_str(device, "pkey", pkey) == 0);
	ck_assert_msg(record_write(ctx, &r, &e) == 0, "%s", e.msg);
}

static struct cmd_run run_of(const char *const *argv)
{
	static const struct opt table[] = { { "netns", "PATH", "", 0 },
					    { "pkey", "PKEY", "", OPT_MANY },
					    { 0 } };
	const struct opt *const tables[] = { table, NULL };
	struct cmd_run r = { .path = "rdma check" };
	struct err e;

	ctx_init(&r.ctx, "test");
	r.ctx.run_dir = testing_dir();
	ck_assert_int_ge(opt_parse((char **)(uintptr_t)argv, tables, false, &r.opts, &e), 0);
	return r;
}

static void fill(const struct ctx *ctx)
{
	auto_netns struct netns self = net_self();

	attached(ctx, "net1", self.id, "0x8001");
	attached(ctx, "net2", self.id, NULL);
	attached(ctx, "net3", (struct netns_id){ .dev = 1, .ino = 2 }, "0x8003");
	attached(ctx, "net4", self.id, "what");
}

START_TEST(options_and_records_of_the_namespace_ask)
{
	static const char *const argv[] = { "--netns", SELF, "--pkey", "0x7fff", NULL };
	struct cmd_run r = run_of(argv);
	auto_asked_pkeys struct asked_pkeys a = { 0 };
	struct err e = { .msg = "" };

	fill(&r.ctx);
	ck_assert_msg(rdma_asked_pkeys(&r, &a, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(a.n, 2);
	ck_assert_uint_eq(a.one[0].pkey, 0x7fff);
	ck_assert_str_eq(a.one[0].from, "--pkey");
	ck_assert_ptr_null(a.one[0].bus);
	ck_assert_uint_eq(a.one[1].pkey, 0x8001);
	ck_assert_str_eq(a.one[1].from, "attachment net1");
	ck_assert_str_eq(a.one[1].bus, "0000:3b:02.1");
	opts_clear(&r.opts);
}
END_TEST

START_TEST(without_a_namespace_only_options_ask)
{
	static const char *const argv[] = { "--pkey", "0x0001", "--pkey", "0x8002", NULL };
	struct cmd_run r = run_of(argv);
	auto_asked_pkeys struct asked_pkeys a = { 0 };
	struct err e = { .msg = "" };

	fill(&r.ctx);
	ck_assert_int_eq(rdma_asked_pkeys(&r, &a, &e), 0);
	ck_assert_uint_eq(a.n, 2);
	opts_clear(&r.opts);
}
END_TEST

static int ask(void *arg, struct err *e)
{
	auto_asked_pkeys struct asked_pkeys a = { 0 };

	return rdma_asked_pkeys(arg, &a, e);
}

START_TEST(allocations_may_fail)
{
	static const char *const argv[] = { "--netns", SELF, "--pkey", "0x7fff", NULL };
	struct cmd_run r = run_of(argv);

	fill(&r.ctx);
	ck_assert_str_eq(alloc_fail_each(ask, &r), "ok");
	opts_clear(&r.opts);
}
END_TEST

TEST_PROGRAM("rdma_pkey", options_and_records_of_the_namespace_ask,
	     without_a_namespace_only_options_ask, allocations_may_fail)

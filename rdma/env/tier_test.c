/* SPDX-License-Identifier: Apache-2.0 */
/* tier_test.c: the traffic class of a pod from its records, and records that differ. */
#include "rdma/env/tier.h"

#include <string.h>

#include "cni/record/record.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "sriov/claim/taken.h"
#include "sriov/vf/vf.h"

#define SELF "/proc/self/ns/net"

static void attached(const struct ctx *ctx, const char *ifname, struct netns_id where,
		     const struct tier *t)
{
	const struct vf_place p = { .vf = "0000:3b:02.1", .pf = "0000:3b:00.0" };
	auto_json struct json *device = sriov_device(&p, NULL, t);
	const struct record r = { .key = { "n", "c", ifname },
				  .plugin = "sriov",
				  .kind = "",
				  .netns = SELF,
				  .netns_id = where,
				  .boot = "00000000-0000-0000-0000-000000000000",
				  .master = "",
				  .device = device };
	struct err e = { .msg = "" };

	ck_assert_msg(record_write(ctx, &r, &e) == 0, "%s", e.msg);
}

/* Of four VFs: one elsewhere, one without a tier, and two of the pod. */
static struct ctx host(int second)
{
	const struct tier gold = { "gold", -1, 10, -1, 106 }, other = { "other", -1, 10, -1, 7 };
	const struct tier rates = { "rates", -1, 10, -1, -1 };
	const struct tier more = { "more", -1, 10, -1, second };
	struct netns self = net_self();
	struct ctx ctx;

	ctx_init(&ctx, "test");
	(void)testing_dir();
	ctx.run_dir = "/mnt";
	attached(&ctx, "net0", (struct netns_id){ .dev = 1, .ino = 2 }, &other);
	attached(&ctx, "net1", self.id, NULL);
	attached(&ctx, "net2", self.id, &rates);
	attached(&ctx, "net3", self.id, &gold);
	attached(&ctx, "net4", self.id, &more);
	netns_close(&self);
	return ctx;
}

START_TEST(the_tier_of_the_pod_is_found)
{
	struct ctx ctx = host(106);
	struct env_options o = ENV_OPTIONS_INIT;
	char why[RDMA_TIER_WHY_LEN];
	struct err e = { .msg = "" };

	ck_assert_msg(rdma_tier_class(&ctx, SELF, &o, why, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(o.tc, 106);
	ck_assert_str_eq(o.tc_why, "of the tier \"gold\" of net3");
	o.tc = 5;
	o.tc_why = NULL;
	ck_assert_int_eq(rdma_tier_class(&ctx, SELF, &o, why, &e), 0);
	ck_assert(o.tc == 5 && !o.tc_why);
	o.tc = -1;
	ck_assert_int_eq(rdma_tier_class(&ctx, NULL, &o, why, &e), 0);
	ck_assert_int_eq(o.tc, -1);
}
END_TEST

START_TEST(two_tiers_that_differ_are_reported)
{
	static const char *const only[] = { "net4", "net1", NULL };
	struct ctx ctx = host(32);
	struct env_options o = ENV_OPTIONS_INIT;
	char why[RDMA_TIER_WHY_LEN];
	struct err e = { .msg = "" };

	ck_assert_int_eq(rdma_tier_class(&ctx, SELF, &o, why, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_str_eq(e.msg, "net3 is of tier \"gold\" with trafficClass 106, net4 of tier "
				"\"more\" with 32: NCCL has one for all");
	ck_assert_int_eq(o.tc, -1);
	o.interfaces = only;
	ck_assert_int_eq(rdma_tier_class(&ctx, SELF, &o, why, &e), 0);
	ck_assert_int_eq(o.tc, 32);
}
END_TEST

TEST_PROGRAM("rdma/env/tier", the_tier_of_the_pod_is_found, two_tiers_that_differ_are_reported)

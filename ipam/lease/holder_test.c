/* SPDX-License-Identifier: Apache-2.0 */
/* holder_test.c: what the record of an attachment says of who holds its leases. */
#include "cni/record/record.h"
#include "ipam/lease/holder.h"

#include <stdio.h>
#include <unistd.h>

#include "ipam/testing/fixture.h"

static enum holder state_of(struct fixture *w, const char *container, const char *ifname)
{
	const struct owner o = { "net", container, ifname, "", "", "" };
	struct holder_view view;

	holder_records.look(&w->ctx, &o, &view);
	return view.state;
}

static void attach(struct fixture *w, const char *container)
{
	auto_netns struct netns self = { .fd = -1 };
	struct record r = { .key = { "net", container, "net1" },
			    .plugin = "ib-sriov",
			    .kind = "ipoib",
			    .netns = "/run/netns/that-is-gone",
			    .from = netns_view_self(&w->ctx),
			    .master = "ib0" };
	struct err e = { .msg = "" };

	ck_assert_int_eq(netns_open_self(&self, &e), 0);
	r.netns_id = self.id;
	r.netns_id.ino = 1;
	r.netns_id.cookie++;
	ck_assert_int_eq(ctx_boot_id(&w->ctx, r.boot, &e), 0);
	ck_assert_msg(record_write(&w->ctx, &r, &e) == 0, "%s", e.msg);
}

/* The VF of a pod that is gone has its GUID until the plugin has restored it. */
START_TEST(a_guid_outlives_the_namespace_of_its_pod)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	w.ctx.proc = "/proc";
	attach(&w, "c1");
	ck_assert_int_eq(state_of(&w, "c1", "net1"), HOLDER_GONE);
	ck_assert_int_eq(state_of(&w, "c1", "net1" OWNER_GUID), HOLDER_MAY_LIVE);
	ck_assert_int_eq(state_of(&w, "c2", "net1"), HOLDER_UNRECORDED);
	ck_assert_int_eq(state_of(&w, "c2", "net1" OWNER_GUID), HOLDER_UNRECORDED);
}
END_TEST

TEST_PROGRAM("ipam/lease/holder", a_guid_outlives_the_namespace_of_its_pod)

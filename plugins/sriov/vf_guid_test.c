/* SPDX-License-Identifier: Apache-2.0 */
/* Shows when DEL gives up restoring the GUIDs of a VF, and when it must be repeated. */
#include "sriov/vf/guid.h"

#include <errno.h>
#include <stdio.h>

#include "cni/testing/call.h"
#include "lib/testing/testing.h"
#include "plugins/testing/ib.h"

/* As a pod has it: claimed, with a GUID that its driver has read. */
static struct claimant with_a_GUID(const struct testib *t, const struct pod *p)
{
	const struct guid given = testib_guid(99);
	const struct vf_request request = {
		.pf_side = { .has = VF_GUIDS, .node_guid = given, .port_guid = given }
	};
	struct claimant who = claimant_of(&t->w, "c1", p);
	struct vf_place place;
	struct err e = { .msg = "" };

	who.will_change = VF_GUIDS;
	ck_assert_msg(claim_vf(&who, testhost_vf(0), &place, &e) == 0 &&
			      vf_configure(t->w.nl, &place, &request, NULL, &e) == 0 &&
			      vf_rebind(&t->w.ctx, place.vf, place.driver, true, &e) == 0,
		      "%s", e.msg);
	ck_assert(guid_equal(t->w.kernel->vf[0].port, given));
	return who;
}

static int del(const struct testib *t, const struct claimant *who, struct err *e)
{
	return claim_release(&t->w.ctx, testhost_vf(0), &who->key, who->netns_id, e);
}

/* The driver was unbound and did not come back: DEL has made it worse, and says so. */
START_TEST(a_driver_that_comes_back_late)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	const struct claimant who = with_a_GUID(&t, &p);
	struct err e = { .msg = "" };

	t.w.kernel->refuses_bind = ENOSPC;
	ck_assert_int_eq(del(&t, &who, &e), -1);
	ck_assert_msg(e.code == ERR_KERNEL && strstr(e.msg, "restore VF"), "%s", e.msg);
	t.w.kernel->refuses_bind = 0;
	good(del(&t, &who, &e), &e);
	testib_is_restored(&t, 0, "the second DEL");
}
END_TEST

/* A DEL that repeats one changes nothing: what the driver refuses does not hold the pod. */
START_TEST(a_driver_that_never_comes_back)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	const struct claimant who = with_a_GUID(&t, &p);
	struct err e = { .msg = "" };

	t.w.kernel->refuses_bind = EIO;
	ck_assert_int_eq(del(&t, &who, &e), -1);
	good(del(&t, &who, &e), &e);
	ck_assert(testhost_log_has("cannot restore its GUIDs"));
	auto_vf_entry struct vf_entry x = testhost_entry(&t.w, 0);
	ck_assert(!x.owned && (x.to_restore & VF_GUIDS) == VF_GUIDS);
	/* The next attachment restores it first. */
	t.w.kernel->refuses_bind = 0;
	(void)with_a_GUID(&t, &p);
	good(del(&t, &who, &e), &e);
	testib_is_restored(&t, 0, "the third DEL");
}
END_TEST

/* An administrator set it, and bound no driver again: the pod's DEL does. The VF can be used. */
START_TEST(a_GUID_that_the_driver_has_not_read)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct fakepf_vf *vf = &t.w.kernel->vf[0];
	struct err e = { .msg = "" };

	vf->is.node_guid = vf->is.port_guid = testib_guid(7);
	for (int i = 0; i < 2; i++) {
		const struct claimant who = with_a_GUID(&t, &p);

		good(del(&t, &who, &e), &e);
		ck_assert(guid_equal(vf->node, testib_guid(7)) &&
			  guid_equal(vf->port, testib_guid(7)));
		auto_vf_entry struct vf_entry x = testhost_entry(&t.w, 0);
		ck_assert(!x.owned && !x.to_restore && !x.has_left);
	}
	ck_assert(!testhost_log_has("cannot restore"));
}
END_TEST

TEST_PROGRAM("sriov/vf_guid", a_driver_that_comes_back_late, a_driver_that_never_comes_back,
	     a_GUID_that_the_driver_has_not_read)

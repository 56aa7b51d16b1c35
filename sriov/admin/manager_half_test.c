/* SPDX-License-Identifier: Apache-2.0 */
/* VFs whose making fails, or is killed, or finds things as they are seldom. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/pci.h"
#include "sriov/testing/manager.h"

/* ---- half-way ---- */

START_TEST(a_failure_leaves_as_many_as_before)
{
	auto_testhost struct testhost w = manager_testhost(3, "0\n");
	struct err e;

	fakepci_link(TESTHOST_SYS, TESTHOST_PF, "virtfn2", NULL);
	e = refused(&w, &(struct vf_order){ .pf = "pf0", .count = 3 });
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(e.msg, "no VF number 2"));
	ck_assert_ptr_nonnull(strstr(progress.text, "restoring the old number of VFs: 0"));
	num_is("0");
	ck_assert(autoprobe());

	w.kernel->refuses[VF_MAC] = EINVAL;
	e = refused(&w, &(struct vf_order){ .pf = "pf0", .count = 2 });
	ck_assert_int_eq(e.code, ERR_KERNEL);
	num_is("0");
	ck_assert(autoprobe());
	e = refused(&w, &(struct vf_order){ .pf = "pf0", .count = 2, .driver = "no-such" });
	ck_assert_int_eq(e.code, ERR_KERNEL);
	num_is("0");
	ck_assert(autoprobe());
	w.kernel->refuses[VF_MAC] = 0;
	created(&w, 2);
}
END_TEST

/* Their MACs may be in use, by whoever made them. */
START_TEST(a_failure_before_the_removal_changes_no_vf)
{
	auto_testhost struct testhost w = manager_testhost(3, "2\n");
	struct vf_info before;

	memcpy(&before, &w.kernel->vf[0].is, sizeof(before));
	progress.num_becomes = "/dev/full";
	(void)refused(&w, &(struct vf_order){ .pf = "pf0", .count = 3 });
	progress.num_becomes = NULL;
	ck_assert(autoprobe());
	ck_assert_ptr_null(strstr(progress.text, "the old number of VFs"));
	ck_assert_int_eq(vf_differing(&w.kernel->vf[0].is, &before), 0);
	set_num("2\n");
	ck_assert(!created(&w, 2).changed);
}
END_TEST

/* As SIGKILL leaves it: no driver takes VFs, and nobody else knows that one should. */
START_TEST(what_was_interrupted_is_finished)
{
	auto_testhost struct testhost w = manager_testhost(2, "2\n");
	char boot[CTX_BOOT_ID_LEN + 1], text[512];
	uint8_t pf[MAC_LEN], want[MAC_LEN];
	struct err e = { .msg = "" };

	ck_assert_int_eq(ctx_boot_id(&w.ctx, boot, &e), 0);
	(void)snprintf(text, sizeof(text),
		       "{\"version\":1,\"pf\":\"" TESTHOST_PF "\",\"macs\":[],"
		       "\"making\":{\"boot\":\"%s\",\"autoprobe\":true}}",
		       boot);
	pf_state(text);
	fakepci_file(TESTHOST_SYS, TESTHOST_PF, "sriov_drivers_autoprobe", "0\n");
	ck_assert(created(&w, 2).changed);
	ck_assert(autoprobe());
	ck_assert_ptr_nonnull(strstr(progress.text, "finishing what was interrupted"));
	pf_mac(&w, pf);
	manager_mac(pf, 1, want);
	ck_assert_mem_eq(w.kernel->vf[1].is.mac, want, MAC_LEN);
	ck_assert(!created(&w, 2).changed);
}
END_TEST

START_TEST(an_interruption_of_another_boot_is_ignored)
{
	auto_testhost struct testhost w = manager_testhost(2, "2\n");

	pf_state("{\"version\":1,\"pf\":\"" TESTHOST_PF "\",\"macs\":[],\"making\":{\"boot\":"
		 "\"00000000-0000-0000-0000-000000000000\",\"autoprobe\":false}}");
	ck_assert(!created(&w, 2).changed);
	ck_assert(autoprobe());
}
END_TEST

START_TEST(each_failing_request_leaves_as_many_as_before)
{
	for (unsigned at = 1;; at++) {
		auto_testhost struct testhost w = manager_testhost(2, "0\n");
		struct vf_order_result made;
		struct err e = { .msg = "" };

		w.kernel->requests = 0;
		w.kernel->fail_at = at;
		w.kernel->fail_errnum = EIO;
		int rc = create(&w, &(struct vf_order){ .pf = "pf0", .count = 2 }, &made, &e);
		ck_assert(autoprobe());
		num_is(rc ? "0" : "2");
		if (w.kernel->requests < at) {
			ck_assert_int_eq(rc, 0);
			ck_assert_uint_gt(at, 8);
			break;
		}
	}
}
END_TEST

static void start_anew(void)
{
	char path[64];

	for (uint32_t n = 0; n < 2; n++) {
		(void)snprintf(path, sizeof(path), TESTHOST_RUN "/vf/%s", testhost_vf(n));
		(void)unlink(path);
	}
	(void)unlink(PF_STATE);
	set_num("0\n");
}

/* A few of them are for what may fail: a look whether it is needed at all. */
START_TEST(each_failing_allocation_leaves_as_many_as_before)
{
	auto_testhost struct testhost w = manager_testhost(2, "0\n");
	const struct vf_order two = { .pf = "pf0", .count = 2 };
	const struct manager m = { .ctx = &w.ctx, .nl = w.nl }; /* to tell us takes memory, too */
	bool failed = true;

	for (unsigned n = 1; failed; n++) {
		struct vf_order_result made;
		struct err e = { .msg = "" };

		start_anew();
		alloc_fail_begin(n);
		int rc = manager_create(&m, &two, &made, &e);
		const struct alloc_count c = alloc_fail_end();
		failed = c.failed;
		ck_assert_uint_eq(c.live, 0);
		ck_assert_msg(rc == 0 || (failed && e.code == ERR_NOMEM), "%s", e.msg);
		num_is(rc ? "0" : "2");
		ck_assert(autoprobe());
	}
}
END_TEST

/* An administrator who has switched it off wants VFs without a driver. */
START_TEST(without_autoprobe_they_stay_without_driver)
{
	auto_testhost struct testhost w = manager_testhost(1, "0\n");

	fakepci_file(TESTHOST_SYS, TESTHOST_PF, "sriov_drivers_autoprobe", "0\n");
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), NULL);
	testhost_shows(0, NULL);
	created(&w, 1);
	ck_assert(!autoprobe());
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	ck_assert(!x.base.has_netdev);
	ck_assert_ptr_nonnull(strstr(progress.text, "driver none, interface none"));
}
END_TEST

START_TEST(a_pf_without_an_interface)
{
	auto_testhost struct testhost w = manager_testhost(2, "0\n");
	struct err e;

	ck_assert_int_eq(rename(TESTHOST_SYS "/devices/pci/" TESTHOST_PF "/net", "/mnt/away"), 0);
	e = refused(&w, &(struct vf_order){ .pf = TESTHOST_PF, .count = 2 });
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	num_is("0");
}
END_TEST

TEST_PROGRAM("manager_half", a_failure_leaves_as_many_as_before,
	     a_failure_before_the_removal_changes_no_vf, what_was_interrupted_is_finished,
	     an_interruption_of_another_boot_is_ignored,
	     each_failing_request_leaves_as_many_as_before,
	     each_failing_allocation_leaves_as_many_as_before,
	     without_autoprobe_they_stay_without_driver, a_pf_without_an_interface)

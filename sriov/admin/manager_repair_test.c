/* SPDX-License-Identifier: Apache-2.0 */
/* One VF bound, put back or forgotten; manager_test.c has how many there are. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/time.h"
#include "sriov/admin/manager.h"
#include "sriov/testing/vf.h"

static struct testhost make_testhost(uint32_t vfs)
{
	struct testhost w = testhost(vfs);

	faketime_begin(NULL);
	return w;
}

static void claim(const struct claimant *who, uint32_t n)
{
	struct vf_place place;
	struct err e = { .msg = "" };

	ck_assert_msg(claim_vf(who, testhost_vf(n), &place, &e) == 0, "%s", e.msg);
}

/* As DEL leaves it: free, with a baseline. */
static void known(const struct testhost *w, uint32_t n)
{
	auto_vf_entry struct vf_entry x = { 0 };
	struct vf_place place;
	struct err e = { .msg = "" };

	ck_assert_int_eq(vf_locate(&w->ctx, w->nl, testhost_vf(n), &place, &e), 0);
	ck_assert_int_eq(vf_start_entry(&w->ctx, w->nl, &place, &x, &e), 0);
	ck_assert_int_eq(vf_state_write(&w->ctx, &x, &e), 0);
}

typedef int (*act_fn)(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
		      struct err *e);

static struct vf_report act(const struct testhost *w, act_fn fn, uint32_t n, bool dry_run)
{
	const struct manager m = { .ctx = &w->ctx, .nl = w->nl };
	struct vf_report r;
	struct err e = { .msg = "" };

	ck_assert_msg(fn(&m, testhost_vf(n), dry_run, &r, &e) == 0, "%s (%s)", e.msg, e.detail);
	ck_assert_str_eq(e.msg, "");
	return r;
}

static struct err fails(const struct testhost *w, act_fn fn, uint32_t n)
{
	const struct manager m = { .ctx = &w->ctx, .nl = w->nl };
	struct vf_report r = { .why = "untouched" };
	struct err e = { .msg = "" };

	ck_assert_int_eq(fn(&m, testhost_vf(n), false, &r, &e), -1);
	ck_assert_str_eq(r.why, "untouched");
	return e;
}

static struct err bind_fails(const struct testhost *w, uint32_t n, const char *driver)
{
	const struct manager m = { .ctx = &w->ctx, .nl = w->nl };
	struct vf_report r = { .why = "untouched" };
	struct err e = { .msg = "" };

	ck_assert_int_eq(manager_bind(&m, testhost_vf(n), driver, &r, &e), -1);
	ck_assert_str_eq(r.why, "untouched");
	return e;
}

static void damage(uint32_t n)
{
	char path[64];

	(void)snprintf(path, sizeof(path), TESTHOST_RUN "/vf/%s", testhost_vf(n));
	testing_file(path, 0600, "{");
}

static bool has_entry(const struct testhost *w, uint32_t n)
{
	auto_vf_entry struct vf_entry x = { 0 };
	struct err e = { .msg = "" };

	return vf_state_read(&w->ctx, testhost_vf(n), &x, &e) == 0 || e.code != ERR_NOTFOUND;
}

static struct link_info link_of(const struct testhost *w, const char *name)
{
	struct link_info link;
	struct err e = { .msg = "" };

	ck_assert_msg(nl_link_by_name(w->nl, name, &link, &e) == 0, "%s", e.msg);
	return link;
}

/* ---- repair ---- */

static void vandalize(const struct testhost *w, uint32_t n, const char *name)
{
	struct vf_info *s = &w->kernel->vf[n].is;
	const int ifindex = link_of(w, name).ifindex;
	const uint8_t mac[] = { 2, 9, 9, 9, 9, 9 };
	auto_netns struct netns here = { .fd = -1 };
	struct err e = { .msg = "" };

	s->vlan = 99;
	s->max_rate = 500;
	s->spoofchk = false;
	s->trust = true;
	s->link_state = VF_LINK_DISABLE;
	memcpy(s->mac, mac, MAC_LEN);
	ck_assert_int_eq(nl_link_set_down(w->nl, ifindex, &e), 0);
	ck_assert_int_eq(nl_link_set_hw_addr(w->nl, ifindex, hw_addr_of_mac(mac), &e), 0);
	ck_assert_int_eq(nl_link_set_mtu(w->nl, ifindex, 1400, &e), 0);
	ck_assert_int_eq(netns_open_self(&here, &e), 0);
	ck_assert_int_eq(nl_link_move(w->nl, ifindex, &here, "vandal0", &e), 0);
}

START_TEST(a_vf_as_it_was_is_left_alone)
{
	auto_testhost struct testhost w = make_testhost(1);

	known(&w, 0);
	ck_assert_int_eq(act(&w, manager_repair, 0, true).outcome, VF_WAS_HEALTHY);
	w.kernel->requests = 0;
	const struct vf_report r = act(&w, manager_repair, 0, false);
	ck_assert_int_eq(r.outcome, VF_WAS_HEALTHY);
	ck_assert_str_eq(r.why, "");
}
END_TEST

START_TEST(every_changed_setting_is_restored)
{
	auto_testhost struct testhost w = make_testhost(2);
	struct vf_info before;
	struct vf_report r;

	w.kernel->vf[0].is.vlan = 5;
	memcpy(&before, &w.kernel->vf[0].is, sizeof(before));
	const struct link_info link = link_of(&w, "v0");
	known(&w, 0);
	vandalize(&w, 0, "v0");

	r = act(&w, manager_repair, 0, true);
	ck_assert_int_eq(r.outcome, VF_WOULD_REPAIR);
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 99);
	r = act(&w, manager_repair, 0, false);
	ck_assert_int_eq(r.outcome, VF_REPAIRED);
	ck_assert_str_eq(r.why, "restored: mac, vlan, max_tx_rate, spoofchk, trust, link_state, "
				"name, address, mtu, down");
	ck_assert_int_eq(vf_differing(&w.kernel->vf[0].is, &before), 0);
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 5);
	ck_assert_mem_eq(link_of(&w, "v0").addr.byte, link.addr.byte, MAC_LEN);
	ck_assert_uint_eq(link_of(&w, "v0").mtu, link.mtu);
	ck_assert_uint_eq(link_of(&w, "v0").flags & 1, 1);
	ck_assert_int_eq(act(&w, manager_repair, 0, false).outcome, VF_WAS_HEALTHY);
}
END_TEST

START_TEST(only_what_differs_is_set)
{
	auto_testhost struct testhost w = make_testhost(1);
	struct vf_report r;

	known(&w, 0);
	w.kernel->vf[0].is.vlan = 99;
	w.kernel->refuses[VF_MAC] = EINVAL; /* setting it would make it an administrator's */
	r = act(&w, manager_repair, 0, false);
	ck_assert_str_eq(r.why, "restored: vlan");
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 0);
}
END_TEST

START_TEST(what_cannot_be_put_back_is_named)
{
	auto_testhost struct testhost w = make_testhost(1);
	struct err e;

	known(&w, 0);
	vandalize(&w, 0, "v0");
	w.kernel->refuses[VF_VLAN] = w.kernel->refuses[VF_TRUST] = EIO;
	e = fails(&w, manager_repair, 0);
	ck_assert_int_eq(e.code, ERR_STATE);
	ck_assert_ptr_nonnull(strstr(e.msg, "not restored: vlan, trust"));
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	ck_assert_uint_eq(x.to_restore, VF_VLAN | VF_TRUST);
	w.kernel->refuses[VF_VLAN] = w.kernel->refuses[VF_TRUST] = 0;
	ck_assert_int_eq(act(&w, manager_repair, 0, false).outcome, VF_REPAIRED);
}
END_TEST

/* Only the log knows that it failed; what counts is what is. */
START_TEST(what_restore_overlooks_is_named)
{
	auto_testhost struct testhost w = make_testhost(1);
	const int vf = link_of(&w, "v0").ifindex, other = link_of(&w, "pf0").ifindex;
	struct err e = { .msg = "" };

	ck_assert_int_eq(nl_link_altname_add(w.nl, vf, "rail0-vf0", &e), 0);
	known(&w, 0);
	ck_assert_int_eq(nl_link_altname_del(w.nl, vf, "rail0-vf0", &e), 0);
	ck_assert_int_eq(nl_link_altname_add(w.nl, other, "rail0-vf0", &e), 0);
	e = fails(&w, manager_repair, 0);
	ck_assert_msg(strstr(e.msg, "not restored: alternative names") != NULL, "%s", e.msg);
	ck_assert_int_eq(nl_link_altname_del(w.nl, other, "rail0-vf0", &e), 0);
	ck_assert_str_eq(act(&w, manager_repair, 0, false).why, "restored: alternative names");
}
END_TEST

START_TEST(the_vf_of_a_living_owner_is_left_alone)
{
	auto_testhost struct testhost w = make_testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	struct vf_report r;

	claim(&who, 0);
	w.kernel->vf[0].is.vlan = 99;
	r = act(&w, manager_repair, 0, false);
	ck_assert_int_eq(r.outcome, VF_SKIPPED);
	ck_assert_str_eq(r.why, "it belongs to container c1 (network net-a, net1)");
	r = act(&w, manager_gc, 0, false);
	ck_assert_int_eq(r.outcome, VF_SKIPPED);
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 99);
	struct err e = bind_fails(&w, 0, "vfio-pci");
	ck_assert_int_eq(e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "belongs to container c1"));
}
END_TEST

START_TEST(a_plugin_at_work_is_not_disturbed)
{
	auto_testhost struct testhost w = make_testhost(1);
	struct err e = { .msg = "" };
	auto_fd int lock = vf_state_lock(&w.ctx, testhost_vf(0), 0, &e);

	ck_assert_int_ge(lock, 0);
	known(&w, 0);
	w.kernel->vf[0].is.vlan = 99;
	ck_assert_int_eq(fails(&w, manager_repair, 0).code, ERR_AGAIN);
	ck_assert_int_eq(fails(&w, manager_gc, 0).code, ERR_AGAIN);
	ck_assert_int_eq(bind_fails(&w, 0, "vfio-pci").code, ERR_AGAIN);
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 99);
}
END_TEST

START_TEST(what_a_dead_owner_left_is_restored)
{
	static const act_fn fns[] = { manager_repair, manager_gc };

	for (size_t i = 0; i < ARRAY_SIZE(fns); i++) {
		auto_testhost struct testhost w = make_testhost(1);
		struct pod p = pod();
		const struct claimant who = claimant_of(&w, "c1", &p);
		struct vf_report r;

		claim(&who, 0);
		w.kernel->vf[0].is.vlan = 99;
		pod_clear(&p);
		r = act(&w, fns[i], 0, true);
		ck_assert_int_eq(r.outcome, VF_WOULD_REPAIR);
		r = act(&w, fns[i], 0, false);
		ck_assert_int_eq(r.outcome, VF_REPAIRED);
		ck_assert_ptr_nonnull(strstr(r.why, "its owner c1"));
		ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 0);
		auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
		ck_assert(!x.owned && !x.to_restore);
		ck_assert_int_eq(act(&w, fns[i], 0, false).outcome, VF_WAS_HEALTHY);
	}
}
END_TEST

START_TEST(a_vf_without_an_entry_is_skipped)
{
	auto_testhost struct testhost w = make_testhost(1);
	struct vf_report r = act(&w, manager_repair, 0, false);

	ck_assert_int_eq(r.outcome, VF_SKIPPED);
	ck_assert_ptr_nonnull(strstr(r.why, "it has no baseline"));
	ck_assert(!has_entry(&w, 0));
	ck_assert_int_eq(act(&w, manager_gc, 0, false).outcome, VF_WAS_HEALTHY);
	testhost_shows(0, NULL);
	r = act(&w, manager_repair, 0, false);
	ck_assert_int_eq(r.outcome, VF_SKIPPED);
	ck_assert_ptr_nonnull(strstr(r.why, "another network namespace"));
	ck_assert_int_eq(bind_fails(&w, 0, "vfio-pci").code, ERR_BUSY);
}
END_TEST

START_TEST(a_damaged_entry_gets_the_values_of_a_new_VF)
{
	auto_testhost struct testhost w = make_testhost(1);
	struct vf_report r;
	struct err e;

	known(&w, 0);
	damage(0);
	r = act(&w, manager_gc, 0, false);
	ck_assert_int_eq(r.outcome, VF_SKIPPED);
	ck_assert_ptr_nonnull(strstr(r.why, "railctl vf repair"));
	e = bind_fails(&w, 0, "vfio-pci");
	ck_assert_int_eq(e.code, ERR_STATE);
	testhost_shows(0, NULL); /* it may be in the pod whose it is */
	r = act(&w, manager_repair, 0, false);
	ck_assert_int_eq(r.outcome, VF_SKIPPED);
	ck_assert(has_entry(&w, 0));
	testhost_shows(0, "v0");
	ck_assert_int_eq(act(&w, manager_repair, 0, true).outcome, VF_WOULD_REPAIR);
	ck_assert(has_entry(&w, 0));
	w.kernel->vf[0].is.vlan = 7;
	ck_assert_int_eq(act(&w, manager_repair, 0, false).outcome, VF_REPAIRED);
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 0);
	ck_assert_int_eq(act(&w, manager_repair, 0, false).outcome, VF_WAS_HEALTHY);
	/* Its administrator says that the present values are right. */
	ck_assert_int_eq(act(&w, manager_adopt, 0, false).outcome, VF_REPAIRED);
	ck_assert_int_eq(act(&w, manager_adopt, 0, false).outcome, VF_WAS_HEALTHY);
}
END_TEST

START_TEST(a_PF_that_sets_no_MAC_leaves_that_to_the_interface)
{
	auto_testhost struct testhost w = make_testhost(1);
	struct link_info link = link_of(&w, "v0");

	w.kernel->refuses[VF_MAC] = EOPNOTSUPP;
	known(&w, 0);
	damage(0);
	ck_assert_int_eq(act(&w, manager_repair, 0, false).outcome, VF_REPAIRED);
	ck_assert_mem_ne(link_of(&w, "v0").addr.byte, link.addr.byte, MAC_LEN);
	ck_assert_int_eq(act(&w, manager_repair, 0, false).outcome, VF_WAS_HEALTHY);
}
END_TEST

START_TEST(a_missing_vf_is_not_found)
{
	auto_testhost struct testhost w = make_testhost(1);

	testhost_vanish(0);
	ck_assert_int_eq(fails(&w, manager_repair, 0).code, ERR_NOTFOUND);
	ck_assert_int_eq(bind_fails(&w, 0, NULL).code, ERR_NOTFOUND);
}
END_TEST

START_TEST(repair_survives_each_failing_allocation)
{
	auto_testhost struct testhost w = make_testhost(1);
	const struct manager m = { .ctx = &w.ctx, .nl = w.nl };
	const char *vf = testhost_vf(0);
	bool failed = true;

	known(&w, 0);
	for (unsigned n = 1; failed; n++) {
		struct vf_report r;
		struct err e = { .msg = "" };

		w.kernel->vf[0].is.vlan = 99;
		alloc_fail_begin(n);
		int rc = manager_repair(&m, vf, false, &r, &e);
		const struct alloc_count c = alloc_fail_end();
		failed = c.failed;
		ck_assert_uint_eq(c.live, 0);
		ck_assert_msg(rc == 0 || failed, "%s", e.msg);
		const enum vf_outcome then = act(&w, manager_repair, 0, false).outcome;
		ck_assert(then == VF_WAS_HEALTHY || (rc && then == VF_REPAIRED));
		ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 0);
	}
}
END_TEST

/* ---- gc ---- */

START_TEST(entries_of_removed_vfs_are_removed)
{
	auto_testhost struct testhost w = make_testhost(3);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	struct err e = { .msg = "" };

	for (uint32_t n = 0; n < 3; n++)
		claim(&who, n); /* owned or not: there is nothing any more to own */
	testhost_vanish(0);
	testhost_remake(1, "v1");
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 2);
	memset(x.boot, 'x', CTX_BOOT_ID_LEN);
	ck_assert_int_eq(vf_state_write(&w.ctx, &x, &e), 0);
	for (uint32_t n = 0; n < 3; n++) {
		ck_assert_int_eq(act(&w, manager_gc, n, true).outcome, VF_WOULD_REPAIR);
		ck_assert(has_entry(&w, n));
		ck_assert_int_eq(act(&w, manager_gc, n, false).outcome, VF_REPAIRED);
		ck_assert(!has_entry(&w, n));
	}
}
END_TEST

START_TEST(a_free_vf_keeps_its_baseline)
{
	auto_testhost struct testhost w = make_testhost(1);

	known(&w, 0);
	ck_assert_int_eq(act(&w, manager_gc, 0, false).outcome, VF_WAS_HEALTHY);
	ck_assert(has_entry(&w, 0));
}
END_TEST

/* ---- bind ---- */

START_TEST(binding_to_the_present_driver_changes_nothing)
{
	static const char *const drivers[] = { "igbvf", NULL };
	auto_testhost struct testhost w = make_testhost(1);
	const struct manager m = { .ctx = &w.ctx, .nl = w.nl };
	struct vf_report r;
	struct err e = { .msg = "" };

	known(&w, 0);
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		ck_assert_int_eq(manager_bind(&m, testhost_vf(0), drivers[i], &r, &e), 0);
		ck_assert_int_eq(r.outcome, VF_WAS_HEALTHY);
	}
}
END_TEST

/* In a tree of files no driver takes anything: it is what it was, and so is all else. */
START_TEST(a_driver_that_refuses_a_vf_is_an_error)
{
	auto_testhost struct testhost w = make_testhost(1);
	struct err e;

	known(&w, 0);
	e = bind_fails(&w, 0, "no-such");
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_ptr_nonnull(strstr(e.detail, "modprobe no-such"));
	ck_assert_int_eq(bind_fails(&w, 0, "a/b").code, ERR_FIELD);
	fakepci_function(TESTHOST_SYS, "0000:99:00.0");
	fakepci_driver(TESTHOST_SYS, "0000:99:00.0", "vfio-pci");
	ck_assert_int_eq(bind_fails(&w, 0, "vfio-pci").code, ERR_KERNEL);
	ck_assert_int_eq(act(&w, manager_repair, 0, false).outcome, VF_WAS_HEALTHY);
}
END_TEST

START_TEST(the_vf_of_a_dead_owner_is_restored_first)
{
	auto_testhost struct testhost w = make_testhost(1);
	const struct manager m = { .ctx = &w.ctx, .nl = w.nl };
	struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	struct vf_report r;
	struct err e = { .msg = "" };

	claim(&who, 0);
	w.kernel->vf[0].is.vlan = 99;
	pod_clear(&p);
	ck_assert_int_eq(manager_bind(&m, testhost_vf(0), NULL, &r, &e), 0);
	ck_assert_int_eq(r.outcome, VF_WAS_HEALTHY);
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 0);
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	ck_assert(!x.owned);
}
END_TEST

TEST_PROGRAM("manager_repair", a_vf_as_it_was_is_left_alone, every_changed_setting_is_restored,
	     only_what_differs_is_set, what_cannot_be_put_back_is_named,
	     what_restore_overlooks_is_named, the_vf_of_a_living_owner_is_left_alone,
	     a_plugin_at_work_is_not_disturbed, what_a_dead_owner_left_is_restored,
	     a_vf_without_an_entry_is_skipped, a_damaged_entry_gets_the_values_of_a_new_VF,
	     a_PF_that_sets_no_MAC_leaves_that_to_the_interface, a_missing_vf_is_not_found,
	     repair_survives_each_failing_allocation, entries_of_removed_vfs_are_removed,
	     a_free_vf_keeps_its_baseline, binding_to_the_present_driver_changes_nothing,
	     a_driver_that_refuses_a_vf_is_an_error, the_vf_of_a_dead_owner_is_restored_first)

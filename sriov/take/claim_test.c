/* SPDX-License-Identifier: Apache-2.0 */
/* A VF becomes an attachment's, and stops being it; pick_test.c has the choice among several. */
#include "sriov/take/claim.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/time.h"
#include "sriov/testing/vf.h"

static struct vf_place claim(const struct claimant *who, uint32_t n)
{
	struct vf_place place;
	struct err e = { .msg = "" };

	ck_assert_msg(claim_vf(who, testhost_vf(n), &place, &e) == 0, "%s (%s)", e.msg, e.detail);
	ck_assert_str_eq(e.msg, "");
	return place;
}

static struct err refused(const struct claimant *who, uint32_t n)
{
	struct vf_place place;
	struct err e = { .msg = "" };

	ck_assert_int_eq(claim_vf(who, testhost_vf(n), &place, &e), -1);
	return e;
}

static void release(const struct claimant *who, uint32_t n, struct netns_id id)
{
	struct err e = { .msg = "" };

	ck_assert_msg(claim_release(who->ctx, testhost_vf(n), &who->key, id, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(e.msg, "");
}

static bool owned_by(const struct testhost *w, uint32_t n, const char *container)
{
	auto_vf_entry struct vf_entry x = testhost_entry(w, n);

	return x.owned && strcmp(x.owner.key.container, container) == 0;
}

static bool is_free(const struct testhost *w, uint32_t n)
{
	auto_vf_entry struct vf_entry x = testhost_entry(w, n);

	return !x.owned;
}

/* The VF goes into the pod, as ADD does it. */
static void move_in(const struct testhost *w, const struct claimant *who, uint32_t n,
		    const struct pod *p)
{
	struct vf_place place;
	struct err e = { .msg = "" };
	int ifindex;

	ck_assert_int_eq(vf_locate(&w->ctx, w->nl, testhost_vf(n), &place, &e), 0);
	ck_assert_msg(vf_move_to_pod(&place, &(struct vf_target){ w->nl, p->nl, &p->ns, "net1" },
				     &ifindex, &e) == 0,
		      "%s", e.msg);
	ck_assert_int_eq(claim_set_ifindex(&w->ctx, testhost_vf(n), &who->key, ifindex, &e), 0);
}

/* ---- free, owned, free ---- */

START_TEST(a_claim_writes_owner_and_baseline)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	struct link_info link;
	struct err e = { .msg = "" };

	ck_assert_int_eq(nl_link_by_name(w.nl, "v1", &link, &e), 0);
	const struct vf_place place = claim(&who, 1);
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 1);
	ck_assert_str_eq(place.vf, testhost_vf(1));
	ck_assert_str_eq(place.pf, TESTHOST_PF);
	ck_assert_uint_eq(place.index, 1);
	ck_assert_str_eq(place.name, "v1");
	ck_assert_str_eq(place.pf_name, "pf0");
	ck_assert(owned_by(&w, 1, "c1"));
	ck_assert_uint_eq(x.to_restore, VF_ALL);
	ck_assert_int_eq(x.owner.ifindex, link.ifindex);
	ck_assert(netns_same(x.owner.netns_id, p.ns.id));
	ck_assert(x.base.has_netdev);
	ck_assert_str_eq(x.base.name, "v1");
	ck_assert_mem_eq(x.base.addr.byte, link.addr.byte, MAC_LEN);
	ck_assert_uint_eq(x.base.mtu, 1500);
	ck_assert(x.base.up);
}
END_TEST

START_TEST(a_released_VF_can_be_claimed_again)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &p);

	(void)claim(&a, 0);
	release(&a, 0, p.ns.id);
	ck_assert(is_free(&w, 0));
	release(&a, 0, p.ns.id);
	(void)claim(&b, 0);
	ck_assert(owned_by(&w, 0, "c2"));
}
END_TEST

START_TEST(release_without_an_entry_does_nothing)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	struct err e = { .msg = "" };

	release(&who, 0, p.ns.id);
	ck_assert_int_eq(claim_release_all(&w.ctx, &who.key, p.ns.id, &e), 0);
	ck_assert_int_eq(claim_set_ifindex(&w.ctx, testhost_vf(0), &who.key, 5, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_NOTFOUND);
}
END_TEST

/* ---- somebody else ---- */

START_TEST(the_owner_of_a_busy_VF_is_named)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod(), q = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &q);

	(void)claim(&a, 0);
	struct err e = refused(&b, 0);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, testhost_vf(0)));
	ck_assert_ptr_nonnull(strstr(e.msg, "c1"));
	ck_assert_ptr_nonnull(strstr(e.msg, "net-a"));
	ck_assert_ptr_nonnull(strstr(e.msg, "net1"));
	ck_assert_ptr_nonnull(strstr(e.detail, p.path));
	ck_assert(owned_by(&w, 0, "c1"));
}
END_TEST

START_TEST(a_repeated_claim_of_the_owner_succeeds)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);

	(void)claim(&a, 0);
	move_in(&w, &a, 0, &p);
	(void)claim(&a, 0);
	ck_assert_int_ne(net_ifindex(w.nl, "v0"), 0);
	ck_assert(owned_by(&w, 0, "c1"));
}
END_TEST

START_TEST(a_dead_owners_VF_is_restored_before_a_claim)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod(), q = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &q);
	struct err e = { .msg = "" };
	struct link_info link;

	(void)claim(&a, 0);
	ck_assert_int_eq(nl_link_set_mtu(w.nl, net_ifindex(w.nl, "v0"), 1300, &e), 0);
	pod_clear(&p);
	(void)claim(&b, 0);
	ck_assert_int_eq(nl_link_by_name(w.nl, "v0", &link, &e), 0);
	ck_assert_uint_eq(link.mtu, 1500);
	ck_assert(owned_by(&w, 0, "c2"));
}
END_TEST

/* Another namespace under the path of the old one is another pod. */
START_TEST(a_reused_netns_path_is_another_owner)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod(), q = pod();
	struct claimant a = claimant_of(&w, "c1", &p);
	const struct claimant b = claimant_of(&w, "c2", &q);

	a.netns_id.ino++;
	(void)claim(&a, 0);
	(void)claim(&b, 0);
	ck_assert(owned_by(&w, 0, "c2"));
}
END_TEST

START_TEST(a_late_release_changes_nothing)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod(), q = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &q);
	struct err e = { .msg = "" };

	(void)claim(&a, 0);
	pod_clear(&p);
	(void)claim(&b, 0);
	move_in(&w, &b, 0, &q);
	testhost_shows(0, NULL);
	release(&a, 0, a.netns_id);
	ck_assert_int_eq(claim_release_all(&w.ctx, &a.key, a.netns_id, &e), 0);
	ck_assert(owned_by(&w, 0, "c2"));
	ck_assert_int_gt(net_ifindex(q.nl, "net1"), 0);
}
END_TEST

/* The same container, network and name, but the pod was started anew. */
START_TEST(release_of_another_namespace_does_nothing)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod(), q = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), again = claimant_of(&w, "c1", &q);
	const struct netns_id any = { 0 };

	(void)claim(&a, 0);
	release(&again, 0, q.ns.id);
	ck_assert(owned_by(&w, 0, "c1"));
	ck_assert_int_eq((int)refused(&again, 0).code, ERR_BUSY);
	release(&again, 0, any);
	ck_assert(is_free(&w, 0));
}
END_TEST

START_TEST(only_the_owner_sets_the_ifindex)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &p);
	struct err e = { .msg = "" };

	(void)claim(&a, 0);
	ck_assert_int_eq(claim_set_ifindex(&w.ctx, testhost_vf(0), &b.key, 77, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_STATE);
	ck_assert_int_eq(claim_set_ifindex(&w.ctx, testhost_vf(0), &a.key, 77, &e), 0);
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	ck_assert_int_eq(x.owner.ifindex, 77);
}
END_TEST

START_TEST(release_all_frees_every_VF_of_an_attachment)
{
	auto_testhost struct testhost w = testhost(3);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &p);
	struct err e = { .msg = "" };

	(void)claim(&a, 0);
	(void)claim(&b, 1);
	(void)claim(&a, 2);
	move_in(&w, &a, 2, &p);
	ck_assert_int_eq(claim_release_all(&w.ctx, &a.key, p.ns.id, &e), 0);
	ck_assert(is_free(&w, 0));
	ck_assert(owned_by(&w, 1, "c2"));
	ck_assert(is_free(&w, 2));
	ck_assert_int_gt(net_ifindex(w.nl, "v2"), 0);
}
END_TEST

/* ---- lives of a VF ---- */

START_TEST(a_recreated_VF_has_no_owner)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod(), q = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &q);
	struct err e = { .msg = "" };

	(void)claim(&a, 0);
	testhost_remake(0, "v0");
	ck_assert_int_eq(nl_link_set_mtu(w.nl, net_ifindex(w.nl, "v0"), 1300, &e), 0);
	(void)claim(&b, 0);
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	ck_assert(owned_by(&w, 0, "c2"));
	ck_assert_uint_eq(x.base.mtu, 1300);
}
END_TEST

START_TEST(a_late_release_leaves_a_recreated_VF_alone)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);
	struct err e = { .msg = "" };
	struct link_info link;

	(void)claim(&a, 0);
	testhost_remake(0, "v0");
	ck_assert_int_eq(nl_link_set_mtu(w.nl, net_ifindex(w.nl, "v0"), 1300, &e), 0);
	release(&a, 0, p.ns.id);
	ck_assert(is_free(&w, 0));
	ck_assert_int_eq(nl_link_by_name(w.nl, "v0", &link, &e), 0);
	ck_assert_uint_eq(link.mtu, 1300);
}
END_TEST

START_TEST(a_VF_that_is_gone_is_released)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);
	struct vf_entry x;
	struct err e = { .msg = "" };

	(void)claim(&a, 0);
	testhost_vanish(0);
	release(&a, 0, p.ns.id);
	ck_assert_int_eq(vf_state_read(&w.ctx, testhost_vf(0), &x, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_NOTFOUND);
	ck_assert_int_eq((int)refused(&a, 0).code, ERR_NOTFOUND);
}
END_TEST

/* Its PF was pulled, or its driver unloaded, while a pod had the VF. */
START_TEST(a_VF_gone_with_its_PF_is_released)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);
	struct err e = { .msg = "" };

	(void)claim(&a, 0);
	move_in(&w, &a, 0, &p);
	ck_assert_int_eq(rename(TESTHOST_SYS "/bus/pci/devices", "/mnt/devices"), 0);
	release(&a, 0, p.ns.id);
	ck_assert_int_eq(claim_release_all(&w.ctx, &a.key, p.ns.id, &e), 0);
	ck_assert_int_eq((int)refused(&a, 0).code, ERR_NOTFOUND);
}
END_TEST

/* The PF's interface has gone elsewhere: the VF comes back, its PF's side is restored later. */
START_TEST(without_a_PF_interface_the_next_claim_restores)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);

	(void)claim(&a, 0);
	move_in(&w, &a, 0, &p);
	w.kernel->vf[0].is.vlan = 100;
	ck_assert_int_eq(rename(TESTHOST_SYS "/devices/pci/" TESTHOST_PF "/net", "/mnt/net"), 0);
	release(&a, 0, p.ns.id);
	ck_assert(is_free(&w, 0));
	ck_assert_int_gt(net_ifindex(w.nl, "v0"), 0);
	ck_assert_int_eq((int)refused(&a, 0).code, ERR_CONFIG);
	ck_assert_int_eq(rename("/mnt/net", TESTHOST_SYS "/devices/pci/" TESTHOST_PF "/net"), 0);
	(void)claim(&a, 0);
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 0);
}
END_TEST

/* First claimed for a virtual machine, then by a pod: there was no interface to note before. */
START_TEST(a_driver_change_refreshes_the_baseline)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);
	struct err e = { .msg = "" };

	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "vfio-pci");
	testhost_shows(0, NULL);
	(void)claim(&a, 0);
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	ck_assert(!x.base.has_netdev);
	ck_assert_int_eq(x.owner.ifindex, 0);
	release(&a, 0, p.ns.id);
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "igbvf");
	testhost_shows(0, "v0");
	(void)claim(&a, 0);
	auto_vf_entry struct vf_entry y = testhost_entry(&w, 0);
	ck_assert(y.base.has_netdev);
	ck_assert_str_eq(y.base.name, "v0");
	move_in(&w, &a, 0, &p);
	ck_assert_int_eq(nl_link_set_mtu(p.nl, net_ifindex(p.nl, "net1"), 1300, &e), 0);
	release(&a, 0, p.ns.id);
	struct link_info link;
	ck_assert_int_eq(nl_link_by_name(w.nl, "v0", &link, &e), 0);
	ck_assert_uint_eq(link.mtu, 1500);
}
END_TEST

/* ---- what is not as it should be ---- */

START_TEST(the_lock_of_a_VF_is_respected)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);
	struct err e = { .msg = "" };

	(void)claim(&a, 0);
	auto_fd int lock = vf_state_lock(&w.ctx, testhost_vf(0), 0, &e);
	ck_assert_int_ge(lock, 0);
	faketime_begin(NULL);
	ck_assert_int_eq((int)refused(&a, 0).code, ERR_AGAIN);
	ck_assert_int_ge(faketime_gone(), VF_STATE_LOCK_MS);
	ck_assert_int_eq(claim_set_ifindex(&w.ctx, testhost_vf(0), &a.key, 5, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_AGAIN);
	ck_assert_int_eq(claim_release(&w.ctx, testhost_vf(0), &a.key, p.ns.id, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_AGAIN);
	ck_assert_int_eq(claim_release_all(&w.ctx, &a.key, p.ns.id, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_AGAIN);
	ck_assert(owned_by(&w, 0, "c1"));
	(void)claim(&a, 1); /* each has its own */
}
END_TEST

START_TEST(a_claim_replaces_a_damaged_entry)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);
	char path[64];

	(void)claim(&a, 0);
	(void)snprintf(path, sizeof(path), TESTHOST_RUN "/vf/%s", testhost_vf(0));
	testing_file(path, 0600, "{");
	release(&a, 0, p.ns.id); /* whose it is cannot be known */
	ck_assert(testhost_log_has("VF state"));
	(void)claim(&a, 0);
	ck_assert(testhost_log_has("starting a new one"));
	ck_assert(owned_by(&w, 0, "c1"));
}
END_TEST

START_TEST(unusable_VFs_are_refused)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);
	struct vf_place place;
	struct err e;

	testhost_shows(0, NULL);
	ck_assert_int_eq((int)refused(&a, 0).code, ERR_BUSY);
	ck_assert_int_eq(claim_vf(&a, TESTHOST_PF, &place, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_CONFIG);
	ck_assert_int_eq(claim_vf(&a, "0000:ff:00.1", &place, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(e.msg, "0000:ff:00.1"));
}
END_TEST

TEST_PROGRAM("sriov/take/claim", a_claim_writes_owner_and_baseline,
	     a_released_VF_can_be_claimed_again, release_without_an_entry_does_nothing,
	     the_owner_of_a_busy_VF_is_named, a_repeated_claim_of_the_owner_succeeds,
	     a_dead_owners_VF_is_restored_before_a_claim, a_reused_netns_path_is_another_owner,
	     a_late_release_changes_nothing, release_of_another_namespace_does_nothing,
	     only_the_owner_sets_the_ifindex, release_all_frees_every_VF_of_an_attachment,
	     a_recreated_VF_has_no_owner, a_late_release_leaves_a_recreated_VF_alone,
	     a_VF_that_is_gone_is_released, a_VF_gone_with_its_PF_is_released,
	     without_a_PF_interface_the_next_claim_restores, a_driver_change_refreshes_the_baseline,
	     the_lock_of_a_VF_is_respected, a_claim_replaces_a_damaged_entry,
	     unusable_VFs_are_refused)

/* SPDX-License-Identifier: Apache-2.0 */
/* A VF becomes an attachment's, and stops being it; pick_test.c has the choice among several. */
#include "sriov/claim/claim.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* A host, two pods, and an attachment in each: a of container c1 in p, b of c2 in q. */
struct fixture {
	struct testhost w;
	struct pod p, q;
	struct claimant a, b;
	struct err e;
};

static void set_up(struct fixture *f, uint32_t vfs)
{
	f->w = testhost(vfs);
	f->p = pod();
	f->q = pod();
	f->a = claimant_of(&f->w, "c1", &f->p);
	f->b = claimant_of(&f->w, "c2", &f->q);
	f->e = (struct err){ .msg = "" };
}

static void tear_down(struct fixture *f)
{
	pod_clear(&f->q);
	pod_clear(&f->p);
	testhost_clear(&f->w);
}
#define auto_fixture auto_clean(tear_down)

/* ---- free, owned, free ---- */

START_TEST(a_claim_writes_owner_and_baseline)
{
	auto_fixture struct fixture f;
	struct link_info link;

	set_up(&f, 2);
	ck_assert_int_eq(nl_link_by_name(f.w.nl, "v1", &link, &f.e), 0);
	const struct vf_place place = claim(&f.a, 1);
	auto_vf_entry struct vf_entry x = testhost_entry(&f.w, 1);
	ck_assert_str_eq(place.vf, testhost_vf(1));
	ck_assert_str_eq(place.pf, TESTHOST_PF);
	ck_assert_uint_eq(place.index, 1);
	ck_assert_str_eq(place.name, "v1");
	ck_assert_str_eq(place.pf_name, "pf0");
	ck_assert(owned_by(&f.w, 1, "c1"));
	ck_assert_uint_eq(x.to_restore, VF_ETHERNET);
	ck_assert_int_eq(x.owner.ifindex, link.ifindex);
	ck_assert(netns_same(x.owner.netns_id, f.p.ns.id));
	ck_assert(x.base.has_netdev);
	ck_assert_str_eq(x.base.name, "v1");
	ck_assert_mem_eq(x.base.addr.byte, link.addr.byte, MAC_LEN);
	ck_assert_uint_eq(x.base.mtu, 1500);
	ck_assert(x.base.up);
}
END_TEST

START_TEST(a_released_VF_can_be_claimed_again)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	release(&f.a, 0, f.p.ns.id);
	ck_assert(is_free(&f.w, 0));
	release(&f.a, 0, f.p.ns.id);
	(void)claim(&f.b, 0);
	ck_assert(owned_by(&f.w, 0, "c2"));
}
END_TEST

START_TEST(release_without_an_entry_does_nothing)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	release(&f.a, 0, f.p.ns.id);
	ck_assert_int_eq(claim_release_all(&f.w.ctx, &f.a.key, f.p.ns.id, &f.e), 0);
	ck_assert_int_eq(claim_set_ifindex(&f.w.ctx, testhost_vf(0), &f.a.key, 5, &f.e), -1);
	ck_assert_int_eq((int)f.e.code, ERR_NOTFOUND);
}
END_TEST

/* ---- somebody else ---- */

START_TEST(the_owner_of_a_busy_VF_is_named)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	f.e = refused(&f.b, 0);
	ck_assert_int_eq((int)f.e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(f.e.msg, testhost_vf(0)));
	ck_assert_ptr_nonnull(strstr(f.e.msg, "c1"));
	ck_assert_ptr_nonnull(strstr(f.e.msg, "net-a"));
	ck_assert_ptr_nonnull(strstr(f.e.msg, "net1"));
	ck_assert_ptr_nonnull(strstr(f.e.detail, f.p.path));
	ck_assert(owned_by(&f.w, 0, "c1"));
}
END_TEST

START_TEST(a_repeated_claim_of_the_owner_succeeds)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	move_in(&f.w, &f.a, 0, &f.p);
	(void)claim(&f.a, 0);
	ck_assert_int_ne(net_ifindex(f.w.nl, "v0"), 0);
	ck_assert(owned_by(&f.w, 0, "c1"));
}
END_TEST

START_TEST(a_dead_owners_VF_is_restored_before_a_claim)
{
	auto_fixture struct fixture f;
	struct link_info link;

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	ck_assert_int_eq(nl_link_set_mtu(f.w.nl, net_ifindex(f.w.nl, "v0"), 1300, &f.e), 0);
	pod_clear(&f.p);
	(void)claim(&f.b, 0);
	ck_assert_int_eq(nl_link_by_name(f.w.nl, "v0", &link, &f.e), 0);
	ck_assert_uint_eq(link.mtu, 1500);
	ck_assert(owned_by(&f.w, 0, "c2"));
}
END_TEST

/* Another namespace under the path of the old one is another pod. */
START_TEST(a_reused_netns_path_is_another_owner)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	f.a.netns_id.ino++;
	(void)claim(&f.a, 0);
	(void)claim(&f.b, 0);
	ck_assert(owned_by(&f.w, 0, "c2"));
}
END_TEST

START_TEST(a_late_release_changes_nothing)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	pod_clear(&f.p);
	(void)claim(&f.b, 0);
	move_in(&f.w, &f.b, 0, &f.q);
	testhost_shows(0, NULL);
	release(&f.a, 0, f.a.netns_id);
	ck_assert_int_eq(claim_release_all(&f.w.ctx, &f.a.key, f.a.netns_id, &f.e), 0);
	ck_assert(owned_by(&f.w, 0, "c2"));
	ck_assert_int_gt(net_ifindex(f.q.nl, "net1"), 0);
}
END_TEST

/* The same container, network and name, but the pod was started anew. */
START_TEST(release_of_another_namespace_does_nothing)
{
	auto_fixture struct fixture f;
	const struct netns_id any = { 0 };

	set_up(&f, 1);
	const struct claimant again = claimant_of(&f.w, "c1", &f.q);
	(void)claim(&f.a, 0);
	release(&again, 0, f.q.ns.id);
	ck_assert(owned_by(&f.w, 0, "c1"));
	ck_assert_int_eq((int)refused(&again, 0).code, ERR_BUSY);
	release(&again, 0, any);
	ck_assert(is_free(&f.w, 0));
}
END_TEST

START_TEST(only_the_owner_sets_the_ifindex)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	ck_assert_int_eq(claim_set_ifindex(&f.w.ctx, testhost_vf(0), &f.b.key, 77, &f.e), -1);
	ck_assert_int_eq((int)f.e.code, ERR_STATE);
	ck_assert_int_eq(claim_set_ifindex(&f.w.ctx, testhost_vf(0), &f.a.key, 77, &f.e), 0);
	auto_vf_entry struct vf_entry x = testhost_entry(&f.w, 0);
	ck_assert_int_eq(x.owner.ifindex, 77);
}
END_TEST

START_TEST(release_all_frees_every_VF_of_an_attachment)
{
	auto_fixture struct fixture f;

	set_up(&f, 3);
	(void)claim(&f.a, 0);
	(void)claim(&f.b, 1);
	(void)claim(&f.a, 2);
	move_in(&f.w, &f.a, 2, &f.p);
	ck_assert_int_eq(claim_release_all(&f.w.ctx, &f.a.key, f.p.ns.id, &f.e), 0);
	ck_assert(is_free(&f.w, 0));
	ck_assert(owned_by(&f.w, 1, "c2"));
	ck_assert(is_free(&f.w, 2));
	ck_assert_int_gt(net_ifindex(f.w.nl, "v2"), 0);
}
END_TEST

/* ---- lives of a VF ---- */

START_TEST(a_recreated_VF_has_no_owner)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	testhost_remake(0, "v0");
	ck_assert_int_eq(nl_link_set_mtu(f.w.nl, net_ifindex(f.w.nl, "v0"), 1300, &f.e), 0);
	(void)claim(&f.b, 0);
	auto_vf_entry struct vf_entry x = testhost_entry(&f.w, 0);
	ck_assert(owned_by(&f.w, 0, "c2"));
	ck_assert_uint_eq(x.base.mtu, 1300);
}
END_TEST

START_TEST(a_late_release_leaves_a_recreated_VF_alone)
{
	auto_fixture struct fixture f;
	struct link_info link;
	char path[64];

	set_up(&f, 1);
	(void)snprintf(path, sizeof(path), TESTHOST_RUN "/vf/%s", testhost_vf(0));
	(void)claim(&f.a, 0);
	testhost_remake(0, "v0");
	ck_assert_int_eq(nl_link_set_mtu(f.w.nl, net_ifindex(f.w.nl, "v0"), 1300, &f.e), 0);
	release(&f.a, 0, f.p.ns.id);
	ck_assert_int_ne(access(path, F_OK), 0); /* that state is of a VF that is gone */
	ck_assert_int_eq(nl_link_by_name(f.w.nl, "v0", &link, &f.e), 0);
	ck_assert_uint_eq(link.mtu, 1300);
}
END_TEST

START_TEST(a_VF_that_is_gone_is_released)
{
	auto_fixture struct fixture f;
	struct vf_entry x;

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	testhost_vanish(0);
	release(&f.a, 0, f.p.ns.id);
	ck_assert_int_eq(vf_state_read(&f.w.ctx, testhost_vf(0), &x, &f.e), -1);
	ck_assert_int_eq((int)f.e.code, ERR_NOTFOUND);
	ck_assert_int_eq((int)refused(&f.a, 0).code, ERR_NOTFOUND);
}
END_TEST

/* Its PF was pulled, or its driver unloaded, while a pod had the VF. */
START_TEST(a_VF_gone_with_its_PF_is_released)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	move_in(&f.w, &f.a, 0, &f.p);
	ck_assert_int_eq(rename(TESTHOST_SYS "/bus/pci/devices", "/mnt/devices"), 0);
	ck_assert_int_eq(mkdir(TESTHOST_SYS "/bus/pci/devices", 0700), 0);
	release(&f.a, 0, f.p.ns.id);
	ck_assert_int_eq(claim_release_all(&f.w.ctx, &f.a.key, f.p.ns.id, &f.e), 0);
	ck_assert_int_eq((int)refused(&f.a, 0).code, ERR_NOTFOUND);
}
END_TEST

/* One look that sees no VF, or no sysfs, is no reason to forget what it has to give back. */
START_TEST(a_VF_that_is_not_seen_is_not_released)
{
	static const char *const hidden[] = { "/bus/pci", "/devices/pci/0000:3b:02.0",
					      "/devices/pci/0000:3b:02.0/physfn",
					      "/devices/pci/" TESTHOST_PF "/net" };
	auto_fixture struct fixture f;
	char path[128];

	set_up(&f, 1);
	ck_assert_str_eq(testhost_vf(0), "0000:3b:02.0");
	(void)claim(&f.a, 0);
	move_in(&f.w, &f.a, 0, &f.p);
	f.w.kernel->vf[0].is.vlan = 100;
	(void)snprintf(f.w.kernel->addr, PCI_STR_LEN, TESTHOST_PF);
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		(void)snprintf(path, sizeof(path), TESTHOST_SYS "%s", hidden[i]);
		ck_assert_int_eq(rename(path, "/mnt/hidden"), 0);
		ck_assert_int_eq(claim_release(&f.w.ctx, testhost_vf(0), &f.a.key, f.p.ns.id, &f.e),
				 -1);
		ck_assert_ptr_nonnull(strstr(f.e.msg, testhost_vf(0)));
		ck_assert_int_eq(rename("/mnt/hidden", path), 0);
		ck_assert(!is_free(&f.w, 0));
	}
	release(&f.a, 0, f.p.ns.id);
	ck_assert(is_free(&f.w, 0));
	ck_assert_uint_eq(f.w.kernel->vf[0].is.vlan, 0);
}
END_TEST

/* The PF's interface has gone elsewhere, and a representor of a VF has not: the VF comes back, its
 * PF's side is restored later. */
START_TEST(without_a_PF_interface_the_next_claim_restores)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	move_in(&f.w, &f.a, 0, &f.p);
	f.w.kernel->vf[0].is.vlan = 100;
	(void)snprintf(f.w.kernel->addr, PCI_STR_LEN, TESTHOST_PF);
	(void)snprintf(f.w.kernel->port, IFNAME_LEN, "pf0vf0");
	ck_assert_int_eq(rename(TESTHOST_SYS "/devices/pci/" TESTHOST_PF "/net", "/mnt/net"), 0);
	release(&f.a, 0, f.p.ns.id);
	ck_assert(is_free(&f.w, 0));
	ck_assert_int_gt(net_ifindex(f.w.nl, "v0"), 0);
	ck_assert_int_eq((int)refused(&f.a, 0).code, ERR_CONFIG);
	ck_assert_int_eq(rename("/mnt/net", TESTHOST_SYS "/devices/pci/" TESTHOST_PF "/net"), 0);
	(void)claim(&f.a, 0);
	ck_assert_uint_eq(f.w.kernel->vf[0].is.vlan, 0);
}
END_TEST

/* First claimed for a virtual machine, then by a pod: there was no interface to note before. */
START_TEST(a_driver_change_refreshes_the_baseline)
{
	auto_fixture struct fixture f;

	set_up(&f, 1);
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "vfio-pci");
	testhost_shows(0, NULL);
	(void)claim(&f.a, 0);
	auto_vf_entry struct vf_entry x = testhost_entry(&f.w, 0);
	ck_assert(!x.base.has_netdev);
	ck_assert_int_eq(x.owner.ifindex, 0);
	release(&f.a, 0, f.p.ns.id);
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "igbvf");
	testhost_shows(0, "v0");
	(void)claim(&f.a, 0);
	auto_vf_entry struct vf_entry y = testhost_entry(&f.w, 0);
	ck_assert(y.base.has_netdev);
	ck_assert_str_eq(y.base.name, "v0");
	move_in(&f.w, &f.a, 0, &f.p);
	ck_assert_int_eq(nl_link_set_mtu(f.p.nl, net_ifindex(f.p.nl, "net1"), 1300, &f.e), 0);
	release(&f.a, 0, f.p.ns.id);
	struct link_info link;
	ck_assert_int_eq(nl_link_by_name(f.w.nl, "v0", &link, &f.e), 0);
	ck_assert_uint_eq(link.mtu, 1500);
}
END_TEST

/* ---- what is not as it should be ---- */

START_TEST(the_lock_of_a_VF_is_respected)
{
	auto_fixture struct fixture f;

	set_up(&f, 2);
	(void)claim(&f.a, 0);
	auto_fd int lock = vf_state_lock(&f.w.ctx, testhost_vf(0), 0, &f.e);
	ck_assert_int_ge(lock, 0);
	faketime_begin(NULL);
	ck_assert_int_eq((int)refused(&f.a, 0).code, ERR_AGAIN);
	ck_assert_int_ge(faketime_gone(), VF_STATE_LOCK_MS);
	ck_assert_int_eq(claim_set_ifindex(&f.w.ctx, testhost_vf(0), &f.a.key, 5, &f.e), -1);
	ck_assert_int_eq((int)f.e.code, ERR_AGAIN);
	ck_assert_int_eq(claim_release(&f.w.ctx, testhost_vf(0), &f.a.key, f.p.ns.id, &f.e), -1);
	ck_assert_int_eq((int)f.e.code, ERR_AGAIN);
	ck_assert_int_eq(claim_release_all(&f.w.ctx, &f.a.key, f.p.ns.id, &f.e), -1);
	ck_assert_int_eq((int)f.e.code, ERR_AGAIN);
	ck_assert(owned_by(&f.w, 0, "c1"));
	(void)claim(&f.a, 1); /* each has its own */
}
END_TEST

START_TEST(a_claim_replaces_a_damaged_entry)
{
	auto_fixture struct fixture f;
	char path[64];

	set_up(&f, 1);
	(void)claim(&f.a, 0);
	(void)snprintf(path, sizeof(path), TESTHOST_RUN "/vf/%s", testhost_vf(0));
	testing_file(path, 0600, "{");
	release(&f.a, 0, f.p.ns.id); /* whose it is cannot be known */
	ck_assert(testhost_log_has("VF state"));
	(void)claim(&f.a, 0);
	ck_assert(testhost_log_has("starting a new one"));
	ck_assert(owned_by(&f.w, 0, "c1"));
}
END_TEST

START_TEST(unusable_VFs_are_refused)
{
	auto_fixture struct fixture f;
	struct vf_place place;

	set_up(&f, 2);
	testhost_shows(0, NULL);
	ck_assert_int_eq((int)refused(&f.a, 0).code, ERR_BUSY);
	ck_assert_int_eq(claim_vf(&f.a, TESTHOST_PF, &place, &f.e), -1);
	ck_assert_int_eq((int)f.e.code, ERR_CONFIG);
	ck_assert_int_eq(claim_vf(&f.a, "0000:ff:00.1", &place, &f.e), -1);
	ck_assert_int_eq((int)f.e.code, ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(f.e.msg, "0000:ff:00.1"));
}
END_TEST

TEST_PROGRAM("sriov/claim/claim", a_claim_writes_owner_and_baseline,
	     a_released_VF_can_be_claimed_again, release_without_an_entry_does_nothing,
	     the_owner_of_a_busy_VF_is_named, a_repeated_claim_of_the_owner_succeeds,
	     a_dead_owners_VF_is_restored_before_a_claim, a_reused_netns_path_is_another_owner,
	     a_late_release_changes_nothing, release_of_another_namespace_does_nothing,
	     only_the_owner_sets_the_ifindex, release_all_frees_every_VF_of_an_attachment,
	     a_recreated_VF_has_no_owner, a_late_release_leaves_a_recreated_VF_alone,
	     a_VF_that_is_gone_is_released, a_VF_gone_with_its_PF_is_released,
	     a_VF_that_is_not_seen_is_not_released, without_a_PF_interface_the_next_claim_restores,
	     a_driver_change_refreshes_the_baseline, the_lock_of_a_VF_is_respected,
	     a_claim_replaces_a_damaged_entry, unusable_VFs_are_refused)

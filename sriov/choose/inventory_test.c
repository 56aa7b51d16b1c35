/* SPDX-License-Identifier: Apache-2.0 */
/* inventory_test.c: the use that is shown for each VF, and devices that disappear meanwhile. */
#include "sriov/choose/inventory.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "sriov/testing/vf.h"

#define OTHER_PF "0000:5e:00.1"

static struct inventory all(const struct testhost *w)
{
	struct inventory v = { 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(inventory_read(&w->ctx, w->nl, &v, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(e.msg, "");
	return v;
}

static enum vf_use use_of(const struct testhost *w, uint32_t n)
{
	auto_vf_view struct vf_view v = { 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(inventory_vf(&w->ctx, w->nl, testhost_vf(n), &v, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(v.addr, testhost_vf(n));
	ck_assert_uint_eq(v.index, n);
	return v.use;
}

static void claim(const struct claimant *who, uint32_t n)
{
	struct vf_place place;
	struct err e = { .msg = "" };

	ck_assert_msg(claim_vf(who, testhost_vf(n), &place, &e) == 0, "%s", e.msg);
}

START_TEST(all_pfs_and_vfs_are_listed)
{
	auto_testhost struct testhost w = testhost(3);
	auto_inventory struct inventory v = { 0 };

	testhost_pf(&(struct testhost_pf){ OTHER_PF, "pf1", 1, 8 });
	fakepci_file(TESTHOST_SYS, testhost_vf(1), "infiniband/mlx5_4/node_type", "1\n");
	w.kernel->vf[2].is.vlan = 77;
	v = all(&w);
	ck_assert_uint_eq(v.n_pfs, 2);
	ck_assert_str_eq(v.pf[0].addr, TESTHOST_PF);
	ck_assert_str_eq(v.pf[0].netdev.name, "pf0");
	ck_assert_int_eq(v.pf[0].netdev.ifindex, net_ifindex(w.nl, "pf0"));
	ck_assert(v.pf[0].netdev.addr.len && v.pf[0].netdev.up);
	ck_assert_uint_eq(v.pf[0].netdev.mtu, 1500);
	ck_assert_int_eq(v.pf[0].pci.numa_node, 1);
	ck_assert_uint_eq(v.pf[0].count.num, 3);
	ck_assert_uint_eq(v.pf[0].count.total, 14);
	ck_assert_uint_eq(v.pf[0].n_vfs, 3);
	for (uint32_t n = 0; n < 3; n++) {
		const char name[] = { 'v', (char)('0' + n), '\0' };

		ck_assert_str_eq(v.pf[0].vf[n].addr, testhost_vf(n));
		ck_assert_uint_eq(v.pf[0].vf[n].index, n);
		ck_assert_str_eq(v.pf[0].vf[n].netdev.name, name);
		ck_assert_str_eq(v.pf[0].vf[n].pci.driver, "igbvf");
		ck_assert_str_eq(v.pf[0].vf[n].rdma, n == 1 ? "mlx5_4" : "");
		ck_assert_int_eq(v.pf[0].vf[n].use, VF_FREE);
		ck_assert_uint_eq(v.pf[0].vf[n].pf_side.has, VF_ETHERNET);
		ck_assert_uint_eq(v.pf[0].vf[n].pf_side.vlan, n == 2 ? 77 : 0);
	}
	ck_assert_str_eq(v.pf[1].netdev.name, "pf1");
	ck_assert_str_eq(v.pf[1].vf[0].netdev.name, "v8");
}
END_TEST

START_TEST(other_functions_are_not_listed)
{
	auto_testhost struct testhost w = testhost(0);
	auto_inventory struct inventory v = { 0 };

	fakepci_function(TESTHOST_SYS, "0000:01:00.0"); /* no SR-IOV */
	fakepci_function(TESTHOST_SYS, "0000:02:00.0"); /* switched off in the firmware */
	fakepci_vfs(TESTHOST_SYS, "0000:02:00.0", (struct fakepci_vfs){ 0, 0, 1, 1 });
	fakepci_function(TESTHOST_SYS, "0000:03:00.0"); /* a GPU */
	fakepci_vfs(TESTHOST_SYS, "0000:03:00.0", (struct fakepci_vfs){ 0, 8, 1, 1 });
	fakepci_file(TESTHOST_SYS, "0000:03:00.0", "class", "0x030200\n");
	v = all(&w);
	ck_assert_uint_eq(v.n_pfs, 1);
	ck_assert_str_eq(v.pf[0].addr, TESTHOST_PF);
	ck_assert_uint_eq(v.pf[0].n_vfs, 0);
}
END_TEST

START_TEST(a_machine_without_pci_has_none)
{
	auto_testhost struct testhost w = testhost(0);
	auto_inventory struct inventory v = { 0 };

	w.ctx.sysfs = "/mnt/nothing";
	v = all(&w);
	ck_assert_uint_eq(v.n_pfs, 0);
}
END_TEST

START_TEST(the_use_of_each_vf_is_told)
{
	auto_testhost struct testhost w = testhost(5);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	auto_inventory struct inventory v = { 0 };

	for (uint32_t n = 0; n < 3; n++)
		claim(&who, n);
	v = all(&w);
	ck_assert_int_eq(v.pf[0].vf[0].use, VF_IN_USE);
	ck_assert_str_eq(v.pf[0].vf[0].entry.owner.key.container, "c1");
	ck_assert_int_eq(v.pf[0].vf[3].use, VF_FREE);
	ck_assert_str_eq(v.pf[0].vf[3].entry.vf, "");

	testhost_shows(1, NULL); /* it is in the pod now, and is still the owner's */
	ck_assert_int_eq(use_of(&w, 1), VF_IN_USE);
	testhost_shows(3, NULL); /* taken by hand */
	ck_assert_int_eq(use_of(&w, 3), VF_OTHER_NETNS);
	fakepci_driver(TESTHOST_SYS, testhost_vf(3), "vfio-pci");
	ck_assert_int_eq(use_of(&w, 3), VF_FREE);
	fakepci_driver(TESTHOST_SYS, testhost_vf(3), NULL);
	ck_assert_int_eq(use_of(&w, 3), VF_FREE);
	testhost_remake(2, "v2"); /* its life has ended, and with it what the VF state says */
	ck_assert_int_eq(use_of(&w, 2), VF_FREE);
	pod_clear(&p);
	ck_assert_int_eq(use_of(&w, 0), VF_OWNER_GONE);
	p = pod();
}
END_TEST

START_TEST(the_entry_of_a_vf_is_read)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	auto_vf_entry struct vf_entry x = { 0 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(vf_state_current(&w.ctx, testhost_vf(0), &x, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	claim(&who, 0);
	ck_assert_int_eq(vf_state_current(&w.ctx, testhost_vf(0), &x, &e), 0);
	ck_assert(x.owned);
	x.owned = false;
	x.to_restore = VF_VLAN;
	ck_assert_int_eq(vf_state_write(&w.ctx, &x, &e), 0);
	ck_assert_int_eq(use_of(&w, 0), VF_UNREPAIRED);
	/* Its driver accepted the change and did not do it. */
	x.has_left = true;
	x.left = x.base;
	x.left.pf_side.vlan = 7;
	x.left.pf_side.trust = true;
	ck_assert_int_eq(vf_state_write(&w.ctx, &x, &e), 0);
	auto_vf_view struct vf_view v = { 0 };
	ck_assert_int_eq(inventory_vf(&w.ctx, w.nl, testhost_vf(0), &v, &e), 0);
	ck_assert_str_eq(v.why, "not restored: vlan, trust");
	testhost_shows(0, NULL);
	ck_assert_int_eq(use_of(&w, 0), VF_OTHER_NETNS);
	memset(x.boot, 'x', CTX_BOOT_ID_LEN);
	ck_assert_int_eq(vf_state_write(&w.ctx, &x, &e), 0);
	vf_entry_clear(&x);
	ck_assert_int_eq(vf_state_current(&w.ctx, testhost_vf(0), &x, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);

	char path[64];
	(void)snprintf(path, sizeof(path), TESTHOST_RUN "/vf/%s", testhost_vf(0));
	testing_file(path, 0600, "{");
	ck_assert_int_eq(vf_state_current(&w.ctx, testhost_vf(0), &x, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_int_eq(use_of(&w, 0), VF_DAMAGED);
}
END_TEST

/* Between two looks. */
START_TEST(what_vanishes_is_left_out)
{
	auto_testhost struct testhost w = testhost(3);
	auto_inventory struct inventory v = { 0 };
	struct vf_view none = { .index = 77 };
	struct pf_view no_pf = { .n_vfs = 77 };
	struct err e = { .msg = "" };

	testhost_vanish(1);
	v = all(&w);
	ck_assert_uint_eq(v.pf[0].count.num, 3);
	ck_assert_uint_eq(v.pf[0].n_vfs, 2);
	ck_assert_uint_eq(v.pf[0].vf[1].index, 2);
	ck_assert_int_eq(inventory_vf(&w.ctx, w.nl, testhost_vf(1), &none, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_uint_eq(none.index, 77);
	ck_assert_int_eq(inventory_vf(&w.ctx, w.nl, TESTHOST_PF, &none, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(inventory_vf(&w.ctx, w.nl, "v0", &none, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "not a PCI address"));
	ck_assert_int_eq(inventory_pf(&w.ctx, w.nl, "0000:77:00.0", &no_pf, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_uint_eq(no_pf.n_vfs, 77);
}
END_TEST

START_TEST(an_interface_that_the_kernel_does_not_know_is_a_name)
{
	auto_testhost struct testhost w = testhost(1);
	auto_vf_view struct vf_view v = { 0 };
	struct err e = { .msg = "" };

	testhost_shows(0, "gone0");
	ck_assert_int_eq(inventory_vf(&w.ctx, w.nl, testhost_vf(0), &v, &e), 0);
	ck_assert_str_eq(v.netdev.name, "gone0");
	ck_assert_int_eq(v.netdev.ifindex, 0);
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(a_pf_is_found_by_name_or_address)
{
	auto_testhost struct testhost w = testhost(1);
	char addr[PCI_STR_LEN] = "";
	struct err e = { .msg = "" };

	ck_assert_int_eq(inventory_find_pf(&w.ctx, "pf0", addr, &e), 0);
	ck_assert_str_eq(addr, TESTHOST_PF);
	ck_assert_int_eq(inventory_find_pf(&w.ctx, "0000:3B:00.0", addr, &e), 0);
	ck_assert_str_eq(addr, TESTHOST_PF);
	ck_assert_str_eq(e.msg, "");

	ck_assert_int_eq(inventory_find_pf(&w.ctx, "v0", addr, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(e.detail, "is a VF of " TESTHOST_PF));
	ck_assert_int_eq(inventory_find_pf(&w.ctx, "nope", addr, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(e.msg, "nope"));
	fakepci_function(TESTHOST_SYS, "0000:01:00.0");
	ck_assert_int_eq(inventory_find_pf(&w.ctx, "0000:01:00.0", addr, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(e.detail, "railctl vf list"));
	ck_assert_str_eq(addr, TESTHOST_PF);
}
END_TEST

START_TEST(each_use_has_a_name)
{
	ck_assert_str_eq(vf_use_name(VF_FREE), "free");
	ck_assert_str_eq(vf_use_name(VF_IN_USE), "in-use");
	ck_assert_str_eq(vf_use_name(VF_OWNER_GONE), "owner-gone");
	ck_assert_str_eq(vf_use_name(VF_UNREPAIRED), "unrepaired");
	ck_assert_str_eq(vf_use_name(VF_OTHER_NETNS), "elsewhere");
	ck_assert_str_eq(vf_use_name(VF_DAMAGED), "damaged");
}
END_TEST

TEST_PROGRAM("inventory", all_pfs_and_vfs_are_listed, other_functions_are_not_listed,
	     a_machine_without_pci_has_none, the_use_of_each_vf_is_told, the_entry_of_a_vf_is_read,
	     what_vanishes_is_left_out, an_interface_that_the_kernel_does_not_know_is_a_name,
	     a_pf_is_found_by_name_or_address, each_use_has_a_name)

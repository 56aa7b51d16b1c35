/* SPDX-License-Identifier: Apache-2.0 */
/* A VF found and looked at. */
#include <errno.h>
#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "sriov/testing/vf.h"

static struct vf_place locate(const struct testhost *w, uint32_t n)
{
	struct vf_place p;
	struct err e = { .msg = "" };

	ck_assert_msg(vf_locate(&w->ctx, w->nl, testhost_vf(n), &p, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(e.msg, "");
	return p;
}

static struct err not_found(const struct testhost *w, const char *addr)
{
	struct vf_place p;
	struct err e = { .msg = "" };

	memset(&p, 0x5a, sizeof(p));
	ck_assert_int_eq(vf_locate(&w->ctx, w->nl, addr, &p, &e), -1);
	ck_assert_int_eq(p.vf[0], 0x5a);
	ck_assert_ptr_nonnull(strstr(e.msg, *addr ? addr : "PCI address"));
	return e;
}

/* ---- where it is ---- */

START_TEST(a_VF_is_found_by_its_address)
{
	auto_testhost struct testhost w = testhost(3);
	struct vf_place p = locate(&w, 2);

	ck_assert_str_eq(p.vf, testhost_vf(2));
	ck_assert_str_eq(p.pf, TESTHOST_PF);
	ck_assert_uint_eq(p.index, 2);
	ck_assert_str_eq(p.name, "v2");
	ck_assert_str_eq(p.driver, "igbvf");
	ck_assert_str_eq(p.pf_name, "pf0");
	ck_assert_int_eq(p.pf_ifindex, net_ifindex(w.nl, "pf0"));
	ck_assert_uint_eq(p.pf_mtu, 1500);
}
END_TEST

START_TEST(an_address_is_accepted_in_any_form)
{
	auto_testhost struct testhost w = testhost(1);
	struct vf_place p;
	struct err e = { .msg = "" };

	ck_assert_int_eq(vf_locate(&w.ctx, w.nl, "0000:3B:02.0", &p, &e), 0);
	ck_assert_str_eq(p.vf, "0000:3b:02.0");
}
END_TEST

START_TEST(a_missing_VF_is_not_found)
{
	auto_testhost struct testhost w = testhost(1);

	ck_assert_int_eq((int)not_found(&w, "0000:ff:00.0").code, ERR_NOTFOUND);
	ck_assert_int_eq((int)not_found(&w, TESTHOST_PF).code, ERR_CONFIG);
	ck_assert_int_eq((int)not_found(&w, "ens3f0").code, ERR_CONFIG);
	ck_assert_int_eq((int)not_found(&w, "").code, ERR_CONFIG);
	ck_assert_int_eq((int)not_found(&w, "../0000:3b:02.0").code, ERR_CONFIG);
}
END_TEST

START_TEST(a_PF_without_an_interface_is_refused)
{
	auto_testhost struct testhost w = testhost(1);
	struct err e;

	ck_assert_int_eq(rename(TESTHOST_SYS "/devices/pci/" TESTHOST_PF "/net", "/mnt/net"), 0);
	e = not_found(&w, testhost_vf(0));
	ck_assert_int_eq((int)e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.msg, TESTHOST_PF));
}
END_TEST

/* Renamed between the look into sysfs and ours. */
START_TEST(a_changed_PF_is_noticed)
{
	auto_testhost struct testhost w = testhost(1);
	auto_netns struct netns here = net_self();
	struct err e = { .msg = "" };

	w.kernel->moved = NULL;
	ck_assert_int_eq(nl_link_move(w.nl, w.kernel->pf_ifindex, &here, "other", &e), 0);
	struct vf_place p;
	ck_assert_int_eq(vf_locate(&w.ctx, w.nl, testhost_vf(0), &p, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_ptr_nonnull(strstr(e.msg, TESTHOST_PF));
}
END_TEST

/* ---- whether it can be had ---- */

START_TEST(unusable_VFs_are_explained)
{
	auto_testhost struct testhost w = testhost(1);
	struct vf_place p = locate(&w, 0);
	struct err e = { .msg = "" };

	ck_assert_int_eq(vf_check_usable(&p, &e), 0);
	testhost_shows(0, NULL);
	p = locate(&w, 0);
	ck_assert_str_eq(p.name, "");
	ck_assert_int_eq(vf_check_usable(&p, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "igbvf"));
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), NULL);
	p = locate(&w, 0);
	ck_assert_int_eq(vf_check_usable(&p, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_STATE);
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "vfio-pci");
	p = locate(&w, 0);
	ck_assert_int_eq(vf_check_usable(&p, &e), 0);
}
END_TEST

START_TEST(userspace_drivers_are_recognised)
{
	static const char *const yes[] = { "vfio-pci",      "uio_pci_generic",   "igb_uio",
					   "mlx5_vfio_pci", "hisi_acc_vfio_pci", "pds-vfio-pci" };
	static const char *const no[] = { "", "igbvf", "mlx5_core", "iavf", "uio" };
	struct vf_place p = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		(void)snprintf(p.driver, sizeof(p.driver), "%s", yes[i]);
		ck_assert_msg(vf_has_userspace_driver(&p), "%s", yes[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
		(void)snprintf(p.driver, sizeof(p.driver), "%s", no[i]);
		ck_assert_msg(!vf_has_userspace_driver(&p), "%s", no[i]);
	}
}
END_TEST

/* ---- what it is like ---- */

START_TEST(a_baseline_has_all_settings)
{
	auto_testhost struct testhost w = testhost(2);
	struct vf_place p = locate(&w, 1);
	struct vf_baseline b;
	struct link_info link;
	struct err e = { .msg = "" };

	w.kernel->vf[1].is.vlan = 55;
	ck_assert_int_eq(nl_link_by_name(w.nl, "v1", &link, &e), 0);
	ck_assert_int_eq(nl_link_altname_add(w.nl, link.ifindex, "one", &e), 0);
	ck_assert_int_eq(nl_link_altname_add(w.nl, link.ifindex, "two", &e), 0);
	ck_assert_int_eq(vf_capture(&w.ctx, w.nl, &p, &b, &e), 0);
	ck_assert(b.has_netdev && b.addr.len && b.up);
	ck_assert_str_eq(b.name, "v1");
	ck_assert_mem_eq(b.addr.byte, link.addr.byte, MAC_LEN);
	ck_assert_uint_eq(b.mtu, 1500);
	ck_assert_str_eq(b.altnames[0], "one");
	ck_assert_str_eq(b.altnames[1], "two");
	ck_assert_str_eq(b.altnames[2], "");
	ck_assert_uint_eq(b.pf_side.has, VF_ETHERNET);
	ck_assert_uint_eq(b.pf_side.vlan, 55);
	ck_assert_int_eq(nl_link_set_down(w.nl, link.ifindex, &e), 0);
	ck_assert_int_eq(vf_capture_netdev(w.nl, &p, &b, &e), 0);
	ck_assert(!b.up);
	ck_assert_str_eq(b.altnames[2], "");
}
END_TEST

START_TEST(surplus_alternative_names_are_not_kept)
{
	auto_testhost struct testhost w = testhost(1);
	struct vf_place p = locate(&w, 0);
	struct vf_baseline b;
	struct err e = { .msg = "" };
	char name[IFNAME_LEN];

	for (int i = 0; i < VF_ALTNAMES_MAX + 2; i++) {
		(void)snprintf(name, sizeof(name), "alt%d", i);
		ck_assert_int_eq(nl_link_altname_add(w.nl, net_ifindex(w.nl, "v0"), name, &e), 0);
	}
	ck_assert_int_eq(vf_capture(&w.ctx, w.nl, &p, &b, &e), 0);
	ck_assert_str_eq(b.altnames[VF_ALTNAMES_MAX - 1], "alt7");
}
END_TEST

START_TEST(a_VF_without_an_interface_is_captured)
{
	auto_testhost struct testhost w = testhost(1);
	struct vf_baseline b;
	struct err e = { .msg = "" };

	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "vfio-pci");
	testhost_shows(0, NULL);
	struct vf_place p = locate(&w, 0);
	ck_assert_int_eq(vf_capture(&w.ctx, w.nl, &p, &b, &e), 0);
	ck_assert(!b.has_netdev);
	ck_assert_uint_eq(b.pf_side.has, VF_ETHERNET);
}
END_TEST

/* Each request of a capture fails once: an error that names the VF, and no half a baseline. */
START_TEST(each_failing_request_is_an_error)
{
	auto_testhost struct testhost w = testhost(1);
	struct vf_place p = locate(&w, 0);
	struct vf_baseline b;
	unsigned n = 0;
	int rc;

	w.kernel->fail_errnum = EIO;
	do {
		struct err e = { .msg = "" };

		w.kernel->requests = 0;
		w.kernel->fail_at = ++n;
		memset(&b, 0x5a, sizeof(b));
		rc = vf_capture(&w.ctx, w.nl, &p, &b, &e);
		ck_assert_int_eq(rc, w.kernel->requests >= n ? -1 : 0);
		if (rc == 0)
			break;
		ck_assert_int_eq(e.errnum, EIO);
		ck_assert_ptr_nonnull(strstr(e.msg, testhost_vf(0)));
		ck_assert_int_eq(b.name[0], 0x5a);
	} while (rc);
	ck_assert_uint_eq(n, 5); /* the interface, its names, its settings, its PF */
}
END_TEST

START_TEST(the_attribute_that_differs_is_told)
{
	static const enum vf_attr each[] = { VF_MAC,      VF_VLAN,  VF_RATE,
					     VF_SPOOFCHK, VF_TRUST, VF_LINK_STATE };
	const struct vf_info is = { .has = VF_ETHERNET, .vlan_proto = VLAN_PROTO_8021Q };
	const struct vf_info others[] = {
		{ .mac = { 0, 0, 0, 0, 0, 1 } },
		{ .vlan = 1 },
		{ .min_rate = 1 },
		{ .spoofchk = true },
		{ .trust = true },
		{ .link_state = VF_LINK_ENABLE },
	};

	ck_assert_int_eq((int)vf_differing(&is, &is), 0);
	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		struct vf_info want = others[i];

		want.has = VF_ETHERNET;
		want.vlan_proto = VLAN_PROTO_8021Q;
		ck_assert_int_eq((int)vf_differing(&is, &want), (int)each[i]);
		want.has = VF_ETHERNET & ~(unsigned)each[i];
		ck_assert_int_eq((int)vf_differing(&is, &want), 0);
		struct vf_info untold = is;
		untold.has &= ~(unsigned)each[i];
		want.has = VF_ETHERNET;
		ck_assert_int_eq((int)vf_differing(&untold, &want), 0);
	}
	const struct vf_info qos = { .has = VF_VLAN, .qos = 1 },
			     max = { .has = VF_RATE, .max_rate = 1 };
	const struct vf_info tag = { .has = VF_VLAN, .vlan = 5, .vlan_proto = VLAN_PROTO_8021Q };
	struct vf_info other = tag;

	ck_assert_int_eq((int)vf_differing(&is, &qos), VF_VLAN);
	other.vlan_proto = 0;
	ck_assert_int_eq((int)vf_differing(&tag, &other), 0);
	other.vlan_proto = VLAN_PROTO_8021AD;
	ck_assert_int_eq((int)vf_differing(&tag, &other), VF_VLAN);
	ck_assert_int_eq((int)vf_differing(&other, &tag), VF_VLAN);
	ck_assert_int_eq((int)vf_differing(&is, &max), VF_RATE);
}
END_TEST

/* ---- memory ---- */

struct look {
	struct testhost *w;
	struct vf_place p;
};

static int look(void *arg, struct err *e)
{
	struct look *l = arg;
	struct vf_baseline b;

	return vf_locate(&l->w->ctx, l->w->nl, "0000:3b:02.0", &l->p, e) ||
			       vf_capture(&l->w->ctx, l->w->nl, &l->p, &b, e)
		       ? -1
		       : 0;
}

START_TEST(survives_each_failing_allocation)
{
	auto_testhost struct testhost w = testhost(1);
	struct look l = { .w = &w };
	struct err e;

	ck_assert_int_eq(nl_link_altname_add(w.nl, net_ifindex(w.nl, "v0"), "one", &e), 0);
	ck_assert_str_eq(alloc_fail_each(look, &l), "ok");
}
END_TEST

TEST_PROGRAM("sriov/vf/look", a_VF_is_found_by_its_address, an_address_is_accepted_in_any_form,
	     a_missing_VF_is_not_found, a_PF_without_an_interface_is_refused,
	     a_changed_PF_is_noticed, unusable_VFs_are_explained, userspace_drivers_are_recognised,
	     a_baseline_has_all_settings, surplus_alternative_names_are_not_kept,
	     a_VF_without_an_interface_is_captured, each_failing_request_is_an_error,
	     the_attribute_that_differs_is_told, survives_each_failing_allocation)

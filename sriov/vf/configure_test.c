/* SPDX-License-Identifier: Apache-2.0 */
/* A VF made ready: each attribute, both MACs of drivers of several minds, and the way into a pod.
 */
#include <errno.h>
#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/net.h"
#include "lib/testing/time.h"
#include "sriov/testing/vf.h"

static const uint8_t admin[MAC_LEN] = { 0x02, 9, 9, 9, 9, 9 };
static const struct vf_request all = {
	.pf_side = { .has = VF_ETHERNET,
		     .mac = { 0x02, 1, 2, 3, 4, 5 },
		     .vlan = 100,
		     .qos = 3,
		     .vlan_proto = VLAN_PROTO_8021AD,
		     .min_rate = 10,
		     .max_rate = 100,
		     .trust = true,
		     .link_state = VF_LINK_DISABLE },
	.mtu = 1300,
};

static struct vf_place locate(const struct testhost *w, uint32_t n)
{
	struct vf_place p;
	struct err e = { .msg = "" };

	ck_assert_msg(vf_locate(&w->ctx, w->nl, testhost_vf(n), &p, &e) == 0, "%s", e.msg);
	return p;
}

static struct link_info link_of(struct nl *nl, const char *name)
{
	struct link_info li;
	struct err e = { .msg = "" };

	ck_assert_msg(nl_link_by_name(nl, name, &li, &e) == 0, "%s", e.msg);
	return li;
}

static void configure(const struct testhost *w, const struct vf_request *want)
{
	const struct vf_place p = locate(w, 0);
	struct err e = { .msg = "" };

	ck_assert_msg(vf_configure(w->nl, &p, want, NULL, &e) == 0, "%s (%s)", e.msg, e.detail);
	ck_assert_str_eq(e.msg, "");
}

static struct err refused(const struct testhost *w, const struct vf_request *want)
{
	const struct vf_place p = locate(w, 0);
	struct err e = { .msg = "" };

	ck_assert_int_eq(vf_configure(w->nl, &p, want, NULL, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, testhost_vf(0)));
	return e;
}

/* ---- attributes ---- */

START_TEST(all_attributes_are_set)
{
	auto_testhost struct testhost w = testhost(2);
	struct vf_info want = all.pf_side;

	configure(&w, &all);
	want.has = VF_ETHERNET;
	ck_assert_int_eq((int)vf_differing(&w.kernel->vf[0].is, &want), 0);
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan_proto, VLAN_PROTO_8021AD);
	ck_assert_mem_eq(link_of(w.nl, "v0").addr.byte, all.pf_side.mac, MAC_LEN);
	ck_assert_uint_eq(link_of(w.nl, "v0").mtu, 1300);
	ck_assert_uint_eq(w.kernel->vf[1].is.vlan, 0);
	ck_assert_uint_eq(link_of(w.nl, "v1").mtu, 1500);
}
END_TEST

START_TEST(an_empty_request_changes_nothing)
{
	auto_testhost struct testhost w = testhost(1);
	const struct vf_place p = locate(&w, 0);
	const struct vf_request none = { .mtu = 0 };
	struct err e = { .msg = "" };

	w.kernel->requests = 0;
	ck_assert_int_eq(vf_configure(w.nl, &p, &none, NULL, &e), 0);
	ck_assert_uint_le(w.kernel->requests, 1); /* its number */
}
END_TEST

START_TEST(a_refusal_is_named_by_its_key)
{
	static const struct {
		enum vf_attr one;
		int errnum;
		uint32_t min_rate;
		const char *key;
	} c[] = { { VF_TRUST, EOPNOTSUPP, 0, "trust: " },
		  { VF_VLAN, EOPNOTSUPP, 0, "vlan: " },
		  { VF_VLAN, EPROTONOSUPPORT, 0, "vlanProto: " },
		  { VF_RATE, EINVAL, 10, "min_tx_rate: " },
		  { VF_RATE, EINVAL, 0, "max_tx_rate: " },
		  { VF_SPOOFCHK, EPERM, 0, "spoofchk: " },
		  { VF_LINK_STATE, EOPNOTSUPP, 0, "link_state: " },
		  { VF_MAC, EINVAL, 0, "mac: " } };
	auto_testhost struct testhost w = testhost(1);

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct vf_request want = all;

		want.pf_side.min_rate = c[i].min_rate;
		w.kernel->refuses[c[i].one] = c[i].errnum;
		struct err e = refused(&w, &want);
		ck_assert_msg(strncmp(e.msg, c[i].key, strlen(c[i].key)) == 0, "%s", e.msg);
		ck_assert_ptr_nonnull(strstr(e.msg, "igbvf"));
		ck_assert_ptr_nonnull(strstr(e.msg, "pf0"));
		ck_assert_int_eq(e.errnum, c[i].errnum);
		w.kernel->refuses[c[i].one] = 0;
	}
}
END_TEST

START_TEST(a_refused_mtu_is_named)
{
	auto_testhost struct testhost w = testhost(1);
	const struct vf_request large = { .mtu = 100000 };
	struct err e = refused(&w, &large);

	ck_assert_ptr_eq(strstr(e.msg, "mtu: "), e.msg);
}
END_TEST

/* A VF of vfio-pci: its PF's side is all there is. */
START_TEST(a_VF_without_an_interface_is_configured)
{
	auto_testhost struct testhost w = testhost(1);

	testhost_shows(0, NULL);
	configure(&w, &all);
	ck_assert_mem_eq(w.kernel->vf[0].is.mac, all.pf_side.mac, MAC_LEN);
	ck_assert_uint_eq(link_of(w.nl, "v0").mtu, 1500);
}
END_TEST

/* ---- the two MACs ---- */

START_TEST(a_driver_that_takes_only_the_MAC_of_its_PF)
{
	auto_testhost struct testhost w = testhost(1);

	w.kernel->mac_is_the_pfs = true;
	memcpy(w.kernel->vf[0].is.mac, admin, MAC_LEN);
	configure(&w, &all);
	ck_assert_mem_eq(link_of(w.nl, "v0").addr.byte, all.pf_side.mac, MAC_LEN);
	ck_assert_mem_eq(w.kernel->vf[0].is.mac, all.pf_side.mac, MAC_LEN);
}
END_TEST

/* Going back: the administrator's MAC and the interface's were different ones. */
START_TEST(release_restores_two_MACs_that_differ)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	const struct link_info was = link_of(w.nl, "v0");
	struct vf_place place;
	struct err e = { .msg = "" };

	memcpy(w.kernel->vf[0].is.mac, admin, MAC_LEN);
	w.kernel->mac_is_the_pfs = true;
	ck_assert_int_eq(claim_vf(&who, testhost_vf(0), &place, &e), 0);
	configure(&w, &all);
	ck_assert_int_eq(claim_release(&w.ctx, testhost_vf(0), &who.key, p.ns.id, &e), 0);
	ck_assert_mem_eq(w.kernel->vf[0].is.mac, admin, MAC_LEN);
	ck_assert_mem_eq(link_of(w.nl, "v0").addr.byte, was.addr.byte, MAC_LEN);
}
END_TEST

/* Trust comes first and goes last. */
START_TEST(a_driver_that_needs_trust_for_a_MAC)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	const struct link_info was = link_of(w.nl, "v0");
	struct vf_place place;
	struct err e = { .msg = "" };

	w.kernel->mac_needs_trust = true;
	ck_assert_int_eq(claim_vf(&who, testhost_vf(0), &place, &e), 0);
	configure(&w, &all);
	ck_assert_mem_eq(link_of(w.nl, "v0").addr.byte, all.pf_side.mac, MAC_LEN);
	ck_assert_int_eq(claim_release(&w.ctx, testhost_vf(0), &who.key, p.ns.id, &e), 0);
	ck_assert_mem_eq(link_of(w.nl, "v0").addr.byte, was.addr.byte, MAC_LEN);
	ck_assert(!w.kernel->vf[0].is.trust && !w.kernel->vf[0].is.mac[5]);
}
END_TEST

/* i40e and ice reset the VF when its PF gives it a MAC: its interface is busy for a while. */
static struct fakepf *kernel;
static void ready(int64_t ms)
{
	if (ms >= 300)
		kernel->link_refuses_mac = 0;
}

START_TEST(a_busy_VF_is_tried_again)
{
	static const int busy[] = { EBUSY, EAGAIN, EPERM, EADDRNOTAVAIL };
	auto_testhost struct testhost w = testhost(1);
	struct vf_request want = all;

	kernel = w.kernel;
	for (size_t i = 0; i < ARRAY_SIZE(busy); i++) {
		want.pf_side.mac[5]++;
		w.kernel->link_refuses_mac = busy[i];
		faketime_begin(ready);
		configure(&w, &want);
		ck_assert_int_ge(faketime_gone(), 300);
		ck_assert_int_lt(faketime_gone(), 400);
		ck_assert_mem_eq(link_of(w.nl, "v0").addr.byte, want.pf_side.mac, MAC_LEN);
		ck_assert_mem_eq(w.kernel->vf[0].is.mac, want.pf_side.mac, MAC_LEN);
	}
}
END_TEST

START_TEST(a_MAC_refused_for_two_seconds_is_an_error)
{
	auto_testhost struct testhost w = testhost(1);
	struct err e;

	w.kernel->link_refuses_mac = EBUSY;
	faketime_begin(NULL);
	e = refused(&w, &all);
	ck_assert_int_ge(faketime_gone(), 2000);
	ck_assert_int_lt(faketime_gone(), 2100);
	ck_assert_ptr_eq(strstr(e.msg, "mac: "), e.msg);
	w.kernel->link_refuses_mac = EINVAL; /* no matter of time */
	faketime_begin(NULL);
	ck_assert_int_eq(refused(&w, &all).errnum, EINVAL);
	ck_assert_int_eq(faketime_gone(), 0);
}
END_TEST

/* ---- into the pod ---- */

static struct vf_target into(const struct testhost *w, const struct pod *p)
{
	return (struct vf_target){ w->nl, p->nl, &p->ns, "net1" };
}

static int keep_name(const char *name, void *arg)
{
	testing_append(arg, 512, name);
	testing_append(arg, 512, " ");
	return 0;
}

static void altname(struct nl *nl, const char *link, const char *name)
{
	struct err e = { .msg = "" };

	ck_assert_msg(nl_link_altname_add(nl, net_ifindex(nl, link), name, &e) == 0, "%s", e.msg);
}

#define LONG_NAME "enp59s0f0v0-a-name-that-no-interface-could-have"

START_TEST(taken_alternative_names_are_dropped)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct vf_place place = locate(&w, 0), other = locate(&w, 1);
	const struct vf_target to = into(&w, &p);
	struct vf_target first = to;
	char names[512] = "";
	struct err e = { .msg = "" };
	int ifindex;

	first.ifname = "busy";
	ck_assert_int_eq(vf_move_to_pod(&other, &first, &ifindex, &e), 0);
	altname(p.nl, "busy", "busy-too");
	altname(p.nl, "busy", LONG_NAME);
	altname(w.nl, "v0", "busy");
	altname(w.nl, "v0", "busy-too");
	altname(w.nl, "v0", LONG_NAME);
	altname(w.nl, "v0", "net1");
	altname(w.nl, "v0", "its-own");
	ck_assert_msg(vf_move_to_pod(&place, &to, &ifindex, &e) == 0, "%s (%s)", e.msg, e.detail);
	ck_assert_str_eq(e.msg, "");
	ck_assert_int_eq(ifindex, net_ifindex(p.nl, "net1"));
	ck_assert_int_eq(nl_link_altnames(p.nl, ifindex, keep_name, names, &e), 0);
	ck_assert_str_eq(names, "its-own ");
}
END_TEST

START_TEST(a_taken_name_is_an_error)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct vf_place place = locate(&w, 0), other = locate(&w, 1);
	const struct vf_target to = into(&w, &p);
	struct err e = { .msg = "" };
	int ifindex = -7;

	altname(w.nl, "v0", "its-own");
	ck_assert_int_eq(vf_move_to_pod(&other, &to, &ifindex, &e), 0);
	ifindex = -7;
	ck_assert_int_eq(vf_move_to_pod(&place, &to, &ifindex, &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_ptr_nonnull(strstr(e.msg, testhost_vf(0)));
	ck_assert_int_eq(ifindex, -7);
	ck_assert_int_gt(link_of(w.nl, "v0").ifindex, 0);
}
END_TEST

START_TEST(one_request_moves_and_renames)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct vf_place place = locate(&w, 0);
	const struct vf_target to = into(&w, &p);
	struct err e = { .msg = "" };
	int ifindex;

	w.kernel->requests = 0;
	ck_assert_int_eq(vf_move_to_pod(&place, &to, &ifindex, &e), 0);
	/* its number, its names, what it is like, the move, its number there */
	ck_assert_uint_le(w.kernel->requests, 5);
}
END_TEST

/* Gone between the look into sysfs and ours. */
START_TEST(a_VF_that_is_gone_before_the_move_is_an_error)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct vf_place place = locate(&w, 0);
	const struct vf_target to = into(&w, &p);
	struct err e = { .msg = "" };
	int ifindex;

	ck_assert_int_eq(nl_link_delete(w.nl, net_ifindex(w.nl, "v0"), &e), 0);
	ck_assert_int_eq(vf_move_to_pod(&place, &to, &ifindex, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	e = (struct err){ .msg = "" };
	ck_assert_int_eq(vf_configure(w.nl, &place, &all, NULL, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_ptr_nonnull(strstr(e.msg, testhost_vf(0)));
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 0);
}
END_TEST

TEST_PROGRAM("sriov/vf/configure", all_attributes_are_set, an_empty_request_changes_nothing,
	     a_refusal_is_named_by_its_key, a_refused_mtu_is_named,
	     a_VF_without_an_interface_is_configured, a_driver_that_takes_only_the_MAC_of_its_PF,
	     a_driver_that_needs_trust_for_a_MAC, release_restores_two_MACs_that_differ,
	     a_busy_VF_is_tried_again, a_MAC_refused_for_two_seconds_is_an_error,
	     taken_alternative_names_are_dropped, a_taken_name_is_an_error,
	     one_request_moves_and_renames, a_VF_that_is_gone_before_the_move_is_an_error)

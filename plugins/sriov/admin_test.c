/* SPDX-License-Identifier: Apache-2.0 */
/* admin_test.c: an administrator acts on a VF while a pod has it. DEL restores the VF all the same.
 */
#include "plugins/sriov/attach.h"

#include <stdio.h>
#include <string.h>

#include "cni/testing/call.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "lib/testing/time.h"
#include "plugins/testing/rdma.h"

#define N 1

struct scene {
	struct testrdma t;
	struct pod p;
	struct link_info was; /* of the VF's interface, before ADD */
	char keys[256];
};

static void scene_clear(struct scene *s)
{
	pod_clear(&s->p);
	testrdma_clear(&s->t);
}
#define auto_scene auto_clean(scene_clear)

static struct scene scene_with(const char *more)
{
	struct scene s = { .t = testrdma(3, RDMA_EXCLUSIVE), .p = pod() };
	struct err e = { .msg = "" };

	(void)snprintf(s.keys, sizeof(s.keys), "\"deviceID\":\"%s\"%s", testhost_vf(N), more);
	good(nl_link_by_name(s.t.w.nl, "v1", &s.was, &e), &e);
	good(testrdma_call(&s.t, CNI_ADD, &s.p, s.keys, &e), &e);
	faketime_begin(NULL);
	return s;
}

static struct scene scene(void)
{
	return scene_with(",\"vlan\":7,\"trust\":\"on\",\"spoofchk\":\"off\","
			  "\"mac\":\"02:00:00:00:00:77\",\"mtu\":1400");
}

/* With the interface of the baseline. */
static void next_pod_gets_nothing(const struct scene *s)
{
	const struct vf_info *is = &s->t.w.kernel->vf[N].is;
	auto_pod struct pod q = pod();
	const struct claimant who = claimant_of(&s->t.w, "c2", &q);
	struct vf_place place;
	struct link_info link;
	struct err e = { .msg = "" };

	good(claim_vf(&who, testhost_vf(N), &place, &e), &e);
	ck_assert_msg(is->vlan == 0 && !is->trust && is->spoofchk, "vlan %u, trust %d", is->vlan,
		      is->trust);
	good(nl_link_by_name(s->t.w.nl, "v1", &link, &e), &e);
	ck_assert(hw_addr_equal(link.addr, s->was.addr));
	ck_assert_uint_eq(link.mtu, 1500);
}

static void del_and_next_pod(const struct scene *s)
{
	struct err e = { .msg = "" };

	good(testrdma_call(&s->t, CNI_DEL, &s->p, s->keys, &e), &e);
	ck_assert_uint_eq(testing_records(&s->t.w.ctx, NULL), 0);
	next_pod_gets_nothing(s);
}

START_TEST(settings_are_changed_at_the_PF)
{
	auto_scene struct scene s = scene();
	struct vf_info *is = &s.t.w.kernel->vf[N].is;

	is->vlan = 9;
	is->qos = 5;
	is->spoofchk = true;
	memset(is->mac, 0x66, MAC_LEN);
	del_and_next_pod(&s);
}
END_TEST

/* A pod cannot change them, and this one asked for none: they are its administrator's. */
START_TEST(settings_that_the_pod_did_not_ask_for_stay)
{
	auto_scene struct scene s = scene_with("");
	struct vf_info *is = &s.t.w.kernel->vf[N].is;
	auto_pod struct pod q = pod();
	const struct claimant who = claimant_of(&s.t.w, "c2", &q);
	struct vf_place place;
	struct err e = { .msg = "" };

	is->vlan = 9;
	good(testrdma_call(&s.t, CNI_DEL, &s.p, s.keys, &e), &e);
	good(claim_vf(&who, testhost_vf(N), &place, &e), &e);
	ck_assert_uint_eq(is->vlan, 9);
	ck_assert(testhost_log_has("changed while it was free: vlan"));
}
END_TEST

/* Beside settings of the pod nothing tells them apart, and the baseline counts. */
START_TEST(settings_beside_those_of_the_pod_go)
{
	auto_scene struct scene s = scene_with(",\"trust\":\"on\"");

	s.t.w.kernel->vf[N].is.vlan = 9;
	del_and_next_pod(&s);
}
END_TEST

START_TEST(the_interface_is_taken_back_by_hand)
{
	static const char *const names[] = { "v1", "stolen0" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_scene struct scene s = scene();
		auto_netns struct netns here = net_self();
		struct err e = { .msg = "" };

		good(nl_link_move(s.p.nl, net_ifindex(s.p.nl, "net1"), &here, names[i], &e), &e);
		del_and_next_pod(&s);
	}
}
END_TEST

START_TEST(the_interface_is_renamed_in_the_pod)
{
	auto_scene struct scene s = scene();
	struct err e = { .msg = "" };

	good(nl_link_move(s.p.nl, net_ifindex(s.p.nl, "net1"), &s.p.ns, "eth9", &e), &e);
	del_and_next_pod(&s);
}
END_TEST

/* Its interface ends with the driver, and comes with it. */
START_TEST(the_driver_is_unbound)
{
	auto_scene struct scene s = scene();
	auto_netns struct netns here = net_self();
	struct err e = { .msg = "" };

	good(nl_link_move(s.p.nl, net_ifindex(s.p.nl, "net1"), &here, "v1", &e), &e);
	testhost_shows(N, NULL);
	fakepci_driver(TESTHOST_SYS, testhost_vf(N), NULL);
	good(testrdma_call(&s.t, CNI_DEL, &s.p, s.keys, &e), &e);
	fakepci_driver(TESTHOST_SYS, testhost_vf(N), "igbvf");
	testhost_shows(N, "v1");
	ck_assert_uint_eq(s.t.w.kernel->vf[N].is.vlan, 0);
}
END_TEST

START_TEST(the_interface_of_the_PF_is_elsewhere)
{
	auto_scene struct scene s = scene();
	struct err e = { .msg = "" };

	ck_assert_int_eq(rename(TESTHOST_SYS "/devices/pci/" TESTHOST_PF "/net", "/mnt/net"), 0);
	good(testrdma_call(&s.t, CNI_DEL, &s.p, s.keys, &e), &e);
	ck_assert_uint_eq(s.t.w.kernel->vf[N].is.vlan, 7);
	ck_assert_int_eq(rename("/mnt/net", TESTHOST_SYS "/devices/pci/" TESTHOST_PF "/net"), 0);
	next_pod_gets_nothing(&s);
}
END_TEST

/* The VF is a new one. */
START_TEST(the_number_of_VFs_is_changed)
{
	auto_scene struct scene s = scene();
	struct vf_info *is = &s.t.w.kernel->vf[N].is;
	auto_netns struct netns here = net_self();
	struct err e = { .msg = "" };

	good(nl_link_move(s.p.nl, net_ifindex(s.p.nl, "net1"), &here, "v1", &e), &e);
	testhost_remake(N, "v1");
	is->vlan = 5;
	good(testrdma_call(&s.t, CNI_DEL, &s.p, s.keys, &e), &e);
	ck_assert_uint_eq(is->vlan, 5);
	ck_assert(!testhost_log_has("its state is lost"));
}
END_TEST

TEST_PROGRAM("plugins/sriov/admin", settings_are_changed_at_the_PF,
	     settings_that_the_pod_did_not_ask_for_stay, settings_beside_those_of_the_pod_go,
	     the_interface_is_taken_back_by_hand, the_interface_is_renamed_in_the_pod,
	     the_driver_is_unbound, the_interface_of_the_PF_is_elsewhere,
	     the_number_of_VFs_is_changed)

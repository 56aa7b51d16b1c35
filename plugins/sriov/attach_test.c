/* SPDX-License-Identifier: Apache-2.0 */
/* attach_test.c: sriov on a host whose VFs have RDMA devices, which move with them. */
#include "plugins/sriov/attach.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cni/testing/call.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/rdma/lock.h"
#include "lib/testing/testing.h"
#include "lib/testing/time.h"
#include "sriov/choose/inventory.h"
#include "plugins/testing/rdma.h"
#include "sriov/testing/requests.h"

#define VF0      "\"deviceID\":\"0000:3b:02.0\""
#define MOVES    VF0 ",\"rdma\":\"exclusive\""
#define RESOURCE "\"resource\":{\"pf\":[\"pf0\"]},\"rdma\":\"exclusive\""

static bool has_net1(const struct pod *p)
{
	struct link_info link;
	struct err e;

	return nl_link_by_name(p->nl, "net1", &link, &e) == 0;
}

static bool is_in(const struct testrdma *t, uint32_t n, const struct pod *p)
{
	return netns_same(testrdma_dev(t, n)->in, p->ns.id);
}

static void answers(const char *piece)
{
	testing_printed_has(TESTRDMA_OUT, piece);
}

/* ---- one pod ---- */

START_TEST(the_RDMA_device_moves_and_comes_back)
{
	auto_testrdma struct testrdma t = testrdma(3, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(testrdma_call(&t, CNI_STATUS, NULL, MOVES, &e), &e);
	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	ck_assert(has_net1(&p) && is_in(&t, 0, &p) && !is_in(&t, 1, &p));
	answers("\"rdma\":{\"mode\":\"exclusive\",\"device\":\"mlx5_0\",\"port\":1,"
		"\"pciID\":\"0000:3b:02.0\",\"charDevices\":[\"/dev/infiniband/uverbs0\","
		"\"/dev/infiniband/umad0\",\"/dev/infiniband/rdma_cm\"]}");
	good(testrdma_call(&t, CNI_CHECK, &p, MOVES, &e), &e);
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
	testrdma_is_restored(&t, 0, "DEL");
	testrdma_is_restored(&t, 1, "DEL");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
}
END_TEST

START_TEST(the_record_names_the_device)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	auto_record struct record r = { 0 };
	const struct record_key key = { "net", "c1", "net1" };
	struct err e = { .msg = "" };

	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	good(record_read(&t.w.ctx, &key, &r, &e), &e);
	ck_assert_str_eq(json_str(json_get(r.device, "rdma")), "mlx5_0");
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
}
END_TEST

START_TEST(without_the_key_no_device_moves)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(testrdma_call(&t, CNI_ADD, &p, VF0, &e), &e);
	ck_assert(has_net1(&p) && !is_in(&t, 0, &p));
	auto_free char *text = testing_printed(TESTRDMA_OUT);
	ck_assert_ptr_null(strstr(text, "rdma"));
	fails(testrdma_call(&t, CNI_CHECK, &p, MOVES, &e), &e, ERR_STATE, "ADD did not move");
	good(testrdma_call(&t, CNI_DEL, &p, VF0, &e), &e);
	testrdma_is_restored(&t, 0, "DEL");
}
END_TEST

/* DEL has no need of the key: it goes by the state of the VF. */
START_TEST(the_key_was_removed_before_DEL)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	good(testrdma_call(&t, CNI_DEL, &p, VF0, &e), &e);
	testrdma_is_restored(&t, 0, "DEL");
}
END_TEST

START_TEST(a_VF_that_the_plugin_chooses)
{
	auto_testrdma struct testrdma t = testrdma(2, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(testrdma_call(&t, CNI_ADD, &p, RESOURCE, &e), &e);
	ck_assert(is_in(&t, 0, &p));
	good(testrdma_call(&t, CNI_CHECK, &p, RESOURCE, &e), &e);
	good(testrdma_call(&t, CNI_DEL, &p, RESOURCE, &e), &e);
	testrdma_is_restored(&t, 0, "DEL");
}
END_TEST

START_TEST(CHECK_compares_the_device)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod(), other = pod();
	struct err e = { .msg = "" };

	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	testrdma_dev(&t, 0)->uverbs = 7;
	fails(testrdma_call(&t, CNI_CHECK, &p, MOVES, &e), &e, ERR_STATE, "uverbs7");
	testrdma_dev(&t, 0)->uverbs = 0;
	testrdma_dev(&t, 0)->in = other.ns.id;
	fails(testrdma_call(&t, CNI_CHECK, &p, MOVES, &e), &e, ERR_STATE,
	      "rdma: RDMA device mlx5_0 is not in the pod");
	testrdma_dev(&t, 0)->in = p.ns.id;
	good(testrdma_call(&t, CNI_CHECK, &p, MOVES, &e), &e);
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
}
END_TEST

/* The state of the VF is gone, damaged, or of another attachment; the VF has another driver. */
START_TEST(CHECK_of_a_VF_that_somebody_changed)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };
	char file[64], away[64];

	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	(void)snprintf(file, sizeof(file), TESTHOST_RUN "/vf/%s", testhost_vf(0));
	(void)snprintf(away, sizeof(away), "/mnt/away");
	ck_assert_int_eq(rename(file, away), 0);
	fails(testrdma_call(&t, CNI_CHECK, &p, MOVES, &e), &e, ERR_STATE, "delete the pod");
	ck_assert_msg(strncmp(e.msg, "rdma: VF 0000:3b:02.0", 21) == 0, "%s", e.msg);
	testing_file(file, 0600, "{");
	fails(testrdma_call(&t, CNI_CHECK, &p, MOVES, &e), &e, ERR_STATE, "delete the pod");
	ck_assert_int_eq(rename(away, file), 0);
	auto_vf_entry struct vf_entry x = testhost_entry(&t.w, 0);
	const char *own = x.owner.key.container;
	x.owner.key.container = "c9";
	good(vf_state_write(&t.w.ctx, &x, &e), &e);
	fails(testrdma_call(&t, CNI_CHECK, &p, MOVES, &e), &e, ERR_STATE, "another attachment");
	x.owner.key.container = own;
	good(vf_state_write(&t.w.ctx, &x, &e), &e);
	good(testrdma_call(&t, CNI_CHECK, &p, MOVES, &e), &e);
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "vfio-pci");
	fails(testrdma_call(&t, CNI_CHECK, &p, MOVES, &e), &e, ERR_STATE, "driver vfio-pci");
}
END_TEST

/*
 * igb: the PF tells the MAC that a VF chose. ADD finds that out by a change, and fails then.
 * Without that on record the MAC would come back as an administrator's, and no pod could change it
 * again.
 */
START_TEST(a_failed_ADD_leaves_no_administrative_MAC)
{
	auto_testrdma struct testrdma t = testrdma(2, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct fakepf_vf *vf = &t.w.kernel->vf[1];
	struct link_info was, now;
	struct err e = { .msg = "" };
	char keys[128];

	t.w.kernel->mac_is_the_pfs = t.w.kernel->tells_own_macs = true;
	good(nl_link_by_name(t.w.nl, "v1", &was, &e), &e);
	memcpy(vf->is.mac, was.addr.byte, MAC_LEN);
	(void)snprintf(keys, sizeof(keys),
		       "\"deviceID\":\"%s\",\"mac\":\"02:00:00:00:00:77\",\"mtu\":60",
		       testhost_vf(1));
	fails(testrdma_call(&t, CNI_ADD, &p, keys, &e), &e, ERR_KERNEL, "mtu");
	good(nl_link_by_name(t.w.nl, "v1", &now, &e), &e);
	ck_assert(hw_addr_equal(now.addr, was.addr));
	ck_assert(!vf->admin);
	testrdma_is_restored(&t, 1, "failed ADD");
}
END_TEST

/* A pod with CAP_NET_ADMIN may have namespaces of its own, and use its devices there. */
START_TEST(the_pod_moved_its_devices_on)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod(), below = pod();
	auto_vf_view struct vf_view v = { 0 };
	struct err e = { .msg = "" };

	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	good(nl_link_move(p.nl, net_ifindex(p.nl, "net1"), &below.ns, "eth5", &e), &e);
	testrdma_dev(&t, 0)->in = below.ns.id;
	faketime_begin(NULL);
	fails(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e, ERR_AGAIN,
	      "the pod moved it on to another network namespace");
	/* The RDMA device is back, but not the interface. */
	auto_netns struct netns here = net_self();
	testrdma_dev(&t, 0)->in = here.id;
	t.hca->moved();
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
	good(inventory_vf(&t.w.ctx, t.w.nl, testhost_vf(0), &v, &e), &e);
	ck_assert_int_eq(v.use, VF_IN_USE);
	ck_assert_str_eq(v.entry.owner.key.container, "c1");
	ck_assert_ptr_nonnull(strstr(v.why, "the pod moved it on"));
	/* The next DEL finds it again in the pod. */
	good(nl_link_move(below.nl, net_ifindex(below.nl, "eth5"), &p.ns, "net1", &e), &e);
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
	testrdma_is_restored(&t, 0, "DEL");
}
END_TEST

/* ---- what is refused ---- */

START_TEST(a_node_in_mode_shared)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_SHARED);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_STATE,
	      "railctl rdma mode exclusive");
	fails(testrdma_call(&t, CNI_STATUS, NULL, MOVES, &e), &e, ERR_UNAVAILABLE,
	      "rdma: this node is in RDMA mode shared");
	good(testrdma_call(&t, CNI_STATUS, NULL, VF0, &e), &e);
	t.hca->absent = true;
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_NOTFOUND, "rdma: ");
	fails(testrdma_call(&t, CNI_STATUS, NULL, MOVES, &e), &e, ERR_UNAVAILABLE, "rdma: ");
	testrdma_is_restored(&t, 0, "refused ADD");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
}
END_TEST

START_TEST(a_VF_without_an_RDMA_device)
{
	auto_testrdma struct testrdma t = testrdma(2, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	testrdma_dev(&t, 0)->gone = true;
	t.hca->moved();
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_NOTFOUND,
	      "0000:3b:02.0 has no RDMA device");
	ck_assert_ptr_nonnull(strstr(e.detail, "railctl rdma list"));
	ck_assert(!has_net1(&p) && !testhost_log_has("is in the pod as net1"));
	testrdma_dev(&t, 0)->gone = false;
	testrdma_is_restored(&t, 0, "refused ADD");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
}
END_TEST

START_TEST(a_driver_of_user_space)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	testhost_shows(0, NULL);
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "vfio-pci");
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_CONFIG,
	      "rdma: \"exclusive\", but VF 0000:3b:02.0 has the driver vfio-pci");
	fails(testrdma_call(&t, CNI_ADD, &p, RESOURCE, &e), &e, ERR_EXHAUSTED, "driver vfio-pci");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
	ck_assert_int_eq(access(TESTHOST_RUN "/vf", F_OK), -1);
}
END_TEST

START_TEST(one_VF_that_cannot_serve_does_not_hide_the_others)
{
	auto_testrdma struct testrdma t = testrdma(3, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	testrdma_dev(&t, 0)->gone = true;
	t.hca->moved();
	testhost_shows(1, NULL);
	fakepci_driver(TESTHOST_SYS, testhost_vf(1), "vfio-pci");
	good(testrdma_call(&t, CNI_ADD, &p, RESOURCE ",\"renumbered\":\"report\"", &e), &e);
	ck_assert(is_in(&t, 2, &p) && has_net1(&p));
	good(testrdma_call(&t, CNI_DEL, &p, RESOURCE, &e), &e);
	testrdma_is_restored(&t, 2, "DEL");
}
END_TEST

/* Another process moves RDMA devices for longer than ADD waits. */
START_TEST(nothing_moves_while_ADD_waits_for_the_node)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };
	auto_fd int lock = rdma_lock(&t.w.ctx, 0, &e);

	ck_assert_int_ge(lock, 0);
	faketime_begin(NULL);
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES ",\"mac\":\"02:00:00:00:00:77\"", &e), &e,
	      ERR_AGAIN, "rdma: another process");
	ck_assert(faketime_gone() >= RDMA_LOCK_MS);
	int64_t before = faketime_gone();
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES ",\"rdmaTimeout\":1", &e), &e, ERR_AGAIN,
	      "rdma: another process");
	ck_assert(faketime_gone() - before >= 1000 && faketime_gone() - before < 5000);
	ck_assert(!testhost_log_has("is in the pod as net1"));
	ck_assert(!testhost_log_has("setting its mac"));
	testrdma_is_restored(&t, 0, "refused ADD");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
}
END_TEST

START_TEST(other_numbers_of_character_devices)
{
	auto_testrdma struct testrdma t = testrdma(3, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	/* A lower number is free: the device gets it, and does not get its own again. */
	testrdma_dev(&t, 0)->uverbs = 9;
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_STATE,
	      "uverbs9 was 231:201, is uverbs0 231:192");
	ck_assert(!has_net1(&p));
	testrdma_is_restored(&t, 0, "failed ADD");
	testrdma_dev(&t, 0)->uverbs = 9;
	t.hca->moved();
	good(testrdma_call(&t, CNI_ADD, &p, MOVES ",\"renumbered\":\"report\"", &e), &e);
	ck_assert(testhost_log_has("is uverbs0 231:192"));
	answers("/dev/infiniband/uverbs0");
	good(testrdma_call(&t, CNI_CHECK, &p, MOVES ",\"renumbered\":\"report\"", &e), &e);
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
	testrdma_is_restored(&t, 0, "DEL");
}
END_TEST

static void no_link_moves(void)
{
	ck_abort_msg("a link moved");
}

/* The kubelet repeats ADD with the devices that it gave the pod before the first one. */
START_TEST(a_pod_is_refused_again)
{
	auto_testrdma struct testrdma t = testrdma(3, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	testrdma_dev(&t, 0)->uverbs = 9;
	t.args = "K8S_POD_UID=7f0c";
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_STATE, "uverbs9");
	t.container = "c2";
	void (*moved)(void) = t.w.kernel->moved;
	t.w.kernel->moved = no_link_moves;
	for (int i = 0; i < 2; i++) {
		fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_STATE,
		      "the pod has uverbs9 231:201");
		ck_assert_ptr_nonnull(strstr(e.msg, "uverbs0 231:192"));
		ck_assert_ptr_nonnull(strstr(e.detail, "Delete the pod"));
		testrdma_is_restored(&t, 0, "refused ADD");
	}
	t.w.kernel->moved = moved;
	/* The numbers are those of before again. */
	testrdma_dev(&t, 0)->uverbs = 9;
	t.hca->moved();
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_STATE, "was 231:201");
	/* A pod that came later. */
	t.args = "K8S_POD_UID=8a11";
	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
	testrdma_is_restored(&t, 0, "DEL");
	/* Without a UID the container counts. */
	testrdma_dev(&t, 0)->uverbs = 9;
	t.hca->moved();
	t.args = "";
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_STATE, "was 231:201");
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_STATE, "the pod has uverbs9");
	good(testrdma_call(&t, CNI_ADD, &p, MOVES ",\"renumbered\":\"report\"", &e), &e);
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
	/* A later ADD of a pod whose numbers were the same. */
	t.container = "c3";
	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
	testrdma_dev(&t, 0)->uverbs = 1;
	t.hca->moved();
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_STATE, "the pod has uverbs0");
}
END_TEST

START_TEST(a_driver_without_namespaces)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	t.hca->refuses_move = EOPNOTSUPP;
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_KERNEL,
	      "rdma: RDMA device mlx5_0 of VF 0000:3b:02.0");
	ck_assert(!has_net1(&p));
	testrdma_is_restored(&t, 0, "failed ADD");
}
END_TEST

/* Linux 7.3 has names in each namespace. */
START_TEST(the_pod_has_a_device_of_that_name)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	t.hca->names_per_netns = true;
	fakehca_add("mlx5_0")->in = p.ns.id;
	fails(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e, ERR_KERNEL, "deviceName");
	testrdma_is_restored(&t, 0, "failed ADD");
}
END_TEST

/* ---- the way back ---- */

START_TEST(the_pods_namespace_is_gone)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	struct pod p = pod();
	struct err e = { .msg = "" };

	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	testrdma_end(&t, &p);
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
	testrdma_is_restored(&t, 0, "DEL");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
}
END_TEST

/* No DEL came for the first pod, and the second one gets the VF. */
START_TEST(the_next_pod_restores_what_a_dead_one_had)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	struct pod p = pod();
	auto_pod struct pod next = pod();
	struct err e = { .msg = "" };

	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	(void)snprintf(testrdma_dev(&t, 0)->link.name, RDMA_NAME_LEN, "mine");
	testrdma_end(&t, &p);
	good(testrdma_call(&t, CNI_ADD, &next, MOVES, &e), &e);
	ck_assert(is_in(&t, 0, &next) && has_net1(&next));
	answers("\"device\":\"mlx5_0\"");
	good(testrdma_call(&t, CNI_DEL, &next, MOVES, &e), &e);
	testrdma_is_restored(&t, 0, "DEL");
}
END_TEST

/* The pod gave its interface away. DEL does not wait for what nothing brings back. */
START_TEST(DEL_does_not_wait_for_an_interface_that_is_elsewhere)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod(), other = pod();
	struct link_info link;
	struct err e = { .msg = "" };

	good(testrdma_call(&t, CNI_ADD, &p, MOVES, &e), &e);
	good(nl_link_by_name(p.nl, "net1", &link, &e) ||
		     nl_link_move(p.nl, link.ifindex, &other.ns, "lost", &e),
	     &e);
	faketime_begin(NULL);
	good(testrdma_call(&t, CNI_DEL, &p, MOVES, &e), &e);
	ck_assert_int_lt(faketime_gone(), 1000);
	ck_assert(!is_in(&t, 0, &p));
}
END_TEST

/* ---- failures ---- */

static int call_mover(const void *host, enum cni_command cmd, const struct pod *p, struct err *e)
{
	return testrdma_call(host, cmd, p, MOVES, e);
}

static void mover_is_restored(const void *host, const char *when)
{
	testrdma_is_restored(host, 0, when);
}

static struct testrequests requests(const struct testrdma *t, bool rdma)
{
	return (struct testrequests){ .host = t,
				      .w = &t->w,
				      .hca = t->hca,
				      .rdma = rdma,
				      .call = call_mover,
				      .is_restored = mover_is_restored };
}

static void fail_each_request(bool rdma)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	const struct testrequests r = requests(&t, rdma);

	ck_assert_uint_gt(testrequests_fail(&r), rdma ? 6 : 10);
}

/* The configuration names no VF, so that it may become another one. */
static int call_again(const void *host, const struct pod *p, struct err *e)
{
	return testrdma_call(host, CNI_ADD, p, RESOURCE, e);
}

static void both_are_restored(const void *host, const char *when)
{
	testrdma_is_restored(host, 0, when);
	testrdma_is_restored(host, 1, when);
}

static void add_again_after_each_kill(enum cni_command cmd, bool rdma)
{
	auto_testrdma struct testrdma t = testrdma(2, RDMA_EXCLUSIVE);
	struct testrequests r = requests(&t, rdma);

	r.again = call_again;
	r.is_restored = both_are_restored;
	ck_assert_uint_gt(testrequests_kill(&r, cmd), 4);
}

static void kill_at_each_request(enum cni_command cmd, bool rdma)
{
	auto_testrdma struct testrdma t = testrdma(1, RDMA_EXCLUSIVE);
	const struct testrequests r = requests(&t, rdma);

	ck_assert_uint_gt(testrequests_kill(&r, cmd), 4);
}

START_TEST(each_request_of_netlink_fails)
{
	fail_each_request(false);
}
END_TEST

START_TEST(each_request_of_RDMA_fails)
{
	fail_each_request(true);
}
END_TEST

#define LEASES ",\"ipam\":{\"type\":\"leases\"}"
#define LEASE  "/mnt/lease"

/* An IPAM whose lease is a file. */
static void add_ipam(void)
{
	ck_assert_int_eq(mkdir(TESTRDMA_BIN, 0755), 0);
	testing_file(
		TESTRDMA_BIN "/leases", 0755,
		"#!/bin/sh\n"
		"case $CNI_COMMAND in\n"
		"ADD) >" LEASE "\n"
		"\techo '{\"cniVersion\":\"1.1.0\",\"ips\":[{\"address\":\"10.1.1.2/24\"}]}' ;;\n"
		"DEL) rm -f " LEASE " ;;\n"
		"esac\n");
}

static bool has_lease(void)
{
	return access(LEASE, F_OK) == 0;
}

/* ADD fails because of the numbers, and then one request of its undo fails: no DEL follows. */
START_TEST(each_request_of_an_undo_fails)
{
	auto_testrdma struct testrdma t = testrdma(3, RDMA_EXCLUSIVE);
	unsigned at = 0;
	bool reached = true;

	add_ipam();
	while (reached) {
		auto_pod struct pod p = pod();
		struct err e = { .msg = "" };

		testrdma_dev(&t, 0)->uverbs = 9;
		t.hca->moved();
		t.hca->requests = 0;
		t.hca->fail_errnum = EIO;
		t.hca->fail_at = ++at;
		ck_assert_int_eq(testrdma_call(&t, CNI_ADD, &p, MOVES LEASES, &e), -1);
		reached = t.hca->requests >= at;
		t.hca->fail_at = 0;
		unsigned records = testing_records(&t.w.ctx, NULL);
		ck_assert_msg(records || !has_lease(), "request %u: a lease without a record", at);
		ck_assert_msg(records || !is_in(&t, 0, &p), "request %u: no record", at);
		good(testrdma_call(&t, CNI_DEL, &p, MOVES LEASES, &e), &e);
		testrdma_is_restored(&t, 0, "DEL");
		ck_assert(!has_lease() && !testing_records(&t.w.ctx, NULL));
	}
	ck_assert_uint_gt(at, 15);
}
END_TEST

START_TEST(ADD_is_killed_at_each_request_of_netlink)
{
	kill_at_each_request(CNI_ADD, false);
}
END_TEST

START_TEST(ADD_is_killed_at_each_request_of_RDMA)
{
	kill_at_each_request(CNI_ADD, true);
}
END_TEST

START_TEST(DEL_is_killed_at_each_request_of_netlink)
{
	kill_at_each_request(CNI_DEL, false);
}
END_TEST

START_TEST(DEL_is_killed_at_each_request_of_RDMA)
{
	kill_at_each_request(CNI_DEL, true);
}
END_TEST

START_TEST(another_ADD_after_a_kill_at_each_request)
{
	add_again_after_each_kill(CNI_ADD, false);
	add_again_after_each_kill(CNI_ADD, true);
	add_again_after_each_kill(CNI_DEL, false);
}
END_TEST

TEST_PROGRAM("plugins/sriov/attach", the_RDMA_device_moves_and_comes_back,
	     the_record_names_the_device, without_the_key_no_device_moves,
	     the_key_was_removed_before_DEL, a_VF_that_the_plugin_chooses,
	     CHECK_compares_the_device, CHECK_of_a_VF_that_somebody_changed,
	     a_failed_ADD_leaves_no_administrative_MAC, the_pod_moved_its_devices_on,
	     a_node_in_mode_shared, a_VF_without_an_RDMA_device, a_driver_of_user_space,
	     one_VF_that_cannot_serve_does_not_hide_the_others,
	     nothing_moves_while_ADD_waits_for_the_node, other_numbers_of_character_devices,
	     a_pod_is_refused_again, a_driver_without_namespaces, the_pod_has_a_device_of_that_name,
	     the_pods_namespace_is_gone, the_next_pod_restores_what_a_dead_one_had,
	     DEL_does_not_wait_for_an_interface_that_is_elsewhere, each_request_of_netlink_fails,
	     each_request_of_RDMA_fails, each_request_of_an_undo_fails,
	     ADD_is_killed_at_each_request_of_netlink, ADD_is_killed_at_each_request_of_RDMA,
	     DEL_is_killed_at_each_request_of_netlink, DEL_is_killed_at_each_request_of_RDMA,
	     another_ADD_after_a_kill_at_each_request)

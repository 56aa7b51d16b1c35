/* SPDX-License-Identifier: Apache-2.0 */
/* ib_attach_test.c: ADD, CHECK and DEL of ib-sriov on a host with fake VFs of InfiniBand. */
#include "plugins/sriov/ib_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cni/testing/call.h"
#include "lib/sys/fs.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "lib/testing/time.h"
#include "plugins/testing/ib.h"
#include "sriov/testing/requests.h"

#define PARTITION ",\"pkey\":\"0x8001\""
#define HOOKS     TESTIB_ETC "/sm.d"
#define SAID      "/mnt/said"
#define VF0       "\"deviceID\":\"0000:3b:02.0\""
#define GUID      "02:00:00:00:00:00:00:0b"
#define GIVEN1                                                                                     \
	"\"deviceID\":\"0000:3b:02.2\",\"link_state\":\"enable\","                                 \
	"\"runtimeConfig\":{\"infinibandGUID\":\"" GUID "\"}"
#define GIVEN VF0 ",\"runtimeConfig\":{\"infinibandGUID\":\"" GUID "\"}"

static struct link_info net1(const struct pod *p)
{
	struct link_info link;
	struct err e = { .msg = "" };

	ck_assert_msg(nl_link_by_name(p->nl, "net1", &link, &e) == 0, "%s", e.msg);
	return link;
}

static struct guid guid(const char *text)
{
	struct guid g;

	ck_assert_int_eq(guid_parse(text, &g), 0);
	return g;
}

START_TEST(a_GUID_that_is_given)
{
	auto_testib struct testib t = testib(2, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(testib_call(&t, CNI_ADD, &p, GIVEN ",\"link_state\":\"enable\",\"mtu\":1400", &e), &e);
	testib_has_guid(&t, guid(GUID));
	ck_assert_uint_eq(*t.rebinds, 1);
	ck_assert_uint_eq(net1(&p).mtu, 1400);
	ck_assert_int_eq(t.w.kernel->vf[0].is.link_state, VF_LINK_ENABLE);
	auto_free char *text = testing_printed(TESTIB_OUT);
	ck_assert_ptr_nonnull(strstr(text, GUID));
	good(testib_call(&t, CNI_CHECK, &p, GIVEN ",\"link_state\":\"enable\"", &e), &e);
	fails(testib_call(&t, CNI_CHECK, &p, GIVEN ",\"link_state\":\"disable\"", &e), &e,
	      ERR_STATE, "link_state");
	t.w.kernel->vf[0].port = testib_guid(1);
	fails(testib_call(&t, CNI_CHECK, &p, GIVEN, &e), &e, ERR_STATE, "ADD gave it " GUID);
	t.w.kernel->vf[0].port = guid(GUID);
	good(testib_call(&t, CNI_DEL, &p, GIVEN, &e), &e);
	testib_is_restored(&t, 0, "DEL");
	testib_is_restored(&t, 1, "DEL");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
}
END_TEST

/* A driver is bound again only for a GUID that the VF does not have. */
START_TEST(a_GUID_that_the_VF_has)
{
	static const char *const keys[] = {
		VF0, VF0 ",\"args\":{\"cni\":{\"guid\":\"50:6b:4b:03:00:00:01:00\",\"n\":[1]}}"
	};
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		auto_pod struct pod p = pod();

		good(testib_call(&t, CNI_ADD, &p, keys[i], &e), &e);
		testib_has_guid(&t, testib_guid(0));
		good(testib_call(&t, CNI_CHECK, &p, keys[i], &e), &e);
		good(testib_call(&t, CNI_DEL, &p, keys[i], &e), &e);
		ck_assert_uint_eq(*t.rebinds, 0);
		testib_is_restored(&t, 0, keys[i]);
	}
}
END_TEST

START_TEST(a_GUID_of_the_pods_name)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(testib_call(&t, CNI_ADD, &p, VF0 ",\"guidFrom\":\"pod\"", &e), &e);
	ck_assert_int_eq(t.w.kernel->vf[0].port.byte[0], 2);
	struct guid first = t.w.kernel->vf[0].port;
	good(testib_call(&t, CNI_DEL, &p, VF0, &e), &e);
	good(testib_call(&t, CNI_ADD, &p, VF0 ",\"guidFrom\":\"pod\"", &e), &e);
	testib_has_guid(&t, first);
	good(testib_call(&t, CNI_DEL, &p, VF0, &e), &e);
	testib_is_restored(&t, 0, "DEL");
}
END_TEST

START_TEST(a_VF_without_a_GUID)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	testib_no_guid(&t, 0);
	fails(testib_call(&t, CNI_ADD, &p, VF0, &e), &e, ERR_STATE,
	      "no usable GUID: 00:00:00:00:00:00:00:00");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
	good(testib_call(&t, CNI_ADD, &p, GIVEN, &e), &e);
	testib_has_guid(&t, guid(GUID));
	/* What it had is unknown: the PF takes the pod's GUID away. */
	good(testib_call(&t, CNI_DEL, &p, GIVEN, &e), &e);
	testib_has_guid(&t, GUID_ALL_ONE);
	fails(testib_call(&t, CNI_ADD, &p, VF0, &e), &e, ERR_STATE,
	      "no usable GUID: ff:ff:ff:ff:ff:ff:ff:ff");
}
END_TEST

/* Nothing says which GUID it had: the PF takes that of the pod away. */
START_TEST(the_state_of_the_VF_is_lost)
{
	auto_testib struct testib t = testib(2, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct fakepf_vf *vf = &t.w.kernel->vf[1];
	char path[64], name[IFNAME_LEN];
	struct err e = { .msg = "" };

	good(testib_call(&t, CNI_ADD, &p, GIVEN1, &e), &e);
	(void)snprintf(path, sizeof(path), TESTHOST_RUN "/vf/%s", testhost_vf(1));
	ck_assert_int_eq(unlink(path), 0);
	good(testib_call(&t, CNI_DEL, &p, GIVEN1, &e), &e);
	ck_assert(guid_equal(vf->is.port_guid, GUID_ALL_ONE));
	ck_assert(!guid_equal(vf->port, guid(GUID)));
	testib_is_restored(&t, 0, "DEL");
	ck_assert_int_eq(vf->is.link_state, VF_LINK_AUTO);
	good(pci_vf_netdev(TESTHOST_SYS, testhost_vf(1), name, &e), &e);
	auto_vf_entry struct vf_entry x = testhost_entry(&t.w, 1);
	ck_assert(!x.owned && !x.to_restore && x.base_lost);
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
}
END_TEST

START_TEST(node_and_port_GUIDs_are_restored_separately)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct fakepf_vf *vf = &t.w.kernel->vf[0];
	struct err e = { .msg = "" };

	vf->is.node_guid = testib_guid(7);
	fakepf_read_guids(0);
	fakepci_file(TESTHOST_SYS, testhost_vf(0), "infiniband/mlx5_0/node_guid",
		     "506b:4b03:0000:0107");
	/* The port has this one already. */
	good(testib_call(&t, CNI_ADD, &p,
			 VF0 ",\"args\":{\"cni\":{\"guid\":\"506b:4b03:0000:0100\"}}", &e),
	     &e);
	good(testib_call(&t, CNI_DEL, &p, VF0, &e), &e);
	ck_assert_uint_eq(*t.rebinds, 0);
	good(testib_call(&t, CNI_ADD, &p, GIVEN, &e), &e);
	testib_has_guid(&t, guid(GUID));
	good(testib_call(&t, CNI_DEL, &p, GIVEN, &e), &e);
	ck_assert(guid_equal(vf->is.node_guid, testib_guid(7)) &&
		  guid_equal(vf->node, testib_guid(7)));
	ck_assert(guid_equal(vf->is.port_guid, testib_guid(0)) &&
		  guid_equal(vf->port, testib_guid(0)));
}
END_TEST

/* A PF that was loaded again does not know the GUIDs that its VFs have. */
START_TEST(a_PF_that_knows_no_GUID)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct fakepf_vf *vf = &t.w.kernel->vf[0];
	struct err e = { .msg = "" };

	vf->is.node_guid = vf->is.port_guid = GUID_ZERO;
	good(testib_call(&t, CNI_ADD, &p, GIVEN, &e), &e);
	testib_has_guid(&t, guid(GUID));
	good(testib_call(&t, CNI_DEL, &p, GIVEN, &e), &e);
	testib_is_restored(&t, 0, "DEL");
}
END_TEST

START_TEST(other_numbers_of_character_devices)
{
	auto_testib struct testib t = testib(3, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	/* A lower number is free: the device gets it, and does not get its own again. */
	testib_dev(&t, 0)->uverbs = 9;
	fails(testib_call(&t, CNI_ADD, &p, GIVEN, &e), &e, ERR_STATE,
	      "uverbs9 was 231:201, is uverbs0 231:192");
	ck_assert_uint_eq(*t.rebinds, 3); /* two attempts, and the restore */
	testib_is_restored(&t, 0, "failed ADD");
	testib_dev(&t, 0)->uverbs = 9;
	good(testib_call(&t, CNI_ADD, &p, GIVEN ",\"renumbered\":\"report\"", &e), &e);
	ck_assert(testhost_log_has("is uverbs0 231:192"));
	good(testib_call(&t, CNI_DEL, &p, GIVEN, &e), &e);
}
END_TEST

START_TEST(a_driver_that_does_not_come_back)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	t.w.kernel->refuses_bind = ENODEV;
	fails(testib_call(&t, CNI_ADD, &p, GIVEN, &e), &e, ERR_KERNEL, "refused");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
	/* The next attachment restores it first. */
	t.w.kernel->refuses_bind = 0;
	good(testib_call(&t, CNI_ADD, &p, GIVEN, &e), &e);
	testib_has_guid(&t, guid(GUID));
	good(testib_call(&t, CNI_DEL, &p, GIVEN, &e), &e);
	testib_is_restored(&t, 0, "DEL");
}
END_TEST

START_TEST(firmware_that_keeps_the_GUID)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	t.w.kernel->keeps_guids = true;
	fails(testib_call(&t, CNI_ADD, &p, GIVEN, &e), &e, ERR_STATE,
	      "its port has the GUID 50:6b:4b:03:00:00:01:00, not " GUID);
	testib_is_restored(&t, 0, "failed ADD");
}
END_TEST

/* ---- isolation ---- */

#define ISOLATED GIVEN ",\"rdmaIsolation\":true"

static void isolated(bool in_pod)
{
	auto_testib struct testib t = testib(2, RDMA_EXCLUSIVE, in_pod);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	testib_pod(&p);
	good(testib_call(&t, CNI_ADD, &p, ISOLATED, &e), &e);
	ck_assert(netns_same(testib_dev(&t, 0)->in, p.ns.id));
	ck_assert_str_eq(net1(&p).parent, testhost_vf(0));
	testib_has_guid(&t, guid(GUID));
	auto_free char *text = testing_printed(TESTIB_OUT);
	ck_assert_ptr_nonnull(strstr(text, "\"exclusive\""));
	ck_assert_ptr_nonnull(strstr(text, "/dev/infiniband/uverbs0"));
	good(testib_call(&t, CNI_CHECK, &p, ISOLATED, &e), &e);
	testib_dev(&t, 0)->uverbs = 7;
	fails(testib_call(&t, CNI_CHECK, &p, ISOLATED, &e), &e, ERR_STATE, "uverbs7");
	good(testib_call(&t, CNI_DEL, &p, ISOLATED, &e), &e);
	testib_is_restored(&t, 0, "DEL");
	testib_is_restored(&t, 1, "DEL");
}

START_TEST(isolation_before_Linux_7)
{
	isolated(false);
}
END_TEST

START_TEST(isolation_since_Linux_7)
{
	isolated(true);
}
END_TEST

START_TEST(isolation_needs_mode_exclusive)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	fails(testib_call(&t, CNI_ADD, &p, ISOLATED, &e), &e, ERR_STATE, "mode shared");
	fails(testib_call(&t, CNI_STATUS, NULL, ISOLATED, &e), &e, ERR_UNAVAILABLE, "mode shared");
	good(testib_call(&t, CNI_STATUS, NULL, GIVEN, &e), &e);
	testib_is_restored(&t, 0, "refused ADD");
}
END_TEST

/* The kernel has moved the RDMA device and the interface to the host. */
START_TEST(the_pods_namespace_is_gone)
{
	auto_testib struct testib t = testib(1, RDMA_EXCLUSIVE, true);
	struct pod p = pod();
	struct err e = { .msg = "" };

	testib_pod(&p);
	good(testib_call(&t, CNI_ADD, &p, ISOLATED, &e), &e);
	fakehca_end(p.ns.id);
	pod_clear(&p);
	good(testib_call(&t, CNI_DEL, &p, ISOLATED, &e), &e);
	testib_is_restored(&t, 0, "DEL");
}
END_TEST

/* The interface died with the namespace. The driver makes another one. */
START_TEST(the_interface_died_with_the_pod)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	struct pod p = pod();
	struct err e = { .msg = "" };

	good(testib_call(&t, CNI_ADD, &p, VF0, &e), &e);
	pod_clear(&p);
	good(testib_call(&t, CNI_DEL, &p, VF0, &e), &e);
	testib_is_restored(&t, 0, "DEL");
	ck_assert_uint_eq(*t.rebinds, 1);
}
END_TEST

static void comes_back(int64_t ms)
{
	(void)ms;
	testhost_shows(0, "dev5");
}

/* The kernel moves the interface to the host: its driver has no need to make another one. */
START_TEST(the_interface_outlived_the_pod)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_netns struct netns here = net_self();
	struct pod p = pod();
	struct err e = { .msg = "" };

	good(testib_call(&t, CNI_ADD, &p, VF0, &e), &e);
	good(nl_link_move(p.nl, net1(&p).ifindex, &here, "dev5", &e), &e);
	testhost_shows(0, NULL);
	pod_clear(&p);
	faketime_begin(comes_back);
	good(testib_call(&t, CNI_DEL, &p, VF0, &e), &e);
	testib_is_restored(&t, 0, "DEL");
	ck_assert_uint_eq(*t.rebinds, 0);
}
END_TEST

/* Its pod moved it on. To bind the driver again would take it from whoever has it. */
START_TEST(the_interface_of_a_living_pod_is_elsewhere)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod(), below = pod();
	struct err e = { .msg = "" };

	good(testib_call(&t, CNI_ADD, &p, VF0, &e), &e);
	good(nl_link_move(p.nl, net1(&p).ifindex, &below.ns, "ib5", &e), &e);
	faketime_begin(NULL);
	good(testib_call(&t, CNI_DEL, &p, VF0, &e), &e);
	ck_assert_uint_eq(*t.rebinds, 0);
	ck_assert_int_gt(net_ifindex(below.nl, "ib5"), 0);
	auto_vf_entry struct vf_entry x = testhost_entry(&t.w, 0);
	ck_assert_uint_eq(x.to_restore & VF_UNREACHABLE, VF_UNREACHABLE);
}
END_TEST

/* ---- failures ---- */

struct lane {
	const char *keys;
	enum rdma_mode mode;
	bool in_pod;
};

static const struct lane lanes[] = {
	{ GIVEN, RDMA_SHARED, false },
	{ ISOLATED, RDMA_EXCLUSIVE, false },
	{ ISOLATED, RDMA_EXCLUSIVE, true },
};

struct lane_host {
	const struct lane *lane;
	struct testib t;
};

static int call_lane(const void *host, enum cni_command cmd, const struct pod *p, struct err *e)
{
	const struct lane_host *h = host;

	return testib_call(&h->t, cmd, p, h->lane->keys, e);
}

static void lane_is_restored(const void *host, const char *when)
{
	testib_is_restored(&((const struct lane_host *)host)->t, 0, when);
}

static void each_request(const struct lane *l, bool rdma, bool kills)
{
	struct lane_host h = { l, testib(1, l->mode, l->in_pod) };
	const struct testrequests r = { .host = &h,
					.w = &h.t.w,
					.hca = h.t.hca,
					.rdma = rdma,
					.begin = testib_pod,
					.call = call_lane,
					.is_restored = lane_is_restored };

	ck_assert_uint_gt(kills ? testrequests_kill(&r, CNI_ADD) : testrequests_fail(&r),
			  rdma ? 3 : 10);
	testib_clear(&h.t);
}

static void fail_each_request(const struct lane *l, bool rdma)
{
	each_request(l, rdma, false);
}

static void kill_at_each_request(const struct lane *l, bool rdma)
{
	each_request(l, rdma, true);
}

START_TEST(each_request_fails_of_netlink_with_a_GUID)
{
	fail_each_request(&lanes[0], false);
}
END_TEST

START_TEST(each_request_fails_of_RDMA_with_a_GUID)
{
	fail_each_request(&lanes[0], true);
}
END_TEST

START_TEST(killed_at_each_request_of_netlink_with_a_GUID)
{
	kill_at_each_request(&lanes[0], false);
}
END_TEST

START_TEST(killed_at_each_request_of_RDMA_with_a_GUID)
{
	kill_at_each_request(&lanes[0], true);
}
END_TEST

START_TEST(each_request_fails_of_netlink_with_isolation_before_Linux_7)
{
	fail_each_request(&lanes[1], false);
}
END_TEST

START_TEST(each_request_fails_of_RDMA_with_isolation_before_Linux_7)
{
	fail_each_request(&lanes[1], true);
}
END_TEST

START_TEST(killed_at_each_request_of_netlink_with_isolation_before_Linux_7)
{
	kill_at_each_request(&lanes[1], false);
}
END_TEST

START_TEST(killed_at_each_request_of_RDMA_with_isolation_before_Linux_7)
{
	kill_at_each_request(&lanes[1], true);
}
END_TEST

START_TEST(each_request_fails_of_netlink_with_isolation_since_Linux_7)
{
	fail_each_request(&lanes[2], false);
}
END_TEST

START_TEST(each_request_fails_of_RDMA_with_isolation_since_Linux_7)
{
	fail_each_request(&lanes[2], true);
}
END_TEST

START_TEST(killed_at_each_request_of_netlink_with_isolation_since_Linux_7)
{
	kill_at_each_request(&lanes[2], false);
}
END_TEST

START_TEST(killed_at_each_request_of_RDMA_with_isolation_since_Linux_7)
{
	kill_at_each_request(&lanes[2], true);
}
END_TEST

static void hook(const char *end)
{
	char text[160];
	struct err e;

	(void)mkdir(TESTIB_ETC, 0755);
	(void)mkdir(HOOKS, 0755);
	(void)snprintf(text, sizeof(text), "#!/bin/sh\ncat >>" SAID "\necho >>" SAID "\n%s\n", end);
	ck_assert_int_eq(fs_replace_at(AT_FDCWD, HOOKS "/10-test", text, false, &e), 0);
	ck_assert_int_eq(chmod(HOOKS "/10-test", 0755), 0);
}

static bool said(const char *word)
{
	auto_free char *text = testing_printed(SAID);

	return strstr(text, word) != NULL;
}

START_TEST(the_subnet_manager_makes_the_port_a_member)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	hook("exit 0");
	good(testib_call(&t, CNI_ADD, &p, GIVEN PARTITION, &e), &e);
	ck_assert(said("\"add\"") && said(GUID) && said("0x8001") && !said("remove"));
	good(testib_call(&t, CNI_DEL, &p, GIVEN PARTITION, &e), &e);
	ck_assert(said("\"remove\""));
	testib_is_restored(&t, 0, "DEL");
	good(testib_call(&t, CNI_ADD, &p, VF0 PARTITION, &e), &e);
	ck_assert(said("50:6b:4b:03:00:00:01:00"));
	good(testib_call(&t, CNI_DEL, &p, VF0 PARTITION, &e), &e);
}
END_TEST

/* ADD fails before it changes the VF. DEL does not depend on the hook: its removal is queued. */
START_TEST(a_hook_that_fails)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	hook("echo no such partition >&2; exit 1");
	fails(testib_call(&t, CNI_ADD, &p, GIVEN PARTITION, &e), &e, ERR_DELEGATE, "pkey");
	ck_assert_uint_eq(*t.rebinds, 0);
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
	hook("exit 0");
	good(testib_call(&t, CNI_ADD, &p, GIVEN PARTITION, &e), &e);
	hook("exit 1");
	good(testib_call(&t, CNI_DEL, &p, GIVEN PARTITION, &e), &e);
	ck_assert(testhost_log_has("the removal is queued"));
	testib_is_restored(&t, 0, "DEL");
}
END_TEST

/* ---- user-space drivers ---- */

START_TEST(a_VF_with_vfio)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	fails(testib_call(&t, CNI_ADD, &p, GIVEN ",\"vfioPciMode\":true", &e), &e, ERR_CONFIG,
	      "has the driver mlx5_core");
	t.w.kernel->unbound(0);
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "vfio-pci");
	good(testib_call(&t, CNI_ADD, &p, GIVEN ",\"vfioPciMode\":true", &e), &e);
	ck_assert(guid_equal(t.w.kernel->vf[0].is.port_guid, guid(GUID)));
	good(testib_call(&t, CNI_DEL, &p, GIVEN, &e), &e);
	ck_assert(guid_equal(t.w.kernel->vf[0].is.port_guid, testib_guid(0)));
	ck_assert_uint_eq(*t.rebinds, 0);
}
END_TEST

START_TEST(a_partition_that_the_port_lacks)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(testib_call(&t, CNI_ADD, &p, VF0 ",\"pkey\":\"0x7fff\"", &e), &e);
	ck_assert(!testhost_log_has("pkey:"));
	good(testib_call(&t, CNI_DEL, &p, VF0, &e), &e);
	good(testib_call(&t, CNI_ADD, &p, VF0 ",\"pkey\":\"0x8001\"", &e), &e);
	ck_assert(testhost_log_has("0x8001 is not in the table"));
	good(testib_call(&t, CNI_DEL, &p, VF0, &e), &e);
}
END_TEST

TEST_PROGRAM("plugins/sriov/ib_attach", a_GUID_that_is_given, a_GUID_that_the_VF_has,
	     a_GUID_of_the_pods_name, a_VF_without_a_GUID, the_state_of_the_VF_is_lost,
	     node_and_port_GUIDs_are_restored_separately, a_PF_that_knows_no_GUID,
	     other_numbers_of_character_devices, a_driver_that_does_not_come_back,
	     firmware_that_keeps_the_GUID, isolation_before_Linux_7, isolation_since_Linux_7,
	     isolation_needs_mode_exclusive, the_pods_namespace_is_gone,
	     the_interface_died_with_the_pod, the_interface_outlived_the_pod,
	     the_interface_of_a_living_pod_is_elsewhere, each_request_fails_of_netlink_with_a_GUID,
	     each_request_fails_of_RDMA_with_a_GUID, killed_at_each_request_of_netlink_with_a_GUID,
	     killed_at_each_request_of_RDMA_with_a_GUID,
	     each_request_fails_of_netlink_with_isolation_before_Linux_7,
	     each_request_fails_of_RDMA_with_isolation_before_Linux_7,
	     killed_at_each_request_of_netlink_with_isolation_before_Linux_7,
	     killed_at_each_request_of_RDMA_with_isolation_before_Linux_7,
	     each_request_fails_of_netlink_with_isolation_since_Linux_7,
	     each_request_fails_of_RDMA_with_isolation_since_Linux_7,
	     killed_at_each_request_of_netlink_with_isolation_since_Linux_7,
	     killed_at_each_request_of_RDMA_with_isolation_since_Linux_7, a_VF_with_vfio,
	     a_partition_that_the_port_lacks, the_subnet_manager_makes_the_port_a_member,
	     a_hook_that_fails)

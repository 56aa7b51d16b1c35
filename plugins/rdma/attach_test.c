/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin as a whole, on a node that lib/testing/hca.h makes up. */
#include <errno.h>
#include <sys/stat.h>
#include <stdio.h>
#include <sys/wait.h>

#include "cni/engine/repair.h"
#include "cni/testing/call.h"
#include "lib/testing/testing.h"
#include "plugins/rdma/taken.h"
#include "lib/testing/net.h"
#include "lib/testing/time.h"
#include "plugins/rdma/attach.h"
#include "plugins/rdma/restore.h"
#include "plugins/testing/call.h"

static void answers(const char *piece)
{
	testing_printed_has(TESTNODE_OUT, piece);
}

/* ---- exclusive ---- */

START_TEST(the_text_in_a_record_stays_the_same)
{
	const struct rdma_taken t = { true, "b", 3, 1, "mlx5_0", "roce0", "uverbs3 231:195",
				      "/d", "x" };
	const struct rdma_taken few = { .bus = "", .name = "n", .pod_name = "n", .uverbs = "" };
	auto_json struct json *all = rdma_taken_json(&t), *least = rdma_taken_json(&few);
	auto_free char *a = json_print(all, false), *b = json_print(least, false);

	ck_assert_str_eq(
		a, "{\"moved\":true,\"bus\":\"b\",\"index\":3,\"port\":1,\"name\":\"mlx5_0\","
		   "\"podName\":\"roce0\",\"uverbs\":\"uverbs3 231:195\",\"deviceInfo\":\"/d\","
		   "\"deviceInfoWas\":\"x\"}");
	ck_assert_str_eq(b, "{\"moved\":false,\"bus\":\"\",\"index\":0,\"port\":0,\"name\":\"n\","
			    "\"podName\":\"n\",\"uverbs\":\"\"}");
}
END_TEST

START_TEST(a_vf_moves_and_comes_back)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 3);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_give(1, &p);
	good(testnode_call(&w, CNI_STATUS, NULL, "", &e), &e);
	good(testnode_call(&w, CNI_ADD, &p, "\"deviceID\":\"0000:3b:02.1\"", &e), &e);
	ck_assert(testnode_in(&w, 1, &p) && testnode_host(&w, 0, "mlx5_0"));
	answers("\"rdma\":{\"mode\":\"exclusive\",\"device\":\"mlx5_1\",\"port\":1,"
		"\"pciID\":\"0000:3b:02.1\",\"charDevices\":[\"/dev/infiniband/uverbs2\","
		"\"/dev/infiniband/umad2\",\"/dev/infiniband/rdma_cm\"]}");
	answers("\"x\":{\"y\":[1]}");
	answers("\"z\":2");
	ck_assert_uint_eq(testnode_records(&w), 1);
	good(testnode_call(&w, CNI_CHECK, &p, "", &e), &e);
	fails(testnode_call(&w, CNI_ADD, &p, "", &e), &e, ERR_BUSY, "run DEL");
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert(testnode_host(&w, 1, "mlx5_1"));
	ck_assert_uint_eq(testnode_records(&w), 0);
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	fails(testnode_call(&w, CNI_CHECK, &p, "", &e), &e, ERR_STATE, "net1");
}
END_TEST

START_TEST(without_a_device_id_the_interface_names_the_device)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 2);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_give(0, &p);
	fails(testnode_call(&w, CNI_ADD, &p, "\"deviceID\":\"0000:3b:02.1\"", &e), &e, ERR_CONFIG,
	      "deviceID: \"0000:3b:02.1\" is not the device of interface net1");
	ck_assert_uint_eq(testnode_records(&w), 0);
	good(testnode_call(&w, CNI_ADD, &p, "\"mode\":\"exclusive\"", &e), &e);
	ck_assert(testnode_in(&w, 0, &p));
}
END_TEST

START_TEST(the_device_is_renamed_in_the_pod)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, "\"deviceName\":\"roce0\"", &e), &e);
	answers("\"device\":\"roce0\"");
	ck_assert_str_eq(w.hca->dev[1].link.name, "roce0");
	good(testnode_call(&w, CNI_CHECK, &p, "", &e), &e);
	(void)strcpy(w.hca->dev[1].link.name, "other");
	fails(testnode_call(&w, CNI_CHECK, &p, "", &e), &e, ERR_STATE, "is called other now");
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert(testnode_host(&w, 0, "mlx5_0"));
}
END_TEST

/* Linux 7.3: the pod has a device of that name; a taken name on the host on the way back. */
START_TEST(a_name_that_is_taken_in_the_pod_is_refused)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 2);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	w.hca->names_per_netns = true;
	testnode_give(0, &p);
	w.hca->dev[2].in = p.ns.id;
	(void)strcpy(w.hca->dev[2].link.name, "mlx5_0");
	fails(testnode_call(&w, CNI_ADD, &p, "", &e), &e, ERR_KERNEL, "deviceName");
	ck_assert(testnode_host(&w, 0, "mlx5_0"));
	good(testnode_call(&w, CNI_ADD, &p, "\"deviceName\":\"roce0\"", &e), &e);
	ck_assert(testnode_in(&w, 0, &p));
	ck_assert_str_eq(w.hca->dev[1].link.name, "roce0");
	/* Another one on the host is called so by now. */
	(void)strcpy(w.hca->dev[0].link.name, "roce0");
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert(testnode_host(&w, 0, "mlx5_0"));
}
END_TEST

START_TEST(renumbered_character_devices_are_reported)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 3);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_give(1, &p);
	w.hca->dev[1].gone = true; /* uverbs1 is free: mlx5_1 would get it in place of uverbs2 */
	fails(testnode_call(&w, CNI_ADD, &p, "", &e), &e, ERR_STATE,
	      "uverbs2 was 231:194, is uverbs1 231:193");
	/* The runtime tries again, with the devices that the pod had before the first ADD. */
	fails(testnode_call(&w, CNI_ADD, &p, "", &e), &e, ERR_STATE, "the pod has uverbs2");
	ck_assert(testnode_host(&w, 1, "mlx5_1"));
	ck_assert_uint_eq(testnode_records(&w), 0);
	w.hca->dev[2].uverbs = 2;
	good(testnode_call(&w, CNI_ADD, &p, "\"renumbered\":\"report\"", &e), &e);
	answers("/dev/infiniband/uverbs1");
	good(testnode_call(&w, CNI_CHECK, &p, "", &e), &e);
	w.hca->dev[2].uverbs = 7;
	fails(testnode_call(&w, CNI_CHECK, &p, "", &e), &e, ERR_STATE, "uverbs7");
}
END_TEST

START_TEST(a_driver_without_namespaces_is_explained)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_give(0, &p);
	w.hca->refuses_move = EOPNOTSUPP;
	fails(testnode_call(&w, CNI_ADD, &p, "", &e), &e, ERR_KERNEL, "RDMA device mlx5_0");
	ck_assert_uint_eq(testnode_records(&w), 0);
}
END_TEST

START_TEST(a_device_in_another_namespace_is_refused)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 2);
	struct testpod p = testpod("c1"), q = testpod("c2");
	struct err e = { 0 };

	testnode_give(0, &p);
	testnode_give(1, &q);
	good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
	w.hca->dev[2].in = p.ns.id;
	w.hca->moved();
	fails(testnode_call(&w, CNI_ADD, &q, "", &e), &e, ERR_NOTFOUND, "another pod");
	ck_assert_uint_eq(testnode_records(&w), 1);
}
END_TEST

/* ---- the way back ---- */

START_TEST(a_device_returns_when_its_namespace_is_gone)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, "\"deviceName\":\"roce0\"", &e), &e);
	testpod_end(&p);
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert(testnode_host(&w, 0, "mlx5_0"));
	ck_assert_uint_eq(testnode_records(&w), 0);
}
END_TEST

static struct netns_id going;

static void kernel_is_done(void)
{
	if (faketime_gone() > 3000)
		fakehca_end(going);
}

START_TEST(a_device_is_waited_for)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
	going = p.ns.id;
	netns_close(&p.ns);
	fails(testnode_call(&w, CNI_DEL, &p, "", &e), &e, ERR_AGAIN, "is not back");
	ck_assert_int_ge(faketime_gone(), 10000);
	ck_assert_int_le(faketime_gone(), 11000);
	ck_assert_uint_eq(testnode_records(&w), 1);
	faketime_begin(NULL);
	w.hca->waited = kernel_is_done;
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert_int_le(faketime_gone(), 4000);
	ck_assert_uint_eq(testnode_records(&w), 0);
}
END_TEST

START_TEST(a_removed_device_is_success)
{
	for (int i = 0; i < 3; i++) {
		struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
		struct testpod p = testpod("c1");
		struct err e = { 0 };

		testnode_give(0, &p);
		good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
		netns_close(&p.ns);
		w.hca->dev[1].gone = true;
		if (i == 0)
			ck_assert_int_eq(
				rename(TESTNODE_SYS "/devices/pci/0000:3b:02.0", "/mnt/no"), 0);
		else if (i == 1)
			ck_assert_int_eq(unlink(TESTNODE_SYS "/devices/pci/0000:3b:02.0/driver"),
					 0);
		else
			w.hca->absent = true;
		good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
		ck_assert_int_eq(faketime_gone(), 0);
		fakehca_stop();
	}
}
END_TEST

/* Not by us, but by whoever is in the pod: it is brought by us, or by the kernel. */
START_TEST(a_device_renamed_by_its_pod_gets_its_name_back)
{
	for (int dies = 0; dies < 2; dies++) {
		struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
		struct testpod p = testpod("c1");
		struct err e = { 0 };

		testnode_give(0, &p);
		good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
		(void)snprintf(w.hca->dev[1].link.name, RDMA_NAME_LEN, "mine");
		if (dies)
			fakehca_end(p.ns.id);
		good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
		ck_assert(testnode_host(&w, 0, "mlx5_0"));
		fakehca_stop();
	}
}
END_TEST

/* The RDMA driver has gone, that of the interface has not; no character device is left. */
START_TEST(an_unloaded_driver_is_success)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
	w.hca->dev[1].gone = true;
	fails(testnode_call(&w, CNI_DEL, &p, "", &e), &e, ERR_AGAIN, "is not back");
	w.hca->moved();
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert_uint_eq(testnode_records(&w), 0);
}
END_TEST

#define INFO "\"runtimeConfig\":{\"CNIDeviceInfoFile\":\"/run/k8s.cni.cncf.io/devinfo/info.json\"}"

/* Its namespace has gone, and the new one has its number. */
START_TEST(a_second_ADD_without_DEL_restores_first)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { 0 };
	struct stat st;

	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, INFO, &e), &e);
	fakehca_end(p.ns.id);
	good(testnode_call(&w, CNI_ADD, &p, INFO, &e), &e);
	ck_assert(testnode_in(&w, 0, &p));
	good(testnode_call(&w, CNI_DEL, &p, INFO, &e), &e);
	ck_assert(testnode_host(&w, 0, "mlx5_0"));
	ck_assert_int_eq(stat("/run/k8s.cni.cncf.io/devinfo/info.json", &st), -1);
}
END_TEST

START_TEST(the_folder_of_a_killed_DEL_is_removed)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { 0 };
	struct stat st;

	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert_int_eq(mkdir(TESTNODE_RUN "/rdma/attachments/rails", 0700), 0);
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert_int_eq(stat(TESTNODE_RUN "/rdma/attachments/rails", &st), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(gc_restores_what_is_not_in_the_list)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 2);
	struct testpod p = testpod("c1"), q = testpod("c2");
	struct err e = { 0 };

	testnode_give(0, &p);
	testnode_give(1, &q);
	good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
	good(testnode_call(&w, CNI_ADD, &q, "", &e), &e);
	good(testnode_call(&w, CNI_GC, NULL, "", &e), &e);
	ck_assert_uint_eq(testnode_records(&w), 2);
	good(testnode_call(&w, CNI_GC, NULL,
			   "\"cni.dev/valid-attachments\":[{\"containerID\":\"c2\",\"ifname\":"
			   "\"net1\"}]",
			   &e),
	     &e);
	ck_assert(testnode_host(&w, 0, "mlx5_0") && testnode_in(&w, 1, &q));
	ck_assert_uint_eq(testnode_records(&w), 1);
}
END_TEST

START_TEST(repair_restores_without_a_call)
{
	static const struct attach_restore_type own[] = { { "rdma", rdma_restore_placed }, { 0 } };
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct record_key key = { "rails", "c1", "net1" };
	struct record_place place;
	struct repair_view v;
	struct err e = { 0 };

	ck_assert_int_eq(rdma_place(&w.ctx, &place, &e), 0);
	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
	struct repair_opts how = { .others = own };

	good(repair_one(&place.ctx, &key, &how, &v, &e), &e);
	ck_assert_int_eq(v.state, REPAIR_HEALTHY);
	ck_assert(testnode_in(&w, 0, &p));
	/* Its interface has gone from it, and nobody calls DEL: its pod may still use the device.
	 */
	auto_nl struct nl *nl = net_socket_in(&p.ns);
	ck_assert_int_eq(nl_link_delete(nl, net_ifindex(nl, "net1"), &e), 0);
	good(repair_one(&place.ctx, &key, &how, &v, &e), &e);
	ck_assert_int_eq(v.state, REPAIR_LINK_GONE);
	ck_assert(testnode_in(&w, 0, &p));
	how.force = true;
	good(repair_one(&place.ctx, &key, &how, &v, &e), &e);
	ck_assert(testnode_host(&w, 0, "mlx5_0"));
	ck_assert_uint_eq(testnode_records(&w), 0);
}
END_TEST

/* What a DEL that was killed has begun is finished without force, although the pod lives. */
START_TEST(repair_finishes_a_killed_DEL)
{
	static const struct attach_restore_type own[] = { { "rdma", rdma_restore_placed }, { 0 } };
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	const struct record_key key = { "rails", "c1", "net1" };
	const struct repair_opts how = { .others = own };
	struct record_place place;
	struct repair_view v;
	struct err e = { 0 };
	int status;

	ck_assert_int_eq(rdma_place(&w.ctx, &place, &e), 0);
	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
	w.hca->requests = 0;
	w.hca->fail_at = 1;
	w.hca->fail_errnum = 0;
	pid_t child = fork();
	if (child == 0)
		_exit(testnode_call(&w, CNI_DEL, &p, "", &e) + 2);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	w.hca->fail_at = 0;
	ck_assert(testnode_in(&w, 0, &p));
	good(repair_one(&place.ctx, &key, &how, &v, &e), &e);
	ck_assert_int_eq(v.state, REPAIR_UNFINISHED);
	ck_assert(testnode_host(&w, 0, "mlx5_0"));
	ck_assert_uint_eq(testnode_records(&w), 0);
}
END_TEST

START_TEST(CHECK_after_a_change_of_mode_fails)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
	w.hca->mode = RDMA_SHARED;
	fails(testnode_call(&w, CNI_CHECK, &p, "", &e), &e, ERR_STATE, "mode shared now");
}
END_TEST

/* ---- shared ---- */

START_TEST(a_macvlan_shares_the_device_of_its_master)
{
	struct testnode w = testnode(RDMA_SHARED, 1);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_macvlan(&p);
	fails(testnode_call(&w, CNI_ADD, &p, "\"timeout\":2", &e), &e, ERR_STATE,
	      "does not carry 10.88.0.5 of net1");
	ck_assert_int_ge(faketime_gone(), 2000);
	ck_assert_uint_eq(testnode_records(&w), 0);
	testnode_gid(&w, 4, "10.88.0.5", "IB/RoCE v1");
	fails(testnode_call(&w, CNI_ADD, &p, "\"timeout\":2", &e), &e, ERR_STATE,
	      "its GID 4 is that address, of type RoCE v1");
	testnode_gid(&w, 5, "10.88.0.5", "RoCE v2");
	good(testnode_call(&w, CNI_ADD, &p, "\"deviceID\":\"17\"", &e), &e);
	answers("\"rdma\":{\"mode\":\"shared\",\"device\":\"mlx5_pf\",\"port\":1,"
		"\"pciID\":\"0000:3b:00.0\",\"gids\":[{\"index\":5,"
		"\"gid\":\"0000:0000:0000:0000:0000:ffff:0a58:0005\",\"address\":\"10.88.0.5\","
		"\"type\":\"RoCE v2\"}]");
	good(testnode_call(&w, CNI_CHECK, &p, "", &e), &e);
	testnode_gid(&w, 5, "10.88.0.6", "RoCE v2");
	fails(testnode_call(&w, CNI_CHECK, &p, "", &e), &e, ERR_STATE, "does not carry");
	testing_replace(TESTNODE_RUN "/rdma/attachments/rails/c1,net1", "\"port\":1", "\"port\":2");
	fails(testnode_call(&w, CNI_CHECK, &p, "", &e), &e, ERR_STATE,
	      "port 1, ADD found mlx5_pf port 2");
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert_uint_eq(testnode_records(&w), 0);
}
END_TEST

START_TEST(the_wrong_mode_of_the_node_is_explained)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_macvlan(&p);
	fails(testnode_call(&w, CNI_ADD, &p, "", &e), &e, ERR_STATE, "cannot serve both");
	fails(testnode_call(&w, CNI_ADD, &p, "\"mode\":\"shared\"", &e), &e, ERR_STATE,
	      "railctl rdma mode shared");
	fails(testnode_call(&w, CNI_STATUS, NULL, "\"mode\":\"shared\"", &e), &e, ERR_UNAVAILABLE,
	      "mode exclusive");
	w.hca->mode = RDMA_SHARED;
	fails(testnode_call(&w, CNI_ADD, &p, "\"mode\":\"exclusive\"", &e), &e, ERR_STATE,
	      "railctl rdma mode exclusive");
	fails(testnode_call(&w, CNI_ADD, &p, "\"deviceName\":\"a\"", &e), &e, ERR_STATE,
	      "deviceName");
	w.hca->absent = true;
	fails(testnode_call(&w, CNI_STATUS, NULL, "", &e), &e, ERR_UNAVAILABLE, "no RDMA");
	ck_assert_uint_eq(testnode_records(&w), 0);
}
END_TEST

/* ---- every request fails once; the plugin is killed at every request once ---- */

static const char all_keys[] = "\"deviceName\":\"roce0\",\"runtimeConfig\":{\"CNIDeviceInfoFile\":"
			       "\"/run/k8s.cni.cncf.io/devinfo/a/info\"}";

static bool all_is_as_before(const struct testnode *w)
{
	struct stat st;

	return testnode_host(w, 0, "mlx5_0") && testnode_records(w) == 0 &&
	       stat("/run/k8s.cni.cncf.io/devinfo/a/info", &st);
}

START_TEST(each_failing_request_leaves_nothing)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	unsigned n = 1;

	testnode_give(0, &p);
	for (;; n++) {
		struct err e = { 0 };

		w.hca->requests = 0;
		w.hca->fail_at = n;
		w.hca->fail_errnum = EIO;
		int rc = testnode_call(&w, CNI_ADD, &p, all_keys, &e);
		w.hca->fail_at = 0;
		if (rc == 0)
			break;
		ck_assert_msg(all_is_as_before(&w), "request %u: %s", n, e.msg);
	}
	ck_assert_uint_gt(n, 10);
	ck_assert(testnode_in(&w, 0, &p));
}
END_TEST

START_TEST(a_kill_at_each_request_is_undone_by_DEL)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	bool whole = false;

	testnode_give(0, &p);
	for (unsigned n = 1; !whole; n++) {
		struct err e = { 0 };
		pid_t child;
		int status;

		w.hca->requests = 0;
		w.hca->fail_at = n;
		w.hca->fail_errnum = 0;
		child = fork();
		if (child == 0) {
			w.hca->fail_at = testnode_call(&w, CNI_ADD, &p, all_keys, &e) ? 999 : 0;
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(status == 0 && w.hca->fail_at != 999);
		whole = w.hca->fail_at == 0;
		w.hca->fail_at = 0;
		w.hca->moved();
		good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
		ck_assert_msg(all_is_as_before(&w), "killed at request %u", n);
	}
}
END_TEST

/* ---- behind a plugin that moves the device itself ---- */

/* The record of that plugin. libcni passes no key "rdma" of its result on. */
static void record_mover(const struct testnode *w, const struct testpod *p, const char *plugin,
			 const char *rdma)
{
	auto_json struct json *device = json_new_object();
	struct record r = { .key = { "rails", p->name, "net1" },
			    .plugin = plugin,
			    .kind = "",
			    .netns = p->path,
			    .netns_id = p->ns.id,
			    .master = "pf0",
			    .cni_path = "",
			    .args = "",
			    .device = device };
	struct err e = { .msg = "" };

	ck_assert_int_eq(json_add_str(device, "vf", testnode_vf(0)), 0);
	ck_assert_int_eq(json_add_str(device, "rdma", rdma), 0);
	good(ctx_boot_id(&w->ctx, r.boot, &e) || record_write(&w->ctx, &r, &e), &e);
}

START_TEST(a_device_that_an_earlier_plugin_moved_is_refused)
{
	static const char *const movers[] = { "sriov", "ib-sriov" };
	struct testnode w = testnode(RDMA_EXCLUSIVE, 2);
	struct testpod p = testpod("c1");
	struct err e = { 0 };

	testnode_give(0, &p);
	for (size_t i = 0; i < ARRAY_SIZE(movers); i++) {
		record_mover(&w, &p, movers[i], "mlx5_0");
		fails(testnode_call(&w, CNI_ADD, &p, "", &e), &e, ERR_CONFIG,
		      "has moved the RDMA device mlx5_0 into the pod");
		ck_assert_ptr_nonnull(strstr(e.msg, movers[i]));
		ck_assert_ptr_nonnull(strstr(e.detail, "remove the plugin rdma"));
		ck_assert_uint_eq(testnode_records(&w), 0);
		good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	}
	/* A record that an earlier pod of that name left. */
	p.ns.id.ino++;
	record_mover(&w, &p, "sriov", "mlx5_0");
	p.ns.id.ino--;
	good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	/* It moved the interface only. */
	record_mover(&w, &p, "sriov", NULL);
	good(testnode_call(&w, CNI_ADD, &p, "", &e), &e);
	good(testnode_call(&w, CNI_CHECK, &p, "", &e), &e);
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert(testnode_host(&w, 0, "mlx5_0"));
}
END_TEST

TEST_PROGRAM("rdma", the_text_in_a_record_stays_the_same, a_vf_moves_and_comes_back,
	     without_a_device_id_the_interface_names_the_device, the_device_is_renamed_in_the_pod,
	     a_name_that_is_taken_in_the_pod_is_refused, renumbered_character_devices_are_reported,
	     a_driver_without_namespaces_is_explained, a_device_in_another_namespace_is_refused,
	     a_device_returns_when_its_namespace_is_gone, a_device_is_waited_for,
	     a_removed_device_is_success, a_device_renamed_by_its_pod_gets_its_name_back,
	     an_unloaded_driver_is_success, a_second_ADD_without_DEL_restores_first,
	     the_folder_of_a_killed_DEL_is_removed, gc_restores_what_is_not_in_the_list,
	     repair_restores_without_a_call, repair_finishes_a_killed_DEL,
	     CHECK_after_a_change_of_mode_fails, a_macvlan_shares_the_device_of_its_master,
	     the_wrong_mode_of_the_node_is_explained, each_failing_request_leaves_nothing,
	     a_kill_at_each_request_is_undone_by_DEL,
	     a_device_that_an_earlier_plugin_moved_is_refused)

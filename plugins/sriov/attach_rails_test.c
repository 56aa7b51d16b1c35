/* SPDX-License-Identifier: Apache-2.0 */
/* attach_rails_test.c: VFs as the parts of one attachment: the plugin rails with kind "sriov". */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "plugins/ether/rails.h"
#include "cni/testing/call.h"
#include "lib/testing/dir.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "plugins/testing/rdma.h"
#include "sriov/testing/requests.h"

/* Rail 0 is the PF; rail 1 has an interface of its own, but takes its VF of the same PF. */
#define RAILS                                                                                      \
	"{\"rails\":[{\"rail\":0,\"interface\":\"pf0\"},{\"rail\":1,\"interface\":\"other\"}]}"
#define KEYS   "\"kind\":\"sriov\",\"resource\":{\"pf\":[\"pf0\"]}"
#define MOVES  KEYS ",\"rdma\":\"exclusive\""
#define SHARES KEYS ",\"rdma\":\"shared\""

static void with_rails(struct testrdma *t)
{
	ck_assert(mkdir("/mnt/etc", 0755) == 0 || errno == EEXIST);
	testing_file("/mnt/etc/rails.json", 0644, RAILS);
	t->w.ctx.etc_dir = "/mnt/etc";
}

static struct testrdma host(uint32_t vfs)
{
	struct testrdma t = testrdma(vfs, RDMA_EXCLUSIVE);

	with_rails(&t);
	return t;
}

static int call_as(const struct testrdma *t, enum cni_command cmd, const struct pod *p,
		   const char *keys, struct err *e)
{
	struct cni_call c = {
		.ctx = t->w.ctx,
		.env = { .cmd = cmd,
			 .container = t->container,
			 .netns = p->path,
			 .ifname = "net1",
			 .path = TESTRDMA_BIN,
			 .args = "" },
	};
	char *conf;

	ck_assert_int_gt(
		asprintf(&conf,
			 "{\"cniVersion\":\"1.1.0\",\"name\":\"net\",\"type\":\"rails\",%s,"
			 "\"prevResult\":{\"cniVersion\":\"1.1.0\",\"interfaces\":["
			 "{\"name\":\"net1\",\"sandbox\":\"%s\"},"
			 "{\"name\":\"net1r1\",\"sandbox\":\"%s\"}]}}",
			 keys, p->path, p->path),
		0);
	return testing_call(&rails_type, &c, conf, TESTRDMA_OUT, e);
}

static bool has(const struct pod *p, const char *ifname)
{
	struct link_info link;
	struct err e;

	return nl_link_by_name(p->nl, ifname, &link, &e) == 0;
}

static void is_restored(const struct testrdma *t, const char *when)
{
	testrdma_is_restored(t, 0, when);
	testrdma_is_restored(t, 1, when);
	ck_assert_uint_eq(testing_records(&t->w.ctx, NULL), 0);
}

START_TEST(a_VF_of_each_rail_and_back)
{
	auto_testrdma struct testrdma t = host(3);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(call_as(&t, CNI_ADD, &p, MOVES, &e), &e);
	ck_assert(has(&p, "net1") && has(&p, "net1r1"));
	ck_assert(netns_same(testrdma_dev(&t, 0)->in, p.ns.id));
	ck_assert(netns_same(testrdma_dev(&t, 1)->in, p.ns.id));
	ck_assert(!netns_same(testrdma_dev(&t, 2)->in, p.ns.id));
	testing_printed_has(TESTRDMA_OUT,
			    "\"rdma\":[{\"mode\":\"exclusive\",\"device\":\"mlx5_0\"");
	testing_printed_has(TESTRDMA_OUT, "\"interface\":\"net1r1\"}]");
	testing_printed_has(TESTRDMA_OUT, "\"pciID\":\"0000:3b:02.2\"");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 1);
	good(call_as(&t, CNI_CHECK, &p, MOVES, &e), &e);
	good(call_as(&t, CNI_DEL, &p, MOVES, &e), &e);
	is_restored(&t, "DEL");
	good(call_as(&t, CNI_DEL, &p, MOVES, &e), &e);
}
END_TEST

START_TEST(the_record_has_a_claim_for_each_rail)
{
	auto_testrdma struct testrdma t = host(2);
	auto_pod struct pod p = pod();
	auto_record struct record r = { 0 };
	const struct record_key key = { "net", "c1", "net1" };
	struct record part;
	struct err e = { .msg = "" };

	good(call_as(&t, CNI_ADD, &p, MOVES, &e), &e);
	good(record_read(&t.w.ctx, &key, &r, &e), &e);
	ck_assert_uint_eq(record_parts(&r), 2);
	for (unsigned i = 0; i < 2; i++) {
		record_part(&r, i, &part);
		ck_assert_str_eq(part.plugin, "sriov");
		ck_assert_str_eq(json_text(part.device, "vf"), testhost_vf(i));
		ck_assert_str_eq(record_rdma(&part), i ? "mlx5_1" : "mlx5_0");
		ck_assert_int_gt(part.ifindex, 0);
		auto_vf_entry struct vf_entry x = testhost_entry(&t.w, i);
		ck_assert_str_eq(x.owner.key.ifname, part.key.ifname);
	}
	good(call_as(&t, CNI_DEL, &p, MOVES, &e), &e);
}
END_TEST

START_TEST(CHECK_names_the_rail)
{
	auto_testrdma struct testrdma t = host(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(call_as(&t, CNI_ADD, &p, MOVES, &e), &e);
	testrdma_dev(&t, 1)->in = testrdma_dev(&t, 0)->in;
	testrdma_dev(&t, 1)->gone = true;
	ck_assert_int_eq(call_as(&t, CNI_CHECK, &p, MOVES, &e), -1);
	ck_assert_int_eq(e.code, ERR_STATE);
	ck_assert_msg(strstr(e.msg, "rail 1: rdma") == e.msg, "%s", e.msg);
	testrdma_dev(&t, 1)->gone = false;
	good(call_as(&t, CNI_DEL, &p, MOVES, &e), &e);
	is_restored(&t, "DEL");
}
END_TEST

/* Number 9 instead of the one that ADD found: the driver was loaded again. */
START_TEST(CHECK_compares_a_shared_device)
{
	auto_testrdma struct testrdma t = testrdma(2, RDMA_SHARED);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	with_rails(&t);
	good(call_as(&t, CNI_ADD, &p, SHARES, &e), &e);
	testing_printed_has(TESTRDMA_OUT, "\"rdma\":[{\"mode\":\"shared\",\"device\":\"mlx5_0\"");
	good(call_as(&t, CNI_CHECK, &p, SHARES, &e), &e);
	const uint32_t was = testrdma_dev(&t, 1)->link.index;
	testrdma_dev(&t, 1)->link.index = 9;
	fails(call_as(&t, CNI_CHECK, &p, SHARES, &e), &e, ERR_STATE,
	      "rail 1: rdma: interface net1r1 is served by RDMA device mlx5_1 (number 9) port 1, "
	      "ADD found mlx5_1");
	testrdma_dev(&t, 1)->link.index = was;
	good(call_as(&t, CNI_CHECK, &p, SHARES, &e), &e);
	/* The same device, by another of its ports. */
	testing_replace(TESTHOST_RUN "/attachments/net/c1,net1", "\"port\":1", "\"port\":2");
	fails(call_as(&t, CNI_CHECK, &p, SHARES, &e), &e, ERR_STATE,
	      "port 1, ADD found mlx5_0 (number 10) port 2");
	testing_replace(TESTHOST_RUN "/attachments/net/c1,net1", "\"port\":2", "\"port\":1");
	good(call_as(&t, CNI_CHECK, &p, SHARES, &e), &e);
	good(call_as(&t, CNI_DEL, &p, SHARES, &e), &e);
	is_restored(&t, "DEL");
}
END_TEST

START_TEST(one_VF_is_not_enough_for_two_rails)
{
	auto_testrdma struct testrdma t = host(1);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	ck_assert_int_eq(call_as(&t, CNI_ADD, &p, MOVES, &e), -1);
	ck_assert_int_eq(e.code, ERR_EXHAUSTED);
	ck_assert_msg(strstr(e.msg, "rail 1: resource: no free VF") == e.msg, "%s", e.msg);
	testrdma_is_restored(&t, 0, "a failed ADD");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
	ck_assert(!has(&p, "net1"));
}
END_TEST

START_TEST(a_rail_that_cannot_move_takes_all_back)
{
	auto_testrdma struct testrdma t = host(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	/* The name of the second RDMA device is taken in the pod. */
	struct fakehca_dev *other = fakehca_add("mlx5_1");
	other->in = p.ns.id;
	ck_assert_int_eq(call_as(&t, CNI_ADD, &p, MOVES, &e), -1);
	is_restored(&t, "a failed ADD");
	ck_assert(!has(&p, "net1") && !has(&p, "net1r1"));
}
END_TEST

/* Without its record the VF states say what it had; those of other attachments stay. */
START_TEST(a_DEL_without_the_record)
{
	auto_testrdma struct testrdma t = host(3);
	auto_pod struct pod p = pod(), q = pod();
	const struct record_key key = { "net", "c1", "net1" };
	struct err e = { .msg = "" };

	good(call_as(&t, CNI_ADD, &p, MOVES, &e), &e);
	t.container = "c2";
	good(testrdma_call(&t, CNI_ADD, &q, "\"deviceID\":\"0000:3b:02.4\"", &e), &e);
	t.container = "c1";
	good(record_remove(&t.w.ctx, &key, &e), &e);
	good(call_as(&t, CNI_DEL, &p, MOVES, &e), &e);
	testrdma_is_restored(&t, 0, "DEL");
	testrdma_is_restored(&t, 1, "DEL");
	ck_assert(has(&q, "net1"));
	t.container = "c2";
	good(testrdma_call(&t, CNI_DEL, &q, "\"deviceID\":\"0000:3b:02.4\"", &e), &e);
}
END_TEST

/* Multus names the first VF; the result of ADD has the interfaces of the others. */
START_TEST(a_DEL_without_any_state_or_record)
{
	auto_testrdma struct testrdma t = host(3);
	auto_pod struct pod p = pod();
	struct link_info link;
	struct err e = { .msg = "" };

	good(call_as(&t, CNI_ADD, &p, KEYS, &e), &e);
	ck_assert_int_eq(rename(TESTHOST_RUN, "/mnt/lost-run"), 0);
	good(call_as(&t, CNI_DEL, &p, "\"kind\":\"sriov\",\"deviceID\":\"0000:3b:02.0\"", &e), &e);
	ck_assert(!has(&p, "net1") && !has(&p, "net1r1"));
	good(nl_link_by_name(t.w.nl, "vf3b020", &link, &e), &e);
	good(nl_link_by_name(t.w.nl, "vf3b022", &link, &e), &e);
}
END_TEST

/* The ADD of another attachment of this container failed; its DEL has no record and such names. */
START_TEST(a_DEL_without_a_record_and_the_VFs_of_another_attachment)
{
	auto_testrdma struct testrdma t = host(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };
	struct cni_call late = {
		.ctx = t.w.ctx,
		.env = { .cmd = CNI_DEL,
			 .container = "c1",
			 .netns = p.path,
			 .ifname = "net2",
			 .path = TESTRDMA_BIN,
			 .args = "" },
	};
	char *conf;

	good(call_as(&t, CNI_ADD, &p, KEYS ",\"ifname\":\"rail{n}\"", &e), &e);
	ck_assert_int_gt(
		asprintf(&conf,
			 "{\"cniVersion\":\"1.1.0\",\"name\":\"net\",\"type\":\"rails\"," KEYS
			 ",\"ifname\":\"rail{n}\"}"),
		0);
	good(testing_call(&rails_type, &late, conf, TESTRDMA_OUT, &e), &e);
	ck_assert(has(&p, "rail0") && has(&p, "rail1"));
	good(call_as(&t, CNI_DEL, &p, KEYS ",\"ifname\":\"rail{n}\"", &e), &e);
	is_restored(&t, "DEL");
}
END_TEST

static int call_plain(const void *host, enum cni_command cmd, const struct pod *p, struct err *e)
{
	return call_as(host, cmd, p, KEYS, e);
}

static int call_again(const void *host, const struct pod *p, struct err *e)
{
	return call_as(host, CNI_ADD, p, KEYS, e);
}

static void all_are_restored(const void *host, const char *when)
{
	for (uint32_t n = 0; n < 4; n++)
		testrdma_is_restored(host, n, when);
}

/* Two VFs of the first ADD, and two that were free. */
START_TEST(another_ADD_after_a_kill_at_each_request)
{
	auto_testrdma struct testrdma t = host(4);
	const struct testrequests r = { .host = &t,
					.w = &t.w,
					.hca = t.hca,
					.call = call_plain,
					.again = call_again,
					.is_restored = all_are_restored };

	ck_assert_uint_gt(testrequests_kill(&r, CNI_ADD), 4);
	ck_assert_uint_gt(testrequests_kill(&r, CNI_DEL), 4);
}
END_TEST

/* Its ADD may be at work: its lock is another one. */
START_TEST(the_record_of_another_attachment_with_such_a_name)
{
	auto_testrdma struct testrdma t = host(2);
	auto_pod struct pod p = pod();
	auto_record struct record r = { 0 };
	struct record other = { .key = { "net", "c1", "net1r1" },
				.plugin = "sriov",
				.kind = "",
				.netns = p.path,
				.netns_id = p.ns.id,
				.adding = true };
	struct err e = { .msg = "" };

	good(ctx_boot_id(&t.w.ctx, other.boot, &e), &e);
	good(record_write(&t.w.ctx, &other, &e), &e);
	good(call_as(&t, CNI_ADD, &p, KEYS, &e), &e);
	good(record_read(&t.w.ctx, &other.key, &r, &e), &e);
	ck_assert(r.adding && !r.deleting);
	good(call_as(&t, CNI_DEL, &p, KEYS, &e), &e);
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 1);
}
END_TEST

START_TEST(GC_of_a_stale_one)
{
	auto_testrdma struct testrdma t = host(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(call_as(&t, CNI_ADD, &p, MOVES, &e), &e);
	good(call_as(&t, CNI_GC, &p, MOVES ",\"cni.dev/valid-attachments\":[]", &e), &e);
	is_restored(&t, "GC");
}
END_TEST

/* ---- given devices beside a dead card ---- */

#define GIVEN "\"kind\":\"sriov\",\"deviceIDs\":[\"0000:3b:02.2\"]"

/* Rail 4 is a card that has no interface on the host. */
static struct testrdma host_with_dead_card(uint32_t vfs)
{
	struct testrdma t = host(vfs);

	testing_file("/mnt/etc/rails.json", 0644,
		     "{\"rails\":[{\"rail\":0,\"interface\":\"pf0\"},"
		     "{\"rail\":4,\"pci\":\"ffff:1f:1f.7\"}]}");
	return t;
}

/* The devices decide which rails the pod has, so a dead one is missed only if it is asked for. */
START_TEST(given_devices_and_a_dead_card)
{
	auto_testrdma struct testrdma t = host_with_dead_card(3);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(call_as(&t, CNI_ADD, &p, GIVEN, &e), &e);
	ck_assert(has(&p, "net1") && !has(&p, "net1r4"));
	testing_printed_has(TESTRDMA_OUT, "\"rails\":{\"made\":[{\"rail\":0,");
	auto_free char *printed = testing_printed(TESTRDMA_OUT);
	ck_assert_ptr_null(strstr(printed, "missing"));
	good(call_as(&t, CNI_DEL, &p, GIVEN, &e), &e);
	is_restored(&t, "DEL");
	fails(call_as(&t, CNI_ADD, &p, GIVEN ",\"rails\":[0,4]", &e), &e, ERR_CONFIG,
	      "rail 4: the card at ffff:1f:1f.7 has no interface");
	good(call_as(&t, CNI_ADD, &p, GIVEN ",\"rails\":[0,4],\"min\":1", &e), &e);
	testing_printed_has(TESTRDMA_OUT, "\"missing\":[4]");
	good(call_as(&t, CNI_DEL, &p, GIVEN, &e), &e);
	/* Without devices all rails are asked for, and the dead one is an error. */
	fails(call_as(&t, CNI_ADD, &p, KEYS, &e), &e, ERR_CONFIG, "this node has no rail 4");
	is_restored(&t, "a failed ADD");
}
END_TEST

/* A rail of a list that none of the devices is of. */
START_TEST(given_devices_and_a_rail_without_one)
{
	auto_testrdma struct testrdma t = host(3);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	fakepci_function(TESTHOST_SYS, "0000:5e:00.0");
	fakepci_netdev(TESTHOST_SYS, "0000:5e:00.0", "lo", NULL);
	testing_file("/mnt/etc/rails.json", 0644,
		     "{\"rails\":[{\"rail\":0,\"interface\":\"pf0\"},"
		     "{\"rail\":1,\"interface\":\"lo\"}]}");
	fails(call_as(&t, CNI_ADD, &p, GIVEN ",\"rails\":[0,1]", &e), &e, ERR_CONFIG,
	      "deviceIDs: none is a VF of rail 1 (lo)");
	good(call_as(&t, CNI_ADD, &p, GIVEN ",\"rails\":[0,1],\"min\":1", &e), &e);
	testing_printed_has(TESTRDMA_OUT, "\"missing\":[1]");
	good(call_as(&t, CNI_DEL, &p, GIVEN, &e), &e);
	is_restored(&t, "DEL");
}
END_TEST

/* Which devices a pod gets of a resource, STATUS does not know. */
START_TEST(STATUS_of_a_resource_and_a_dead_card)
{
	static const char of_kubelet[] = "\"kind\":\"sriov\",\"resourceName\":\"example.com/vf\"";
	auto_testrdma struct testrdma t = host_with_dead_card(1);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };
	char listed[128];

	good(call_as(&t, CNI_STATUS, &p, of_kubelet, &e), &e);
	fails(call_as(&t, CNI_STATUS, &p, KEYS, &e), &e, ERR_UNAVAILABLE, "no rail 4");
	(void)snprintf(listed, sizeof(listed), "%s,\"rails\":[4]", of_kubelet);
	fails(call_as(&t, CNI_STATUS, &p, listed, &e), &e, ERR_UNAVAILABLE, "no rail 4");
}
END_TEST

/* ---- the runtime's file ---- */

#define INFO_FILE "/run/k8s.cni.cncf.io/devinfo/cni/one.json"
#define INFO      ",\"runtimeConfig\":{\"CNIDeviceInfoFile\":\"" INFO_FILE "\"}"

/* Multus would give each interface the device of the file: with several it would be wrong. */
START_TEST(device_information_describes_one_rail)
{
	auto_testrdma struct testrdma t = host(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	ck_assert_int_eq(mount("tmpfs", "/run", "tmpfs", 0, "mode=755"), 0);
	good(call_as(&t, CNI_ADD, &p, MOVES INFO ",\"rails\":[0]", &e), &e);
	testing_printed_has(INFO_FILE, "\"pci-address\":\"0000:3b:02.0\"");
	good(call_as(&t, CNI_DEL, &p, MOVES INFO, &e), &e);
	ck_assert_int_eq(access(INFO_FILE, F_OK), -1);
	good(call_as(&t, CNI_ADD, &p, MOVES INFO, &e), &e);
	ck_assert(has(&p, "net1r1") && access(INFO_FILE, F_OK) == -1);
	good(call_as(&t, CNI_DEL, &p, MOVES INFO, &e), &e);
	is_restored(&t, "DEL");
}
END_TEST

/* ---- a VF for vfio-pci ---- */

#define LEASES ",\"ipam\":{\"type\":\"railhead-ipam\",\"pool\":\"p\"}"
#define ASKED  "/mnt/asked" /* whether the IPAM may mark addresses that must be probed */

static void add_ipam(void)
{
	ck_assert_int_eq(mkdir(TESTRDMA_BIN, 0755), 0);
	testing_file(TESTRDMA_BIN "/railhead-ipam", 0755,
		     "#!/bin/sh\n"
		     "[ $CNI_COMMAND = ADD ] || exit 0\n"
		     "echo \"<$RAILHEAD_PROBE>\" >" ASKED "\n"
		     "echo '{\"cniVersion\":\"1.1.0\",\"ips\":[{\"address\":\"10.1.1.2/24\"}"
		     ",{\"address\":\"10.1.2.2/24\",\"group\":2}]}'\n");
}

static void asked_with(const char *want)
{
	auto_free char *said = testing_printed(ASKED);

	ck_assert_str_eq(said, want);
}

/* It has no interface in the pod that could ask, so no address may need that, of any rail. */
START_TEST(addresses_beside_a_VF_for_vfio_are_not_probed)
{
	auto_testrdma struct testrdma t = host(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	add_ipam();
	good(call_as(&t, CNI_ADD, &p, KEYS LEASES, &e), &e);
	asked_with("<mark>\n");
	good(call_as(&t, CNI_DEL, &p, KEYS LEASES, &e), &e);
	testhost_shows(1, NULL);
	fakepci_driver(TESTHOST_SYS, testhost_vf(1), "vfio-pci");
	good(call_as(&t, CNI_ADD, &p, KEYS LEASES, &e), &e);
	asked_with("<>\n");
	ck_assert(has(&p, "net1") && !has(&p, "net1r1"));
	good(call_as(&t, CNI_DEL, &p, KEYS LEASES, &e), &e);
}
END_TEST

TEST_PROGRAM("plugins/sriov/attach_rails", a_VF_of_each_rail_and_back,
	     the_record_has_a_claim_for_each_rail, CHECK_names_the_rail,
	     CHECK_compares_a_shared_device, one_VF_is_not_enough_for_two_rails,
	     a_rail_that_cannot_move_takes_all_back, a_DEL_without_the_record,
	     a_DEL_without_any_state_or_record,
	     a_DEL_without_a_record_and_the_VFs_of_another_attachment,
	     another_ADD_after_a_kill_at_each_request,
	     the_record_of_another_attachment_with_such_a_name, GC_of_a_stale_one,
	     given_devices_and_a_dead_card, given_devices_and_a_rail_without_one,
	     STATUS_of_a_resource_and_a_dead_card, device_information_describes_one_rail,
	     addresses_beside_a_VF_for_vfio_are_not_probed)

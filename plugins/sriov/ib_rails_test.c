/* SPDX-License-Identifier: Apache-2.0 */
/* ib_rails_test.c: VFs of InfiniBand as the parts of one attachment: rails with kind "ib-sriov". */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cni/testing/call.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "plugins/ether/rails.h"
#include "plugins/testing/ib.h"
#include "sriov/testing/requests.h"

#define KEYS  "\"kind\":\"ib-sriov\",\"resource\":{\"pf\":[\"pf0\"]}"
#define MADE  KEYS ",\"guidFrom\":\"pod\""
#define MOVES MADE ",\"rdma\":\"exclusive\""
#define RESULT                                                                                     \
	"\"prevResult\":{\"cniVersion\":\"1.1.0\",\"interfaces\":[{\"name\":\"net1\",\"sandbox\":" \
	"\"%s\"},{\"name\":\"net1r1\",\"sandbox\":\"%s\"}]}"

static struct testib host(uint32_t vfs, enum rdma_mode mode)
{
	struct testib t = testib(vfs, mode, false);

	ck_assert(mkdir(TESTIB_ETC, 0755) == 0 || errno == EEXIST);
	testing_file(TESTIB_ETC "/rails.json", 0644,
		     "{\"rails\":[{\"rail\":0,\"interface\":\"pf0\"},"
		     "{\"rail\":1,\"interface\":\"other\"}]}");
	return t;
}

static int call_as(const struct testib *t, enum cni_command cmd, const struct pod *p,
		   const char *keys, struct err *e)
{
	struct cni_call c = {
		.ctx = t->w.ctx,
		.env = { .cmd = cmd,
			 .container = "c1",
			 .netns = p->path,
			 .ifname = "net1",
			 .path = TESTIB_BIN,
			 .args = "K8S_POD_NAMESPACE=train;K8S_POD_NAME=worker-0" },
	};
	char *conf;

	ck_assert_int_gt(asprintf(&conf,
				  "{\"cniVersion\":\"1.1.0\",\"name\":\"net\",\"type\":\"rails\","
				  "%s," RESULT "}",
				  keys, p->path, p->path),
			 0);
	return testing_call(&rails_type, &c, conf, TESTIB_OUT, e);
}

static bool has(const struct pod *p, const char *ifname)
{
	struct link_info link;
	struct err e;

	return nl_link_by_name(p->nl, ifname, &link, &e) == 0;
}

static void both_are_restored(const void *t, const char *when)
{
	testib_is_restored(t, 0, when);
	testib_is_restored(t, 1, when);
	ck_assert_uint_eq(testing_records(&((const struct testib *)t)->w.ctx, NULL), 0);
}

START_TEST(a_VF_with_a_GUID_of_its_own_for_each_rail)
{
	auto_testib struct testib t = host(3, RDMA_SHARED);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	good(call_as(&t, CNI_ADD, &p, MADE, &e), &e);
	ck_assert(has(&p, "net1") && has(&p, "net1r1"));
	ck_assert_int_eq(t.w.kernel->vf[0].port.byte[0], 2);
	ck_assert_int_eq(t.w.kernel->vf[1].port.byte[0], 2);
	ck_assert(!guid_equal(t.w.kernel->vf[0].port, t.w.kernel->vf[1].port));
	testing_printed_has(TESTIB_OUT, "\"pciID\":\"0000:3b:02.2\"");
	good(call_as(&t, CNI_CHECK, &p, MADE, &e), &e);
	t.w.kernel->vf[1].port = testib_guid(1);
	fails(call_as(&t, CNI_CHECK, &p, MADE, &e), &e, ERR_STATE,
	      "rail 1: interface net1r1 has "
	      "the GUID");
	good(call_as(&t, CNI_DEL, &p, MADE, &e), &e);
	both_are_restored(&t, "DEL");
	good(call_as(&t, CNI_DEL, &p, MADE, &e), &e);
}
END_TEST

START_TEST(the_RDMA_devices_move)
{
	auto_testib struct testib t = host(2, RDMA_EXCLUSIVE);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	testib_pod(&p);
	good(call_as(&t, CNI_ADD, &p, MOVES, &e), &e);
	ck_assert(netns_same(testib_dev(&t, 0)->in, p.ns.id));
	ck_assert(netns_same(testib_dev(&t, 1)->in, p.ns.id));
	testing_printed_has(TESTIB_OUT, "\"rdma\":[{\"mode\":\"exclusive\",\"device\":\"mlx5_0\"");
	good(call_as(&t, CNI_CHECK, &p, MOVES, &e), &e);
	good(call_as(&t, CNI_DEL, &p, MOVES, &e), &e);
	both_are_restored(&t, "DEL");
}
END_TEST

START_TEST(a_rail_without_a_VF_takes_all_back)
{
	auto_testib struct testib t = host(1, RDMA_SHARED);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	fails(call_as(&t, CNI_ADD, &p, MADE, &e), &e, ERR_EXHAUSTED, "rail 1: resource: no free");
	testib_is_restored(&t, 0, "a failed ADD");
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
}
END_TEST

START_TEST(a_DEL_without_the_record)
{
	auto_testib struct testib t = host(2, RDMA_SHARED);
	auto_pod struct pod p = pod();
	const struct record_key key = { "net", "c1", "net1" };
	struct err e = { .msg = "" };

	good(call_as(&t, CNI_ADD, &p, MADE, &e), &e);
	good(record_remove(&t.w.ctx, &key, &e), &e);
	good(call_as(&t, CNI_DEL, &p, MADE, &e), &e);
	both_are_restored(&t, "DEL");
}
END_TEST

/* With the VFs' own GUIDs: the host has not devices enough for so many bindings of drivers. */
static int call_plain(const void *t, enum cni_command cmd, const struct pod *p, struct err *e)
{
	return call_as(t, cmd, p, KEYS, e);
}

static int add_again(const void *t, const struct pod *p, struct err *e)
{
	return call_as(t, CNI_ADD, p, KEYS, e);
}

START_TEST(another_ADD_after_a_kill_at_each_request)
{
	auto_testib struct testib t = host(4, RDMA_SHARED);
	const struct testrequests r = { .host = &t,
					.w = &t.w,
					.hca = t.hca,
					.call = call_plain,
					.again = add_again,
					.is_restored = both_are_restored };

	ck_assert_uint_gt(testrequests_kill(&r, CNI_ADD), 4);
	ck_assert_uint_gt(testrequests_kill(&r, CNI_DEL), 4);
}
END_TEST

START_TEST(keys_that_are_for_one_VF)
{
	static const char *const keys[][2] = {
		{ KEYS ",\"rdmaIsolation\":true", "rdmaIsolation: not with rails: write \"rdma\"" },
		{ KEYS ",\"ibKubernetesEnabled\":true", "ibKubernetesEnabled: not with rails" },
		{ KEYS ",\"runtimeConfig\":{\"infinibandGUID\":\"02:00:00:00:00:00:00:0b\"}",
		  "runtimeConfig.infinibandGUID: not with rails" },
		{ KEYS ",\"args\":{\"cni\":{\"guid\":\"02:00:00:00:00:00:00:0b\"}}",
		  "args.cni.guid: not with rails" },
		{ KEYS ",\"ipam\":{\"type\":\"railhead-ipam\",\"guidPool\":\"g\"}",
		  "ipam.guidPool: interfaces of rails get no GUID" },
		{ KEYS ",\"vlan\":5", "vlan: not with rails of kind \"ib-sriov\", only with" },
		{ KEYS ",\"master\":{\"vlan\":5,\"of\":\"rail\"}", "InfiniBand has no VLANs" },
		{ "\"kind\":\"ipoib\",\"deviceIDs\":[\"0000:3b:02.0\"]",
		  "deviceIDs: not with rails of kind \"ipoib\", only with \"sriov\" and" },
		{ "\"kind\":\"ipoib\",\"rdma\":\"exclusive\"",
		  "interfaces of kind \"ipoib\" share" },
		{ "\"kind\":\"sriov\",\"pkey\":\"0x8001\"",
		  "pkey: not with rails of kind \"sriov\", only with \"ib-sriov\" and \"ipoib\"" },
	};
	auto_testib struct testib t = host(2, RDMA_SHARED);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		fails(call_as(&t, CNI_ADD, &p, keys[i][0], &e), &e, ERR_CONFIG, keys[i][1]);
	/* A parent must be of InfiniBand. */
	fails(call_as(&t, CNI_ADD, &p, "\"kind\":\"ipoib\"", &e), &e, ERR_CONFIG,
	      "rail 0: master: pf0 is not an IPoIB interface");
}
END_TEST

TEST_PROGRAM("plugins/sriov/ib_rails", a_VF_with_a_GUID_of_its_own_for_each_rail,
	     the_RDMA_devices_move, a_rail_without_a_VF_takes_all_back, a_DEL_without_the_record,
	     another_ADD_after_a_kill_at_each_request, keys_that_are_for_one_VF)

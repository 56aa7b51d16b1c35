/* SPDX-License-Identifier: Apache-2.0 */
/* ib_conf_test.c: what a configuration of type "ib-sriov" asks for, and which GUID it gives. */
#include "plugins/sriov/ib_conf.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define VF   "\"deviceID\":\"0000:3b:02.5\""
#define GUID "02:00:00:00:00:00:00:0b"

/* One configuration on its way, read as the attach engine does. */
struct reading {
	struct cni_call call;
	struct attach a;
	struct ib_conf conf;
};

static int read_as(struct reading *r, enum cni_command cmd, const char *members, const char *args,
		   struct err *e)
{
	size_t size = strlen(members) + 80;
	char *text = malloc(size);

	memset(r, 0, sizeof(*r));
	if (!text)
		return err_nomem(e);
	(void)snprintf(text, size,
		       "{\"cniVersion\":\"1.1.0\",\"name\":\"n\",\"type\":\"ib-sriov\",%s}",
		       members);
	r->call.env =
		(struct cni_env){ .cmd = cmd, .container = "c1", .ifname = "net1", .args = args };
	r->a.call = &r->call;
	ib_conf_defaults(&r->conf);
	return cni_conf_parse(text, strlen(text), cmd, &r->call.conf, e) ||
			       json_decode(r->call.conf.tree, "", ib_fields, &r->conf, e) ||
			       ib_conf_check(&r->a, &r->conf, e)
		       ? -1
		       : 0;
}

static void reading_clear(struct reading *r)
{
	cni_conf_clear(&r->call.conf);
}
#define auto_reading auto_clean(reading_clear)

static void accepts(struct reading *r, const char *members)
{
	struct err e = { .msg = "" };

	ck_assert_msg(read_as(r, CNI_ADD, members, "", &e) == 0, "%s: %s", members, e.msg);
	ck_assert_str_eq(e.msg, "");
}

static void refuses(const char *members, enum err_code code, const char *word)
{
	auto_reading struct reading r;
	struct err e;

	ck_assert_msg(read_as(&r, CNI_ADD, members, "", &e) == -1, "accepted: %s", members);
	ck_assert_msg(e.code == code && strstr(e.msg, word), "%s: %d: %s", members, (int)e.code,
		      e.msg);
}

/* ---- configurations of ib-sriov-cni ---- */

/* As its tests have it: a key "vf" that nobody reads. */
START_TEST(only_a_device)
{
	auto_reading struct reading r;

	accepts(&r, VF ",\"vf\":0");
	ck_assert_str_eq(r.conf.which.vf, "0000:3b:02.5");
	ck_assert_uint_eq(r.conf.want.has, 0);
	ck_assert(!r.conf.rdma_isolation && !r.conf.ib_kubernetes && !r.conf.vfio);
	ck_assert_uint_eq(r.conf.pkey, 0);
}
END_TEST

START_TEST(every_key_of_its_documentation)
{
	auto_reading struct reading r;

	accepts(&r, VF ",\"guid\":\"" GUID "\",\"pkey\":\"0x5\",\"link_state\":\"enable\","
		       "\"rdmaIsolation\":true,\"ibKubernetesEnabled\":false,\"vfioPciMode\":true,"
		       "\"publishPfGuid\":false,\"kubeconfig\":\"\"");
	/* A GUID at the top is documented, but its program does not read it. */
	ck_assert_uint_eq(r.conf.want.has, VF_LINK_STATE);
	ck_assert_int_eq(r.conf.want.link_state, VF_LINK_ENABLE);
	ck_assert(r.conf.rdma_isolation && r.conf.vfio);
	ck_assert_uint_eq(r.conf.pkey, 5);
}
END_TEST

/* What it writes into its own files: all keys of its program, and empty ones. */
START_TEST(keys_of_its_program)
{
	auto_reading struct reading r;

	accepts(&r, "\"deviceID\":\"0000:04:00.7\",\"Master\":\"ibp4s0f0\",\"VFID\":5,"
		    "\"HostIFNames\":\"ibp4s0f0v5\",\"HostIFGUID\":\"x\",\"ContIFNames\":\"net1\","
		    "\"pkey\":\"0x8001\",\"link_state\":\"\",\"RdmaNetState\":{},"
		    "\"runtimeConfig\":{\"infinibandGUID\":\"\"},"
		    "\"args\":{\"cni\":{\"test\":\"value\"}}");
	ck_assert_uint_eq(r.conf.want.has, 0);
	ck_assert_uint_eq(r.conf.pkey, 0x8001);
}
END_TEST

START_TEST(link_states)
{
	static const struct {
		const char *text;
		enum vf_link_state want;
	} c[] = { { "auto", VF_LINK_AUTO },
		  { "enable", VF_LINK_ENABLE },
		  { "disable", VF_LINK_DISABLE } };
	char members[128];

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		auto_reading struct reading r;

		(void)snprintf(members, sizeof(members), VF ",\"link_state\":\"%s\"", c[i].text);
		accepts(&r, members);
		ck_assert_uint_eq(r.conf.want.has, VF_LINK_STATE);
		ck_assert_int_eq(r.conf.want.link_state, c[i].want);
	}
	refuses(VF ",\"link_state\":\"up\"", ERR_FIELD, "link_state");
}
END_TEST

/* ---- GUIDs ---- */

static void has(const struct reading *r, uint64_t number)
{
	ck_assert_uint_eq(r->conf.want.has, VF_GUIDS);
	ck_assert_uint_eq(guid_number(r->conf.want.node_guid), number);
	ck_assert_uint_eq(guid_number(r->conf.want.port_guid), number);
}

START_TEST(the_first_GUID_that_is_given)
{
	static const struct {
		const char *members;
		uint64_t number;
	} c[] = {
		{ "\"runtimeConfig\":{\"infinibandGUID\":\"02:00:00:00:00:00:00:01\"},"
		  "\"args\":{\"cni\":{\"guid\":\"02:00:00:00:00:00:00:02\"}},\"guidFrom\":\"pod\"",
		  UINT64_C(0x0200000000000001) },
		{ "\"runtimeConfig\":{\"infinibandGUID\":\"\"},"
		  "\"args\":{\"cni\":{\"guid\":\"02:00:00:00:00:00:00:0A\",\"n\":1,\"o\":{\"a\":[]}"
		  ","
		  "\"b\":true,\"z\":null}},\"guidFrom\":\"pod\"",
		  UINT64_C(0x020000000000000a) },
	};
	char members[256];

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		auto_reading struct reading r;

		(void)snprintf(members, sizeof(members), VF ",%s", c[i].members);
		accepts(&r, members);
		has(&r, c[i].number);
	}
}
END_TEST

START_TEST(GUIDs_that_are_refused)
{
	refuses(VF ",\"runtimeConfig\":{\"infinibandGUID\":\"00:00:00:00:00:00:00:00\"}",
		ERR_CONFIG, "runtimeConfig.infinibandGUID");
	refuses(VF ",\"args\":{\"cni\":{\"guid\":\"FF:FF:FF:FF:FF:FF:FF:FF\"}}", ERR_CONFIG,
		"args.cni.guid: \"FF:FF");
	refuses(VF ",\"args\":{\"cni\":{\"guid\":\"02:00\"}}", ERR_CONFIG,
		"\"02:00\" is not a GUID");
	refuses(VF ",\"args\":{\"cni\":{\"guid\":17}}", ERR_DECODE, "args.cni.guid");
	refuses(VF ",\"runtimeConfig\":{\"infinibandGUID\":[]}", ERR_DECODE, "infinibandGUID");
	/* A bad GUID of higher precedence is not passed over. */
	refuses(VF
		",\"runtimeConfig\":{\"infinibandGUID\":\"x\"},\"args\":{\"cni\":{\"guid\":\"" GUID
		"\"}}",
		ERR_CONFIG, "\"x\"");
}
END_TEST

START_TEST(a_GUID_of_the_pods_name)
{
	auto_reading struct reading r;
	struct err e = { .msg = "" };
	const struct ib_pod_identity who = { "", "train", "worker-0", "net1" };
	const char *args = "IgnoreUnknown=1;K8S_POD_NAMESPACE=train;K8S_POD_NAME=worker-0";

	ck_assert_int_eq(read_as(&r, CNI_ADD, VF ",\"guidFrom\":\"pod\"", args, &e), 0);
	has(&r, guid_number(ib_guid_of_pod(&who)));
	refuses(VF ",\"guidFrom\":\"pod\"", ERR_ENV, "K8S_POD_NAMESPACE");
	refuses(VF ",\"guidFrom\":\"node\"", ERR_FIELD, "guidFrom");
}
END_TEST

/* Another version must make the same GUIDs, so the number is written down. */
START_TEST(the_same_name_has_the_same_GUID_for_ever)
{
	const struct ib_pod_identity who = { "", "train", "worker-0", "net1" };
	struct ib_pod_identity other[] = { who, who, who, who, who };
	struct guid g = ib_guid_of_pod(&who);

	other[0].domain = "c";
	other[1].namespace = "trai";
	other[2].pod = "nworker-0";
	other[3].ifname = "net2";
	other[4].namespace = "trainworker-0";
	other[4].pod = "";
	ck_assert_uint_eq(guid_number(g), UINT64_C(0x02f43c63badd2cbd));
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		ck_assert(!guid_equal(ib_guid_of_pod(&other[i]), g));
}
END_TEST

START_TEST(STATUS_has_no_pod_and_no_GUID)
{
	auto_reading struct reading r;
	struct err e = { .msg = "" };

	ck_assert_int_eq(read_as(&r, CNI_STATUS,
				 VF ",\"guidFrom\":\"pod\",\"ibKubernetesEnabled\":true", "", &e),
			 0);
	ck_assert_uint_eq(r.conf.want.has, 0);
}
END_TEST

/* ---- ib-kubernetes ---- */

#define KUBE VF ",\"ibKubernetesEnabled\":true"

START_TEST(ib_kubernetes_has_configured_the_pod)
{
	auto_reading struct reading r, s;

	accepts(&r, KUBE ",\"args\":{\"cni\":{\"mellanox.infiniband.app\":\"configured\","
			 "\"guid\":\"" GUID "\",\"pkey\":\"0x8001\"}}");
	has(&r, UINT64_C(0x020000000000000b));
	accepts(&s, KUBE ",\"args\":{\"cni\":{\"mellanox.infiniband.app\":\"configured\"}},"
			 "\"runtimeConfig\":{\"infinibandGUID\":\"" GUID "\"}");
	has(&s, UINT64_C(0x020000000000000b));
}
END_TEST

START_TEST(ib_kubernetes_has_not_configured_the_pod)
{
	refuses(KUBE, ERR_AGAIN, "is missing");
	refuses(KUBE ",\"args\":{\"cni\":{\"mellanox.infiniband.app\":\"pending\",\"guid\":\"" GUID
		     "\"}}",
		ERR_AGAIN, "is \"pending\"");
	refuses(KUBE ",\"args\":{\"cni\":{\"mellanox.infiniband.app\":\"configured\"}}", ERR_AGAIN,
		"args.cni.guid: missing");
}
END_TEST

START_TEST(other_keys_that_are_refused)
{
	refuses("\"deviceID\":\"eth0\"", ERR_CONFIG, "eth0");
	refuses(VF ",\"pkey\":\"0x0\"", ERR_CONFIG, "pkey");
	refuses(VF ",\"rdmaIsolation\":\"yes\"", ERR_DECODE, "rdmaIsolation");
	refuses(VF ",\"resource\":{\"pf\":[\"ib0\"]}", ERR_CONFIG, "exclude each other");
	refuses(VF ",\"renumbered\":\"x\"", ERR_FIELD, "renumbered");
}
END_TEST

static int read_all(void *arg, struct err *e)
{
	auto_reading struct reading r;

	return read_as(&r, CNI_ADD,
		       KUBE ",\"pkey\":\"0x8001\",\"args\":{\"cni\":{\"guid\":\"" GUID "\","
			    "\"mellanox.infiniband.app\":\"configured\"}}",
		       arg, e);
}

START_TEST(survives_each_failing_allocation)
{
	ck_assert_str_eq(alloc_fail_each(read_all, ""), "ok");
}
END_TEST

TEST_PROGRAM("plugins/sriov/ib_conf", only_a_device, every_key_of_its_documentation,
	     keys_of_its_program, link_states, the_first_GUID_that_is_given, GUIDs_that_are_refused,
	     a_GUID_of_the_pods_name, the_same_name_has_the_same_GUID_for_ever,
	     STATUS_has_no_pod_and_no_GUID, ib_kubernetes_has_configured_the_pod,
	     ib_kubernetes_has_not_configured_the_pod, other_keys_that_are_refused,
	     survives_each_failing_allocation)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that moves VFs and has nothing of its own but a step that may fail: what any such plugin
 * has from vf_attach.h and the engine.
 */
#include "plugins/sriov/vf_attach.h"

#include <stdio.h>

#include "cni/testing/call.h"
#include "lib/testing/dir.h"
#include "lib/grpc/testing/server.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "sriov/claim/claim.h"
#include "sriov/testing/tree.h"
#include "sriov/testing/vf.h"
#include "topo/testing/kubelet.h"

#define OUT "/mnt/out"

static bool own_step_fails;

struct state {
	struct vf_attach which;
};

static const struct json_field fields[] = { VF_ATTACH_FIELDS(struct state, which), { 0 } };

static struct vf_attach *state_of(struct attach *a)
{
	return &((struct state *)(void *)a->state)->which;
}

static int validate(struct attach *a, struct err *e)
{
	return vf_attach_check_keys(a, state_of(a), e);
}

static int find(struct attach *a, struct err *e)
{
	auto_record struct record r = { 0 };

	if (a->call->env.cmd == CNI_CHECK && vf_attach_recall(a, state_of(a), &r, e))
		return -1;
	return vf_attach_find(a, state_of(a), e);
}

static int claim(struct attach *a, struct err *e)
{
	return vf_attach_claim(a, state_of(a), 0, NULL, e);
}

static int create(struct attach *a, struct err *e)
{
	if (own_step_fails)
		return err_set(e, ERR_KERNEL, 0, "its own step fails");
	return vf_attach_move(a, state_of(a), e);
}

static int check(struct attach *a, struct err *e)
{
	return vf_attach_check(a, state_of(a), e);
}

static const struct attach_type type = {
	.name = "other-vf",
	.role = ATTACH_MOVES,
	.kind = "",
	.fields = fields,
	.validate = validate,
	.find = find,
	.claim = claim,
	.create = create,
	.check = check,
	.restore = sriov_restore,
	.release = vf_attach_release,
};

static const char *args = "";

static int call(const struct testhost *w, enum cni_command cmd, const struct pod *p,
		const char *keys, struct err *e)
{
	struct cni_call c = {
		.ctx = w->ctx,
		.env = { .cmd = cmd,
			 .container = p ? "c1" : "",
			 .netns = p ? p->path : "",
			 .ifname = p ? "net1" : "",
			 .path = "",
			 .args = args },
	};

	return testing_call_keys(&type, &c, keys, OUT, e);
}

static bool is_owned(const struct testhost *w, uint32_t n)
{
	auto_vf_entry struct vf_entry x = testhost_entry(w, n);

	return x.owned;
}

static bool has_net1(const struct pod *p)
{
	struct link_info link;
	struct err e;

	return nl_link_by_name(p->nl, "net1", &link, &e) == 0;
}

#define NAMED    "\"deviceID\":\"0000:3b:02.2\""
#define RESOURCE "\"resource\":{\"pf\":[\"pf0\"]}"

START_TEST(a_VF_that_is_named)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	ck_assert_str_eq(testhost_vf(1), "0000:3b:02.2");
	good(call(&w, CNI_ADD, &p, NAMED, &e), &e);
	ck_assert(has_net1(&p) && is_owned(&w, 1));
	auto_free char *text = testing_printed(OUT);
	ck_assert_ptr_nonnull(strstr(text, "0000:3b:02.2"));
	good(call(&w, CNI_CHECK, &p, NAMED, &e), &e);
	good(call(&w, CNI_DEL, &p, NAMED, &e), &e);
	ck_assert(!has_net1(&p) && !is_owned(&w, 1));
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 0);
}
END_TEST

/* Which one it became is on record, and CHECK goes by that. */
START_TEST(a_VF_of_a_resource)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	fails(call(&w, CNI_CHECK, &p, RESOURCE, &e), &e, ERR_STATE, "");
	good(call(&w, CNI_ADD, &p, RESOURCE, &e), &e);
	ck_assert(has_net1(&p) && is_owned(&w, 0));
	good(call(&w, CNI_CHECK, &p, RESOURCE, &e), &e);
	fails(call(&w, CNI_CHECK, &p, RESOURCE ",\"mtu\":1280", &e), &e, ERR_STATE, "mtu 1500");
	good(call(&w, CNI_DEL, &p, RESOURCE, &e), &e);
	ck_assert(!is_owned(&w, 0));
}
END_TEST

#define GPU "0000:0f:00.0"

/* A VF that is named stays, near or not, and also if nobody knows the GPU. */
START_TEST(a_VF_that_is_named_and_shall_be_near)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	fakepci_function(TESTHOST_SYS, GPU);
	good(call(&w, CNI_ADD, &p, NAMED "," RESOURCE ",\"near\":\"" GPU "\"", &e), &e);
	ck_assert(has_net1(&p) && is_owned(&w, 1));
	ck_assert(!testhost_log_has("is far from GPU") && !testhost_log_has("unknown whether"));
	good(call(&w, CNI_DEL, &p, NAMED, &e), &e);
	good(call(&w, CNI_ADD, &p, NAMED "," RESOURCE ",\"near\":\"gpu\"", &e), &e);
	ck_assert(has_net1(&p) && is_owned(&w, 1));
	ck_assert(testhost_log_has("unknown whether it is near to a GPU of the pod"));
	good(call(&w, CNI_DEL, &p, NAMED, &e), &e);
	/* Without a named VF the same is an error. */
	fails(call(&w, CNI_ADD, &p, RESOURCE ",\"near\":\"gpu\"", &e), &e, ERR_CONFIG,
	      "K8S_POD_NAME");
	fails(call(&w, CNI_ADD, &p, RESOURCE ",\"nearOnly\":true", &e), &e, ERR_CONFIG, "nearOnly");
}
END_TEST

START_TEST(a_named_VF_that_is_far)
{
	const struct testhost_pf other = { "0000:5e:00.0", "pf1", 1, 7 };
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	testhost_pf(&other);
	fakepci_function(TESTHOST_SYS, GPU);
	testhost_switch("0000:41:00.0", "0000:42:00.0", "0000:43:00.0");
	testhost_below(GPU, "0000:41:00.0/0000:42:00.0/0000:43:00.0");
	testhost_below("0000:5e:00.0", "0000:41:00.0/0000:42:00.0/0000:43:00.0");
	good(call(&w, CNI_ADD, &p,
		  NAMED ",\"resource\":{\"pf\":[\"pf0\",\"pf1\"]},\"near\":\"" GPU "\","
			"\"nearOnly\":true",
		  &e),
	     &e);
	ck_assert(is_owned(&w, 1));
	ck_assert(testhost_log_has("is far from GPU " GPU));
}
END_TEST

/* ---- the GPUs that the kubelet names ---- */

#define SOCKET "/mnt/pod-resources.sock"
#define OTHER  "0000:5e:00.0"
#define BELOW  "0000:41:00.0/0000:42:00.0/0000:43:00.0"
#define BOTH   "\"resource\":{\"pf\":[\"pf1\",\"pf0\"]},\"near\":\"gpu\""

/* A GPU, pf0 and pf1; near (a PF) is on the switch of the GPU. Multus says which pod it is. */
static struct testhost host_with_GPU(const char *near)
{
	struct testhost w = testhost(2);

	testhost_pf(&(struct testhost_pf){ OTHER, "pf1", 1, 7 });
	fakepci_function(TESTHOST_SYS, GPU);
	testhost_switch("0000:41:00.0", "0000:42:00.0", "0000:43:00.0");
	testhost_below(GPU, BELOW);
	testhost_below(near, BELOW);
	w.ctx.etc_dir = "/mnt";
	testing_file("/mnt/railhead.json", 0644, "{\"podResources\":\"" SOCKET "\"}");
	args = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=train-0";
	return w;
}

static pid_t kubelet(const char *devices)
{
	struct grpc_script s = { .status = "0" };
	struct wire answer = { .n = 0 };

	kubelet_pod(&answer, "default", "train-0", devices);
	s.body = kubelet_frame(&answer, &s.n_body);
	return testing_grpc_serve(SOCKET, &s);
}

START_TEST(the_kubelet_names_the_GPU)
{
	auto_testhost struct testhost w = host_with_GPU(TESTHOST_PF);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	pid_t server = kubelet("amd.com/gpu=" GPU);
	good(call(&w, CNI_ADD, &p, BOTH, &e), &e);
	testing_grpc_stop(server);
	ck_assert(has_net1(&p) && is_owned(&w, 0));
	ck_assert(testhost_log_has("is for GPU " GPU " from kubelet"));
	good(call(&w, CNI_DEL, &p, BOTH, &e), &e);
	ck_assert(!is_owned(&w, 0));
}
END_TEST

START_TEST(the_kubelet_names_a_GPU_that_is_far_from_the_named_VF)
{
	auto_testhost struct testhost w = host_with_GPU(OTHER);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	pid_t server = kubelet("amd.com/gpu=" GPU);
	good(call(&w, CNI_ADD, &p, NAMED "," BOTH, &e), &e);
	testing_grpc_stop(server);
	ck_assert(is_owned(&w, 1));
	ck_assert(testhost_log_has("is far from GPU " GPU));
}
END_TEST

/* One network of a cluster serves pods with and without GPUs, if the kubelet gives the VFs. */
START_TEST(a_pod_without_GPU)
{
	auto_testhost struct testhost w = host_with_GPU(OTHER);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	pid_t server = kubelet("nvidia.com/mlnx=0000:3b:02.2");
	good(call(&w, CNI_ADD, &p, NAMED "," BOTH, &e), &e);
	ck_assert(is_owned(&w, 1));
	ck_assert(testhost_log_has("the pod has no GPU"));
	ck_assert(!testhost_log_has("unknown whether") && !testhost_log_has("is far from"));
	good(call(&w, CNI_DEL, &p, NAMED, &e), &e);
	fails(call(&w, CNI_ADD, &p, BOTH, &e), &e, ERR_CONFIG,
	      "gave the pod default/train-0 no GPU");
	testing_grpc_stop(server);
}
END_TEST

/* The answer would only be a warning, so ADD does not wait long for it. */
START_TEST(a_silent_kubelet_and_a_named_VF)
{
	auto_testhost struct testhost w = host_with_GPU(OTHER);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	pid_t server = testing_grpc_serve(SOCKET, &(struct grpc_script){ .silent = true });
	int64_t begin = ctx_mono_ms();
	good(call(&w, CNI_ADD, &p, NAMED "," BOTH, &e), &e);
	ck_assert_int_lt(ctx_mono_ms() - begin, 9000);
	testing_grpc_stop(server);
	ck_assert(is_owned(&w, 1));
	ck_assert(testhost_log_has("no answer in time"));
}
END_TEST

START_TEST(no_VF_is_named)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	fails(call(&w, CNI_ADD, &p, "\"a\":1", &e), &e, ERR_CONFIG, "deviceID: missing");
	fails(call(&w, CNI_ADD, &p, NAMED "," RESOURCE, &e), &e, ERR_CONFIG, "exclude each other");
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 0);
}
END_TEST

START_TEST(the_plugins_own_step_fails)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	own_step_fails = true;
	fails(call(&w, CNI_ADD, &p, RESOURCE, &e), &e, ERR_KERNEL,
	      "move 0000:3b:02.0 into the pod");
	ck_assert(!is_owned(&w, 0) && !has_net1(&p));
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 0);
}
END_TEST

START_TEST(DEL_without_the_record)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct record_key key = { "net", "c1", "net1" };
	struct err e = { .msg = "" };

	good(call(&w, CNI_ADD, &p, NAMED, &e), &e);
	ck_assert_int_eq(record_remove(&w.ctx, &key, &e), 0);
	good(call(&w, CNI_DEL, &p, NAMED, &e), &e);
	ck_assert(!has_net1(&p) && !is_owned(&w, 1));
}
END_TEST

START_TEST(STATUS_of_a_resource)
{
	auto_testhost struct testhost w = testhost(1);
	const struct testhost_pf empty = { "0000:3b:00.1", "pf1", 0, 7 };
	struct err e = { .msg = "" };

	testhost_pf(&empty);
	good(call(&w, CNI_STATUS, NULL, RESOURCE, &e), &e);
	good(call(&w, CNI_STATUS, NULL, "\"a\":1", &e), &e);
	fails(call(&w, CNI_STATUS, NULL, "\"resource\":{\"pf\":[\"pf1\"]}", &e), &e,
	      ERR_UNAVAILABLE, "none of the PFs has VFs");
	fails(call(&w, CNI_STATUS, NULL, "\"resource\":{\"pf\":[\"none\"]}", &e), &e,
	      ERR_UNAVAILABLE, "none");
}
END_TEST

TEST_PROGRAM("plugins/sriov", a_VF_that_is_named, a_VF_of_a_resource,
	     a_VF_that_is_named_and_shall_be_near, a_named_VF_that_is_far,
	     the_kubelet_names_the_GPU, the_kubelet_names_a_GPU_that_is_far_from_the_named_VF,
	     a_pod_without_GPU, a_silent_kubelet_and_a_named_VF, no_VF_is_named,
	     the_plugins_own_step_fails, DEL_without_the_record, STATUS_of_a_resource)

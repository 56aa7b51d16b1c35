// SPDX-License-Identifier: Apache-2.0
/* The GPUs of a pod as its kubelet lists them, and the errors that say why there are none. */
#include <stdio.h>

#include "lib/testing/dir.h"
#include "lib/grpc/testing/server.h"
#include "lib/testing/testing.h"
#include "sriov/choose/near.h"
#include "topo/testing/gpus.h"
#include "topo/testing/kubelet.h"

#define SOCKET "/mnt/pod-resources.sock"
#define UUID0  "GPU-00000000-0000-0000-0000-000000000000"
#define UUID1  "GPU-11111111-1111-1111-1111-111111111111"
#define ARGS   "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=train-0"

static struct cni_call call;
static struct err e;

static void make(void)
{
	call.ctx = gpus_dir();
	call.ctx.etc_dir = "/mnt";
	call.env.args = ARGS;
	testing_file("/mnt/railhead.json", 0644, "{\"podResources\":\"" SOCKET "\"}");
	gpus_nvidia("0000:0f:00.0", UUID0, "0");
	gpus_nvidia("0000:47:00.0", UUID1, "1");
}

static const char *gpus(const char *devices)
{
	static char out[1024];
	struct wire w = { .n = 0 };
	struct grpc_script s = { .status = "0" };
	struct near_gpus g;
	pid_t kubelet;

	kubelet_pod(&w, "default", "train-0", devices);
	s.body = kubelet_frame(&w, &s.n_body);
	kubelet = testing_grpc_serve(SOCKET, &s);
	int rc = near_pod_gpus(&call, "near", ctx_mono_ms() + 60000, &g, &e);
	testing_grpc_stop(kubelet);
	if (rc) {
		(void)snprintf(out, sizeof(out), "error %d: %.900s", (int)e.code, e.msg);
		return out;
	}
	(void)snprintf(out, sizeof(out), "%s:", g.source);
	for (size_t i = 0; i < g.n; i++) {
		testing_append(out, sizeof(out), " ");
		testing_append(out, sizeof(out), g.gpu[i]);
	}
	return out;
}

START_TEST(the_kubelet_names_the_GPUs)
{
	make();
	ck_assert_str_eq(gpus("nvidia.com/gpu=" UUID1), "kubelet: 0000:47:00.0");
	ck_assert_str_eq(gpus("nvidia.com/gpu=" UUID1 "::2," UUID0 "::0"),
			 "kubelet: 0000:47:00.0 0000:0f:00.0");
	ck_assert_str_eq(gpus("claim:gpu.nvidia.com=gpu-0"), "kubelet: 0000:0f:00.0");
}
END_TEST

START_TEST(a_pod_without_GPU)
{
	make();
	ck_assert_str_eq(gpus("nvidia.com/mlnx=0000:3b:00.2"), "kubelet:");
	ck_assert_int_eq(near_no_gpu(&call, "rails", &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_str_eq(e.msg, "rails: \"gpu\": the kubelet gave the pod default/train-0 no GPU");
	ck_assert_ptr_nonnull(strstr(e.detail, "request one"));
}
END_TEST

START_TEST(too_many_GPUs_are_an_error)
{
	char given[2048] = "amd.com/gpu=", one[32];

	make();
	for (unsigned i = 0; i <= NEAR_GPUS_MAX; i++) {
		(void)snprintf(one, sizeof(one), "%s0000:%02x:00.0", i ? "," : "", i);
		testing_append(given, sizeof(given), one);
	}
	ck_assert_str_eq(gpus(given),
			 "error 7: near: \"gpu\": the pod has 17 GPUs, at most 16 are allowed");
}
END_TEST

static const char *without_kubelet(const char *args)
{
	struct near_gpus g;

	call.env.args = args;
	ck_assert_int_eq(near_pod_gpus(&call, "near", ctx_mono_ms() + 60000, &g, &e), -1);
	return e.msg;
}

START_TEST(without_a_pod_or_a_kubelet)
{
	make();
	ck_assert_str_eq(without_kubelet(ARGS),
			 "near: \"gpu\": " SOCKET ": connect: No such file or directory");
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(e.detail, "is the kubelet running"));
	ck_assert_ptr_nonnull(strstr(without_kubelet("K8S_POD_NAMESPACE=default"), "are unknown"));
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.detail, "or write another value for near"));
	testing_file("/mnt/railhead.json", 0644, "[]");
	ck_assert_ptr_nonnull(strstr(without_kubelet(ARGS), "railhead.json"));
}
END_TEST

TEST_PROGRAM("sriov/choose/near_pod", the_kubelet_names_the_GPUs, a_pod_without_GPU,
	     too_many_GPUs_are_an_error, without_a_pod_or_a_kubelet)

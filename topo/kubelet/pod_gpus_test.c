// SPDX-License-Identifier: Apache-2.0
/* The GPUs of a pod, from what the kubelet says and what drivers show. */
#include "topo/kubelet/pod_gpus.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/grpc/testing/server.h"
#include "lib/testing/testing.h"
#include "lib/testing/time.h"
#include "topo/kubelet/gpu_id.h"
#include "topo/testing/gpus.h"
#include "topo/testing/kubelet.h"

#define SOCKET "/mnt/gpus/pod-resources/kubelet.sock"
#define UUID0  "GPU-00000000-0000-0000-0000-000000000000"
#define UUID1  "GPU-11111111-1111-1111-1111-111111111111"

static const struct pod_name pod = { "default", "train-0" };
static const struct pod_query query = { .pod = { "default", "train-0" }, .wanted = gpu_id_is_gpu };
static struct ctx ctx;
static struct err e;

static void make(void)
{
	ctx = gpus_dir();
	gpus_nvidia("0000:0f:00.0", UUID0, "0");
	gpus_nvidia("0000:47:00.0", UUID1, "1");
	gpus_link("bus/pci/drivers/habanalabs/0000:19:00.0", "x");
	gpus_link("bus/pci/drivers/habanalabs/0000:1a:00.0", "x");
	gpus_link("class/accel/accel0/device", "../../../0000:1a:00.0");
	gpus_link("class/accel/accel1/device", "../../../0000:19:00.0");
	gpus_file("pod-resources/x", "");
}

static const char *words_of(const struct pod_gpus *g)
{
	static char out[2048];
	char addr[PCI_STR_LEN];

	*out = '\0';
	for (size_t i = 0; i < g->n; i++) {
		testing_append(out, sizeof(out), i ? " " : "");
		testing_append(out, sizeof(out), pci_format(g->gpu[i], addr));
	}
	return out;
}

static const char *gpus(const char *devices)
{
	static char out[1024];
	struct wire w = { .n = 0 };
	auto_pod_devices struct pod_devices d = { .n = 0 };
	struct pod_gpus g;

	kubelet_pod(&w, pod.ns, pod.name, devices);
	if (pod_resources_decode(w.bytes, w.n, &query, &d, &e) == 0 &&
	    pod_gpus_of(&ctx, &d, &g, &e) == 0)
		return words_of(&g);
	(void)snprintf(out, sizeof(out), "error %d: %.900s", (int)e.code, e.msg);
	return out;
}

START_TEST(devices_become_GPUs)
{
	make();
	ck_assert_str_eq(gpus(""), "");
	ck_assert_str_eq(gpus("nvidia.com/mlnx=0000:3b:00.2 dra.net=x"), "");
	ck_assert_str_eq(gpus("nvidia.com/gpu=" UUID1 "," UUID0), "0000:47:00.0 0000:0f:00.0");
	ck_assert_str_eq(gpus("amd.com/gpu=0000:83:00.0"), "0000:83:00.0");
	ck_assert_str_eq(gpus("claim:gpu.nvidia.com=gpu-1"), "0000:47:00.0");
	ck_assert_str_eq(gpus("claim:gaudi.intel.com=0000-19-00-0-0x1020"), "0000:19:00.0");
}
END_TEST

START_TEST(parts_and_shares_of_a_GPU_are_the_GPU)
{
	make();
	ck_assert_str_eq(gpus("nvidia.com/gpu.shared=" UUID0 "::0," UUID0 "::3"), "0000:0f:00.0");
	ck_assert_str_eq(gpus("claim:gpu.nvidia.com=gpu-0-mig-9-0-1,gpu-0-mig-9-4-1"),
			 "0000:0f:00.0");
	ck_assert_str_eq(gpus("amd.com/gpu=0000:83:00.0-slice-1,0000:83:00.0-slice-0"),
			 "0000:83:00.0");
}
END_TEST

START_TEST(a_pod_with_all_Gaudis_has_each_one)
{
	make();
	ck_assert_str_eq(gpus("habana.ai/gaudi=AM27043696,AO04008041"),
			 "0000:19:00.0 0000:1a:00.0");
	ck_assert_ptr_nonnull(
		strstr(gpus("habana.ai/gaudi=A1"),
		       "error 7: habana.ai/gaudi: the GPU of the pod's device \"A1\" is unknown: "
		       "no file shows its serial number, and the pod has 1 of 2 Gaudis"));
	ck_assert_ptr_nonnull(strstr(e.detail, "args.cni.gpus"));
}
END_TEST

/* Whatever ids another device plugin has, and however many. */
START_TEST(other_devices_do_not_matter)
{
	static char given[65536] = "nvidia.com/gpu=" UUID1 " smarter-devices/fuse=";
	char one[300];

	make();
	for (unsigned i = 0; i < 5000; i++) {
		(void)snprintf(one, sizeof(one), "%u,", i);
		testing_append(given, sizeof(given), one);
	}
	ck_assert_str_eq(gpus(given), "0000:47:00.0");
	memset(one, 'i', sizeof(one));
	one[200] = '\0';
	(void)snprintf(given, sizeof(given), "x/y=%s claim:dra.net=%s amd.com/gpu=0000:83:00.0",
		       one, one);
	ck_assert_str_eq(gpus(given), "0000:83:00.0");
	(void)snprintf(given, sizeof(given), "nvidia.com/gpu=%s", one);
	ck_assert_ptr_nonnull(strstr(gpus(given), "error 5: nvidia.com/gpu: the device \"iii"));
}
END_TEST

START_TEST(a_GPU_that_no_file_shows_is_an_error)
{
	make();
	ck_assert_ptr_nonnull(
		strstr(gpus("nvidia.com/gpu=" UUID0 ",GPU-x"),
		       "error 7: nvidia.com/gpu: the GPU of the pod's device \"GPU-x\""));
	ck_assert_ptr_nonnull(strstr(gpus("nvidia.com/mig-1g.5gb=MIG-"
					  "11111111-1111-1111-1111-111111111111"),
				     ": 2 GPUs have MIG devices or may"));
}
END_TEST

START_TEST(a_pod_has_at_most_64_GPUs)
{
	char given[4096] = "amd.com/gpu=", one[32];

	make();
	for (unsigned i = 0; i < POD_GPUS_MAX; i++) {
		(void)snprintf(one, sizeof(one), "0000:%02x:00.0,", i);
		testing_append(given, sizeof(given), one);
	}
	given[strlen(given) - 1] = '\0';
	ck_assert_uint_gt(strlen(gpus(given)), 60 * strlen("0000:00:00.0 "));
	testing_append(given, sizeof(given), ",0001:00:00.0");
	ck_assert_str_eq(gpus(given), "error 7: the pod has more than 64 GPUs");
}
END_TEST

/* ---- the kubelet ---- */

static pid_t kubelet(struct grpc_script s, const char *devices)
{
	struct wire w = { .n = 0 };

	kubelet_pod(&w, "default", "other", "nvidia.com/gpu=" UUID0);
	kubelet_pod(&w, pod.ns, pod.name, devices);
	if (!s.status) {
		s.status = "0";
		s.body = kubelet_frame(&w, &s.n_body);
	}
	return testing_grpc_serve(SOCKET, &s);
}

static const char *asked_within(int64_t ms, struct pod_name of)
{
	static char out[1024];
	struct pod_gpus g;

	const struct kubelet_at kubelet = { .socket = SOCKET, .until = ctx_mono_ms() + ms };
	if (pod_gpus_ask(&ctx, &kubelet, of, &g, &e) == 0)
		return words_of(&g);
	(void)snprintf(out, sizeof(out), "error %d: %.900s", (int)e.code, e.msg);
	return out;
}

static const char *asked(struct pod_name of)
{
	return asked_within(60000, of);
}

START_TEST(the_kubelet_is_asked)
{
	make();
	pid_t server = kubelet((struct grpc_script){ .busy = 0 }, "nvidia.com/gpu=" UUID1);
	ck_assert_str_eq(asked(pod), "0000:47:00.0");
	ck_assert_str_eq(asked((struct pod_name){ "default", "unknown" }),
			 "error 11: " SOCKET ": the kubelet does not list the pod default/unknown");
	testing_grpc_stop(server);
}
END_TEST

START_TEST(a_rate_limit_is_waited_for)
{
	make();
	pid_t server = kubelet((struct grpc_script){ .busy = 3 }, "nvidia.com/gpu=" UUID1);
	ck_assert_str_eq(asked(pod), "0000:47:00.0");
	testing_grpc_stop(server);
}
END_TEST

START_TEST(a_silent_kubelet_meets_the_deadline)
{
	make();
	pid_t server = kubelet((struct grpc_script){ .silent = true }, "");
	ck_assert_str_eq(asked_within(100, pod),
			 "error 11: " SOCKET ": no answer in time: Connection timed out");
	ck_assert_str_eq(asked_within(-100, pod),
			 "error 11: " SOCKET ": no answer in time: Connection timed out");
	ck_assert_ptr_nonnull(strstr(e.detail, "is the kubelet running"));
	testing_grpc_stop(server);
}
END_TEST

/* The time of the deadline passes while the rate limit is waited for. */
START_TEST(a_rate_limit_until_the_deadline)
{
	make();
	pid_t server = kubelet((struct grpc_script){ .busy = 1000 }, "nvidia.com/gpu=" UUID1);
	faketime_begin(NULL);
	ck_assert_ptr_nonnull(strstr(asked_within(1000, pod), "status 8 (RESOURCE_EXHAUSTED)"));
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_int_eq(faketime_gone(), 950);
	testing_grpc_stop(server);
}
END_TEST

START_TEST(a_refusal_is_passed_on)
{
	make();
	pid_t server =
		kubelet((struct grpc_script){ .status = "12", .text = "unknown service" }, "");
	ck_assert_str_eq(asked(pod),
			 "error 5: " SOCKET ": List: status 12 (UNIMPLEMENTED): unknown service");
	ck_assert_ptr_nonnull(strstr(e.detail, "railhead.json"));
	testing_grpc_stop(server);
	ck_assert_str_eq(asked(pod), "error 11: " SOCKET ": connect: Connection refused");
	ck_assert_ptr_nonnull(strstr(e.detail, "is the kubelet running"));
}
END_TEST

static int ask(void *arg, struct err *err)
{
	const struct wire *w = arg;
	auto_pod_devices struct pod_devices d = { .n = 0 };
	struct pod_gpus g;

	return pod_resources_decode(w->bytes, w->n, &query, &d, err) ||
			       pod_gpus_of(&ctx, &d, &g, err)
		       ? -1
		       : 0;
}

START_TEST(no_memory_is_an_error)
{
	struct wire w = { .n = 0 };

	make();
	kubelet_pod(&w, pod.ns, pod.name, "nvidia.com/gpu=" UUID1 " habana.ai/gaudi=A1,A2");
	ck_assert_str_eq(alloc_fail_each(ask, &w), "ok");
}
END_TEST

TEST_PROGRAM("topo/kubelet/pod_gpus", devices_become_GPUs, parts_and_shares_of_a_GPU_are_the_GPU,
	     a_pod_with_all_Gaudis_has_each_one, other_devices_do_not_matter,
	     a_GPU_that_no_file_shows_is_an_error, a_pod_has_at_most_64_GPUs, the_kubelet_is_asked,
	     a_rate_limit_is_waited_for, a_silent_kubelet_meets_the_deadline,
	     a_rate_limit_until_the_deadline, a_refusal_is_passed_on, no_memory_is_an_error)

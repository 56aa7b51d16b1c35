// SPDX-License-Identifier: Apache-2.0
/* Answers of the kubelet: whose devices they name, and which ones cannot be decoded. */
#include "topo/kubelet/pod_resources.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "topo/testing/kubelet.h"

static const struct pod_name pod = { "default", "train-0" };
static struct err e;

static bool any(const char *owner, const char *id, bool claimed)
{
	(void)owner;
	(void)id;
	(void)claimed;
	return true;
}

static const struct pod_query query = { .pod = { "default", "train-0" }, .wanted = any };

static struct wire three_pods(const char *devices)
{
	struct wire w = { .n = 0 };

	kubelet_pod(&w, "default", "train-1", "nvidia.com/gpu=GPU-x");
	kubelet_pod(&w, pod.ns, pod.name, devices);
	kubelet_pod(&w, "other", "train-0", "nvidia.com/gpu=GPU-y");
	return w;
}

/* "owner=id ..." with "claim:" before a claimed one, or the error. */
static const char *devices_in(const struct wire *w)
{
	static char out[1024];
	auto_pod_devices struct pod_devices d = { .n = 0 };

	if (pod_resources_decode(w->bytes, w->n, &query, &d, &e)) {
		(void)snprintf(out, sizeof(out), "error %d: %.900s", (int)e.code, e.msg);
		return out;
	}
	*out = '\0';
	for (size_t i = 0; i < d.n; i++) {
		testing_append(out, sizeof(out), i ? " " : "");
		testing_append(out, sizeof(out), d.device[i].claimed ? "claim:" : "");
		testing_append(out, sizeof(out), d.device[i].owner);
		testing_append(out, sizeof(out), "=");
		testing_append(out, sizeof(out), d.device[i].id);
	}
	return out;
}

static const char *devices(const char *given)
{
	struct wire w = three_pods(given);

	return devices_in(&w);
}

START_TEST(devices_of_the_pod_alone)
{
	ck_assert_str_eq(devices("nvidia.com/gpu=GPU-1,GPU-2 nvidia.com/mlnx=0000:3b:00.1"),
			 "nvidia.com/gpu=GPU-1 nvidia.com/gpu=GPU-2 nvidia.com/mlnx=0000:3b:00.1");
	ck_assert_str_eq(devices("claim:gpu.nvidia.com=gpu-0,gpu-1-mig-9-0-1 amd.com/gpu=x"),
			 "amd.com/gpu=x claim:gpu.nvidia.com=gpu-0 "
			 "claim:gpu.nvidia.com=gpu-1-mig-9-0-1");
	ck_assert_str_eq(devices(""), "");
}
END_TEST

START_TEST(a_device_of_two_containers_counts_once)
{
	struct wire w = { .n = 0 }, p = { .n = 0 }, container = { .n = 0 }, d = { .n = 0 };

	wire_text(&d, 1, "nvidia.com/gpu");
	wire_text(&d, 2, "GPU-1");
	wire_message(&container, 2, &d);
	wire_text(&p, 1, pod.name);
	wire_text(&p, 2, pod.ns);
	wire_message(&p, 3, &container);
	wire_message(&p, 3, &container);
	wire_message(&w, 1, &p);
	ck_assert_str_eq(devices_in(&w), "nvidia.com/gpu=GPU-1");
}
END_TEST

START_TEST(a_pod_that_is_not_listed)
{
	struct wire w = { .n = 0 };

	ck_assert_str_eq(devices_in(&w),
			 "error 108: the kubelet does not list the pod default/train-0");
	kubelet_pod(&w, "default", "train-01", "");
	kubelet_pod(&w, "defaul", "train-0", "");
	ck_assert_ptr_nonnull(strstr(devices_in(&w), "does not list"));
}
END_TEST

START_TEST(two_pods_of_one_name_are_no_answer)
{
	struct wire w = three_pods("nvidia.com/gpu=GPU-1");

	kubelet_pod(&w, pod.ns, pod.name, "nvidia.com/gpu=GPU-2");
	ck_assert_str_eq(devices_in(&w), "error 11: the kubelet lists two pods default/train-0: an "
					 "older one has not ended");
}
END_TEST

START_TEST(bad_bytes_are_an_error)
{
	struct wire w = three_pods("nvidia.com/gpu=GPU-1");
	char name[400];

	w.n -= 3;
	ck_assert_str_eq(devices_in(&w), "error 5: the list of pods is malformed");
	memset(name, 'n', sizeof(name));
	name[POD_OWNER_LEN] = '\0';
	memcpy(name + POD_OWNER_LEN, "=id", 4);
	w = three_pods("");
	w.n = 0;
	name[POD_OWNER_LEN] = '=';
	kubelet_pod(&w, pod.ns, pod.name, name);
	ck_assert_ptr_nonnull(strstr(devices_in(&w), "a longer name than expected"));
}
END_TEST

START_TEST(an_id_that_is_too_long_is_an_error)
{
	char given[POD_DEVICE_LEN + 8] = "x/y=";

	memset(given + 4, 'i', POD_DEVICE_LEN);
	ck_assert_ptr_nonnull(strstr(devices(given), "x/y: the device \"iii"));
	given[4 + POD_DEVICE_LEN - 1] = '\0';
	ck_assert_uint_eq(strlen(devices(given)), 4 + POD_DEVICE_LEN - 1);
}
END_TEST

START_TEST(a_pod_with_too_many_devices)
{
	static char given[65536] = "x/y=";
	auto_pod_devices struct pod_devices d = { .n = 0 };
	char one[16];

	for (unsigned i = 0; i <= 4096; i++) {
		(void)snprintf(one, sizeof(one), i ? ",%u" : "%u", i);
		testing_append(given, sizeof(given), one);
	}
	ck_assert_str_eq(devices(given), "error 7: more than 4096 GPU devices of one pod");
	*strrchr(given, ',') = '\0';
	struct wire w = three_pods(given);
	ck_assert_int_eq(pod_resources_decode(w.bytes, w.n, &query, &d, &e), 0);
	ck_assert_uint_eq(d.n, 4096);
}
END_TEST

/* Each empty pod takes two bytes of the answer, and far more as a structure. */
START_TEST(decoding_has_a_limit)
{
	const size_t n = (size_t)4 << 20;
	auto_free uint8_t *bytes = calloc(n, 1);
	auto_pod_devices struct pod_devices d = { .n = 0 };

	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < n; i += 2)
		bytes[i] = 1 << 3 | 2;
	ck_assert_int_eq(pod_resources_decode(bytes, n, &query, &d, &e), -1);
	ck_assert_str_eq(e.msg, "the list of pods needs more than 64 MiB");
	ck_assert_int_eq(e.code, ERR_IO);
}
END_TEST

static int append(void *out, const char *resource, const char *id, struct err *err)
{
	if (!strcmp(id, "stop"))
		return err_set(err, ERR_BUSY, 0, "stopped");
	testing_append(out, 256, resource);
	testing_append(out, 256, "=");
	testing_append(out, 256, id);
	testing_append(out, 256, " ");
	return 0;
}

START_TEST(devices_of_all_pods)
{
	struct wire w = three_pods("a.b/c=1,2 claim:gpu.nvidia.com=gpu-0"), empty = { .n = 0 };
	char out[256] = "";

	ck_assert_int_eq(pod_resources_each(w.bytes, w.n, append, out, &e), 0);
	ck_assert_str_eq(out, "nvidia.com/gpu=GPU-x a.b/c=1 a.b/c=2 nvidia.com/gpu=GPU-y ");
	ck_assert_int_eq(pod_resources_each(empty.bytes, 0, append, out, &e), 0);
	w = three_pods("a.b/c=1,stop,3");
	*out = '\0';
	ck_assert_int_eq(pod_resources_each(w.bytes, w.n, append, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	ck_assert_str_eq(out, "nvidia.com/gpu=GPU-x a.b/c=1 ");
	ck_assert_int_eq(pod_resources_each(w.bytes, w.n - 1, append, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
}
END_TEST

static int decode(void *arg, struct err *err)
{
	const struct wire *w = arg;
	auto_pod_devices struct pod_devices d = { .n = 0 };

	return pod_resources_decode(w->bytes, w->n, &query, &d, err);
}

START_TEST(no_memory_is_an_error)
{
	struct wire w = three_pods("nvidia.com/gpu=GPU-1,GPU-2 claim:gpu.nvidia.com=gpu-0");

	ck_assert_str_eq(alloc_fail_each(decode, &w), "ok");
}
END_TEST

TEST_PROGRAM("topo/kubelet/pod_resources", devices_of_the_pod_alone,
	     a_device_of_two_containers_counts_once, a_pod_that_is_not_listed,
	     two_pods_of_one_name_are_no_answer, bad_bytes_are_an_error,
	     an_id_that_is_too_long_is_an_error, a_pod_with_too_many_devices, decoding_has_a_limit,
	     devices_of_all_pods, no_memory_is_an_error)

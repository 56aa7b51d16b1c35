// SPDX-License-Identifier: Apache-2.0
/* Files of drivers, and which GPU they show. */
#include "topo/kubelet/gpu_find.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "topo/testing/gpus.h"

#define UUID "GPU-5c3f7e7a-0c3d-4b7e-9a53-8d1c6f7a2b10"
#define MIG  "MIG-5c3f7e7a-0c3d-4b7e-9a53-8d1c6f7a2b11"

static struct ctx ctx;
static struct err e;

static const char *found(enum gpu_id_kind kind, uint32_t number, const char *text)
{
	static char out[1024];
	struct gpu_id id = { .kind = kind, .number = number };
	auto_gpu_files struct gpu_files files = { .ctx = &ctx };
	struct pci_addr addr;

	(void)snprintf(id.text, sizeof(id.text), "%s", text);
	if (gpu_find(&files, &id, &addr, &e) == 0)
		return pci_format(addr, out);
	(void)snprintf(out, sizeof(out), "error %d: %.900s", (int)e.code, e.msg);
	return out;
}

START_TEST(a_GPU_of_NVIDIA_by_UUID_and_number)
{
	ctx = gpus_dir();
	gpus_nvidia("0000:0f:00.0", UUID, "1");
	gpus_nvidia("0000:10:00.0", "GPU-another", "0");
	gpus_file("proc/driver/nvidia/gpus/readme", "x");
	ck_assert_str_eq(found(GPU_ID_NVIDIA, 0, UUID), "0000:0f:00.0");
	ck_assert_str_eq(found(GPU_ID_NVIDIA_MINOR, 0, "gpu-0"), "0000:10:00.0");
	ck_assert_str_eq(found(GPU_ID_NVIDIA_MINOR, 1, "gpu-1"), "0000:0f:00.0");
	ck_assert_str_eq(found(GPU_ID_NVIDIA_MINOR, 2, "gpu-2"),
			 "error 108: gpu-2 is not in " GPUS_DIR "/proc/driver/nvidia/gpus");
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_NVIDIA, 0, MIG), "error 108"));
}
END_TEST

START_TEST(without_a_driver_nothing_is_known)
{
	ctx = gpus_dir();
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_NVIDIA, 0, UUID), "error 108: " UUID));
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_NVIDIA_MIG, 0, MIG), ": 0 GPUs have"));
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_DRM_CARD, 1, ""), "error 108: card1 is not"));
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_DRM_RENDER, 128, ""), "error 108: renderD128"));
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_AMD_XCP, 3, ""), "amdgpu_xcp_3/drm"));
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_ACCEL, 3, ""), "error 108: accel3 is not"));
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_UNKNOWN, 0, "x"), "error 108: x has a form"));
	ck_assert_int_eq(gpu_find_gaudis(&ctx, NULL, 0, &e), 0);
}
END_TEST

START_TEST(a_MIG_device_of_the_only_GPU_that_has_any)
{
	ctx = gpus_dir();
	gpus_nvidia("0000:0f:00.0", UUID, "1");
	gpus_nvidia("0000:10:00.0", "GPU-another", "0");
	gpus_file("proc/driver/nvidia/capabilities/gpu0/mig/readme", "");
	gpus_file("proc/driver/nvidia/capabilities/gpu1/mig/readme", "");
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_NVIDIA_MIG, 0, MIG), ": 0 GPUs have"));
	gpus_file("proc/driver/nvidia/capabilities/gpu1/mig/gi7/access", "");
	ck_assert_str_eq(found(GPU_ID_NVIDIA_MIG, 0, MIG), "0000:0f:00.0");
	gpus_file("proc/driver/nvidia/capabilities/gpu0/mig/gi2/access", "");
	ck_assert_str_eq(found(GPU_ID_NVIDIA_MIG, 0, MIG),
			 "error 108: no file shows which GPU has " MIG
			 ": 2 GPUs have MIG devices or may have some");
}
END_TEST

/* Not seen is not gone: the MIG device can be on the GPU whose files cannot be read. */
START_TEST(a_GPU_may_have_MIG_devices_that_no_file_shows)
{
	static const char *const want = ": 2 GPUs have MIG devices or may have some";

	ctx = gpus_dir();
	gpus_nvidia("0000:0f:00.0", UUID, "1");
	gpus_file("proc/driver/nvidia/capabilities/gpu1/mig/gi7/access", "");
	ck_assert_str_eq(found(GPU_ID_NVIDIA_MIG, 0, MIG), "0000:0f:00.0");
	gpus_nvidia("0000:10:00.0", "GPU-another", "");
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_NVIDIA_MIG, 0, MIG), want));
	gpus_nvidia("0000:10:00.0", "GPU-another", "0");
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_NVIDIA_MIG, 0, MIG), want));
	gpus_file("proc/driver/nvidia/capabilities/gpu0/mig/readme", "");
	ck_assert_str_eq(found(GPU_ID_NVIDIA_MIG, 0, MIG), "0000:0f:00.0");
	ck_assert_int_eq(unlink(GPUS_DIR "/proc/driver/nvidia/gpus/0000:10:00.0/information"), 0);
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_NVIDIA_MIG, 0, MIG), want));
}
END_TEST

START_TEST(files_are_read_once_for_a_pod)
{
	const struct gpu_id uuid = { .kind = GPU_ID_NVIDIA, .text = UUID },
			    mig = { .kind = GPU_ID_NVIDIA_MIG, .text = MIG };
	auto_gpu_files struct gpu_files files = { .ctx = &ctx };
	struct pci_addr addr;

	ctx = gpus_dir();
	gpus_nvidia("0000:0f:00.0", UUID, "1");
	gpus_file("proc/driver/nvidia/capabilities/gpu1/mig/gi7/access", "");
	ck_assert_int_eq(gpu_find(&files, &uuid, &addr, &e), 0);
	ck_assert_int_eq(gpu_find(&files, &mig, &addr, &e), 0);
	ck_assert_int_eq(rename(GPUS_DIR "/proc/driver", GPUS_DIR "/proc/gone"), 0);
	addr.bus = 0;
	ck_assert_int_eq(gpu_find(&files, &uuid, &addr, &e), 0);
	ck_assert_int_eq(addr.bus, 0x0f);
	ck_assert_int_eq(gpu_find(&files, &mig, &addr, &e), 0);
}
END_TEST

START_TEST(nodes_of_DRM_and_accel)
{
	ctx = gpus_dir();
	gpus_link("class/drm/card1/device", "../../../0000:83:00.0");
	gpus_link("class/drm/renderD129/device", "0000:84:00.0");
	gpus_link("class/accel/accel0/device", "../../../0000:0f:00.0");
	gpus_link("class/drm/card7/device", "../../../amdgpu_xcp_7");
	ck_assert_str_eq(found(GPU_ID_DRM_CARD, 1, "card1"), "0000:83:00.0");
	ck_assert_str_eq(found(GPU_ID_DRM_RENDER, 129, "gpu-1-129"), "0000:84:00.0");
	ck_assert_str_eq(found(GPU_ID_ACCEL, 0, "accel0"), "0000:0f:00.0");
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_DRM_CARD, 7, "card7"), "error 108"));
	const struct gpu_id id = { .kind = GPU_ID_PCI, .pci = { .bus = 0x11 } };
	struct pci_addr addr = { .bus = 1 };
	struct gpu_files files = { .ctx = &ctx };
	ck_assert_int_eq(gpu_find(&files, &id, &addr, &e), 0);
	ck_assert(pci_same(addr, id.pci));
}
END_TEST

/* A node of the CPU, one of another GPU, and one whose location_id counts partitions. */
START_TEST(a_partition_has_the_address_of_its_GPU)
{
	ctx = gpus_dir();
	gpus_link("class/drm/renderD131/device", "../../../amdgpu_xcp_2");
	gpus_kfd(0, "cpu_cores_count 96\ndrm_render_minor 0\nlocation_id 0\ndomain 0\n");
	gpus_kfd(1, "drm_render_minor 130\nlocation_id 33536\ndomain 0\n");
	gpus_kfd(2, "simd_count 304\nlocation_id 2147517186\ndomain 1\ndrm_render_minor 131\n");
	gpus_kfd(3, "drm_render_minor 1310\nlocation_id x\n");
	gpus_file("sys/devices/platform/amdgpu_xcp_2/drm/card9/dev", "");
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_AMD_XCP, 2, ""), "a render node is not in"));
	gpus_file("sys/devices/platform/amdgpu_xcp_2/drm/renderD131/dev", "");
	ck_assert_str_eq(found(GPU_ID_AMD_XCP, 2, ""), "0001:83:00.0");
	ck_assert_str_eq(found(GPU_ID_DRM_RENDER, 131, ""), "0001:83:00.0");
	ck_assert_str_eq(found(GPU_ID_DRM_RENDER, 130, ""), "0000:83:00.0");
	ck_assert_ptr_nonnull(strstr(found(GPU_ID_DRM_RENDER, 132, ""), "renderD132 is not in"));
}
END_TEST

START_TEST(all_Gaudis_of_the_driver)
{
	struct pci_addr addr[2];

	ctx = gpus_dir();
	gpus_link("bus/pci/drivers/habanalabs/0000:0f:00.0", "x");
	gpus_link("bus/pci/drivers/habanalabs/0000:10:00.0", "x");
	gpus_link("bus/pci/drivers/habanalabs/module", "x");
	ck_assert_int_eq(gpu_find_gaudis(&ctx, addr, 2, &e), 2);
	ck_assert_uint_eq(addr[1].bus, 0x10);
	ck_assert_int_eq(gpu_find_gaudis(&ctx, addr, 1, &e), 2);
}
END_TEST

static int find(void *arg, struct err *err)
{
	auto_gpu_files struct gpu_files files = { .ctx = &ctx };
	struct pci_addr addr;

	return gpu_find(&files, arg, &addr, err);
}

START_TEST(no_memory_is_an_error)
{
	struct gpu_id minor = { .kind = GPU_ID_NVIDIA_MINOR, .number = 1 },
		      mig = { .kind = GPU_ID_NVIDIA_MIG }, xcp = { .kind = GPU_ID_AMD_XCP };

	ctx = gpus_dir();
	gpus_nvidia("0000:0f:00.0", UUID, "1");
	gpus_file("proc/driver/nvidia/capabilities/gpu1/mig/gi7/access", "");
	gpus_kfd(1, "drm_render_minor 130\nlocation_id 33536\ndomain 0\n");
	gpus_file("sys/devices/platform/amdgpu_xcp_0/drm/renderD130/dev", "");
	ck_assert_str_eq(alloc_fail_each(find, &minor), "ok");
	ck_assert_str_eq(alloc_fail_each(find, &mig), "ok");
	ck_assert_str_eq(alloc_fail_each(find, &xcp), "ok");
}
END_TEST

TEST_PROGRAM("topo/kubelet/gpu_find", a_GPU_of_NVIDIA_by_UUID_and_number,
	     without_a_driver_nothing_is_known, a_MIG_device_of_the_only_GPU_that_has_any,
	     a_GPU_may_have_MIG_devices_that_no_file_shows, files_are_read_once_for_a_pod,
	     nodes_of_DRM_and_accel, a_partition_has_the_address_of_its_GPU,
	     all_Gaudis_of_the_driver, no_memory_is_an_error)

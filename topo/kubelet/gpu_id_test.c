// SPDX-License-Identifier: Apache-2.0
/* Ids of each device plugin and driver, and what they mean. */
#include "topo/kubelet/gpu_id.h"

#include <stdio.h>

#include "lib/testing/testing.h"

#define UUID "5c3f7e7a-0c3d-4b7e-9a53-8d1c6f7a2b10"

static const char *meaning(const char *owner, const char *name, bool claimed)
{
	static const char *const kinds[] = {
		[GPU_ID_NONE] = "none",          [GPU_ID_PCI] = "pci",
		[GPU_ID_NVIDIA] = "nvidia",      [GPU_ID_NVIDIA_MIG] = "mig",
		[GPU_ID_NVIDIA_MINOR] = "minor", [GPU_ID_DRM_CARD] = "card",
		[GPU_ID_DRM_RENDER] = "render",  [GPU_ID_AMD_XCP] = "xcp",
		[GPU_ID_ACCEL] = "accel",        [GPU_ID_GAUDI] = "gaudi",
		[GPU_ID_UNKNOWN] = "unknown",
	};
	static char out[256];
	struct pod_device d = { .claimed = claimed };
	char addr[PCI_STR_LEN];

	(void)snprintf(d.owner, sizeof(d.owner), "%s", owner);
	(void)snprintf(d.id, sizeof(d.id), "%s", name);
	const struct gpu_id g = gpu_id_of(&d);
	switch (g.kind) {
	case GPU_ID_PCI:
		(void)snprintf(out, sizeof(out), "pci %s", pci_format(g.pci, addr));
		return out;
	case GPU_ID_NVIDIA:
	case GPU_ID_NVIDIA_MIG:
	case GPU_ID_GAUDI:
		(void)snprintf(out, sizeof(out), "%s %s", kinds[g.kind], g.text);
		return out;
	case GPU_ID_NVIDIA_MINOR:
	case GPU_ID_DRM_CARD:
	case GPU_ID_DRM_RENDER:
	case GPU_ID_AMD_XCP:
	case GPU_ID_ACCEL:
		(void)snprintf(out, sizeof(out), "%s %u", kinds[g.kind], g.number);
		return out;
	case GPU_ID_NONE:
	case GPU_ID_UNKNOWN:
		break;
	}
	return kinds[g.kind];
}

START_TEST(ids_of_device_plugins)
{
	static const struct {
		const char *resource, *id, *want;
	} t[] = {
		{ "nvidia.com/gpu", "GPU-" UUID, "nvidia GPU-" UUID },
		{ "nvidia.com/gpu.shared", "GPU-" UUID "::11", "nvidia GPU-" UUID },
		{ "nvidia.com/h100", "GPU-" UUID, "nvidia GPU-" UUID },
		{ "nvidia.com/mig-1g.10gb", "MIG-" UUID, "mig MIG-" UUID },
		{ "nvidia.com/mig-1g.10gb.shared", "MIG-" UUID "::0", "mig MIG-" UUID },
		{ "nvidia.com/mig-1g.5gb", "MIG-GPU-" UUID "/7/0", "nvidia GPU-" UUID },
		{ "nvidia.com/gpu", "MIG-GPU-" UUID "/7/0::3", "nvidia GPU-" UUID },
		{ "nvidia.com/gpu", "nvidia7", "minor 7" },
		{ "nvidia.com/gpu", "nvidia0/gi3/vgpu1", "minor 0" },
		{ "nvidia.com/gpu", "nvidia1/vgpu0", "minor 1" },
		{ "nvidia.com/gpu", "nvidia1x", "unknown" },
		{ "nvidia.com/gpu", "nvidia", "unknown" },
		/* not one of NVIDIA's own plugin */
		{ "nvidia.com/gpu", "GPU-" UUID "-3", "unknown" },
		{ "nvidia.com/gpu", "GPU-" UUID "::x", "unknown" },
		{ "nvidia.com/gpu", "GPU-" UUID "::", "unknown" },
		{ "nvidia.com/gpu", "GPU-5c3f7e7a", "unknown" },
		{ "nvidia.com/gpu", "MIG-GPU-" UUID, "unknown" },
		{ "nvidia.com/gpu", "0", "unknown" },
		{ "nvidia.com/gpu", "", "unknown" },
		{ "nvidia.com/mlnx_rail0", "0000:3b:00.2", "none" },
		{ "nvidia.com/hostdev", "GPU", "none" },
		{ "vendor.com/gpu", "GPU-" UUID, "none" },
		{ "amd.com/gpu", "0000:83:00.0", "pci 0000:83:00.0" },
		{ "amd.com/gpu", "0000:83:00.0-slice-2", "pci 0000:83:00.0" },
		{ "amd.com/gpu", "card3", "card 3" },
		{ "amd.com/gpu", "amdgpu_xcp_30", "xcp 30" },
		{ "amd.com/cpx_nps4", "amdgpu_xcp_0-slice-1", "xcp 0" },
		{ "amd.com/spx_nps1", "0001:83:00.0", "pci 0001:83:00.0" },
		{ "amd.com/gpu", "card", "unknown" },
		{ "amd.com/gpu", "card3x", "unknown" },
		{ "amd.com/gpu", "0000:83:00.0-slice-", "unknown" },
		{ "amd.com/nic", "0000:84:00.0", "none" },
		{ "amd.com/", "0000:84:00.0", "none" },
		{ "habana.ai/gaudi", "AM27043696", "gaudi AM27043696" },
		/* of early releases */
		{ "habana.ai/gaudi", "01P0-HL2080A0-15-TF8A81-09-07-06",
		  "gaudi 01P0-HL2080A0-15-TF8A81-09-07-06" },
		{ "habana.ai/gaudi", "", "unknown" },
		{ "habana.ai/goya", "AN12345678", "none" },
		{ "cpu", "", "none" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		ck_assert_str_eq(meaning(t[i].resource, t[i].id, false), t[i].want);
}
END_TEST

START_TEST(names_of_claimed_devices)
{
	static const struct {
		const char *driver, *name, *want;
	} t[] = {
		{ "gpu.nvidia.com", "gpu-3", "minor 3" },
		{ "gpu.nvidia.com", "gpu-12-mig-9-4-4", "minor 12" },
		{ "gpu.nvidia.com", "gpu-0-mig-1g5gb-19-3", "minor 0" },
		{ "gpu.nvidia.com", "gpu-vfio-0", "unknown" },
		{ "gpu.nvidia.com", "gpu-3x", "unknown" },
		{ "gpu.nvidia.com", "gpu-", "unknown" },
		{ "gpu.nvidia.com", "gpu-99999999999999", "unknown" },
		{ "gpu.amd.com", "gpu-1-129", "render 129" },
		{ "gpu.amd.com", "gpu-1", "unknown" },
		{ "gpu.amd.com", "gpu-1-129-2", "unknown" },
		{ "gpu.amd.com", "gpu-vfio-1", "unknown" },
		{ "gaudi.intel.com", "0000-0f-00-0-0x1020", "pci 0000:0f:00.0" },
		{ "gaudi.intel.com", "accel5", "accel 5" },
		{ "gaudi.intel.com", "0000-0f-00-0", "unknown" },
		{ "gaudi.intel.com", "0000:0f:00.0-0x1020", "unknown" },
		{ "gaudi.intel.com", "0000-0g-00-0-0x1020", "unknown" },
		{ "dra.net", "gpu-1", "none" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		ck_assert_str_eq(meaning(t[i].driver, t[i].name, true), t[i].want);
	ck_assert_str_eq(meaning("gpu.nvidia.com", "gpu-3", false), "none");
	ck_assert_str_eq(meaning("nvidia.com/gpu", "GPU-" UUID, true), "none");
}
END_TEST

TEST_PROGRAM("topo/kubelet/gpu_id", ids_of_device_plugins, names_of_claimed_devices)

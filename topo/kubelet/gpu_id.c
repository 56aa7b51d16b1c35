/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_id.c: ids of device plugins and of drivers of dynamic resource allocation. Their sources are:
 *
 * NVIDIA/k8s-device-plugin, internal/rm/devices.go: a UUID of NVML. A replica of a shared GPU or
 * MIG device has "::N" behind it. Before driver 470 a MIG device is "MIG-GPU-<UUID>/<gi>/<ci>".
 *
 * GoogleCloudPlatform/container-engine-accelerators, pkg/gpu/nvidia/gpusharing/gpusharing.go: the
 * same resource with "nvidia<minor>", and "/gi<N>" or "/vgpu<N>" behind it for a part or a share.
 *
 * ROCm/k8s-device-plugin, internal/pkg/amdgpu/amdgpu.go and internal/pkg/plugin/timeslice.go: a PCI
 * address, "amdgpu_xcp_N" for a partition, or "cardN" in old releases. A time slice has "-slice-N"
 * behind it. Resources are "amd.com/gpu", or "amd.com/cpx_nps4" and the like for partitions.
 *
 * HabanaAI/habanalabs-k8s-device-plugin, habanalabs.go: the serial number of the Gaudi; early
 * releases its UUID. server.go: the container gets /dev/accel/accelN of each.
 *
 * kubernetes-sigs/dra-driver-nvidia-gpu, cmd/gpu-kubelet-plugin/deviceinfo.go: "gpu-<minor>", or
 * "gpu-<minor>-mig-..." for a MIG device.
 *
 * ROCm/k8s-gpu-dra-driver, cmd/gpu-kubeletplugin/deviceinfo.go: "gpu-<card>-<render node>".
 *
 * intel/intel-resource-drivers-for-kubernetes, pkg/gaudi/discovery: "0000-0f-00-0-0x1020", or
 * "accelN".
 */
#include "topo/kubelet/gpu_id.h"

#include <string.h>

#define UUID_LEN 36

/* If text begins with prefix, what is behind it; else NULL. */
static const char *gpu_id_behind(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0 ? text + strlen(prefix) : NULL;
}

/* The number that text begins with. *rest is what follows its digits. */
static bool gpu_id_take_number(const char *text, uint32_t *out, const char **rest)
{
	char digits[12];
	size_t len = strspn(text, "0123456789");
	uint64_t n;

	if (slice_copy((struct slice){ text, len }, digits, sizeof(digits)) ||
	    parse_u64(digits, 0, UINT32_MAX, &n))
		return false;
	*out = (uint32_t)n;
	*rest = text + len;
	return true;
}

/* "cardN" and nothing more. */
static bool is_numbered(const char *text, const char *prefix, uint32_t *out)
{
	const char *digits = gpu_id_behind(text, prefix), *rest;

	return digits && gpu_id_take_number(digits, out, &rest) && !*rest;
}

static bool is_uuid(const char *s)
{
	for (size_t i = 0; i < UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (dash ? s[i] != '-' : hex_digit(s[i]) < 0)
			return false;
	}
	return true;
}

/* Remove a mark with a number from the end: of "X::3" or "X-slice-3" X is left. */
static void cut_share(char *id, const char *mark)
{
	uint32_t n;

	for (char *at = strstr(id, mark); at; at = strstr(at + 1, mark)) {
		if (is_numbered(at, mark, &n)) {
			*at = '\0';
			return;
		}
	}
}

static bool of_nvidia(struct gpu_id *g)
{
	char *id = g->text;
	const char *uuid, *minor = gpu_id_behind(id, "nvidia"), *rest;

	if (minor) {
		g->kind = GPU_ID_NVIDIA_MINOR;
		return gpu_id_take_number(minor, &g->number, &rest) && (!*rest || *rest == '/');
	}
	cut_share(id, "::");
	uuid = gpu_id_behind(id, "MIG-GPU-");
	if (uuid && is_uuid(uuid) && uuid[UUID_LEN] == '/') {
		memmove(id, id + strlen("MIG-"), strlen("GPU-") + UUID_LEN);
		id[strlen("GPU-") + UUID_LEN] = '\0';
		g->kind = GPU_ID_NVIDIA;
		return true;
	}
	uuid = gpu_id_behind(id, "GPU-");
	g->kind = uuid ? GPU_ID_NVIDIA : GPU_ID_NVIDIA_MIG;
	uuid = uuid ? uuid : gpu_id_behind(id, "MIG-");
	return uuid && is_uuid(uuid) && !uuid[UUID_LEN];
}

static bool of_amd(struct gpu_id *g)
{
	cut_share(g->text, "-slice-");
	if (is_numbered(g->text, "amdgpu_xcp_", &g->number))
		g->kind = GPU_ID_AMD_XCP;
	else if (is_numbered(g->text, "card", &g->number))
		g->kind = GPU_ID_DRM_CARD;
	else
		g->kind = GPU_ID_PCI;
	return g->kind != GPU_ID_PCI || pci_parse(g->text, &g->pci) == 0;
}

static bool of_habana(struct gpu_id *g)
{
	g->kind = GPU_ID_GAUDI;
	return *g->text != '\0';
}

static bool claimed_nvidia(struct gpu_id *g)
{
	const char *minor = gpu_id_behind(g->text, "gpu-"), *rest;

	g->kind = GPU_ID_NVIDIA_MINOR;
	return minor && gpu_id_take_number(minor, &g->number, &rest) &&
	       (!*rest || gpu_id_behind(rest, "-mig-"));
}

static bool claimed_amd(struct gpu_id *g)
{
	const char *card = gpu_id_behind(g->text, "gpu-"), *rest;
	uint32_t ignored;

	g->kind = GPU_ID_DRM_RENDER;
	return card && gpu_id_take_number(card, &ignored, &rest) &&
	       is_numbered(rest, "-", &g->number);
}

static bool claimed_gaudi(struct gpu_id *g)
{
	char addr[] = "0000:00:00.0";
	const size_t len = sizeof(addr) - 1;

	g->kind = GPU_ID_ACCEL;
	if (is_numbered(g->text, "accel", &g->number))
		return true;
	g->kind = GPU_ID_PCI;
	if (strlen(g->text) < len || !gpu_id_behind(g->text + len, "-0x"))
		return false;
	for (size_t i = 0; i < len; i++) {
		bool punctuation = addr[i] == ':' || addr[i] == '.';
		if (punctuation && g->text[i] != '-')
			return false;
		if (!punctuation)
			addr[i] = g->text[i];
	}
	return pci_parse(addr, &g->pci) == 0;
}

static bool is_amd_gpu(const char *resource)
{
	const char *name = gpu_id_behind(resource, "amd.com/");

	return name && (!strcmp(name, "gpu") || (name[0] && !strncmp(name + 1, "px_nps", 6)));
}

/* Other resources of this domain have ids of another form: network devices for example. */
static bool is_nvidia_gpu(const char *resource, const char *id)
{
	return !strcmp(resource, "nvidia.com/gpu") ||
	       (gpu_id_behind(resource, "nvidia.com/") &&
		(gpu_id_behind(id, "GPU-") || gpu_id_behind(id, "MIG-")));
}

static bool (*reader_of(const char *owner, const char *id, bool claimed))(struct gpu_id *)
{
	if (claimed)
		return !strcmp(owner, "gpu.nvidia.com")    ? claimed_nvidia
		       : !strcmp(owner, "gpu.amd.com")     ? claimed_amd
		       : !strcmp(owner, "gaudi.intel.com") ? claimed_gaudi
							   : NULL;
	return is_nvidia_gpu(owner, id)            ? of_nvidia
	       : is_amd_gpu(owner)                 ? of_amd
	       : !strcmp(owner, "habana.ai/gaudi") ? of_habana
						   : NULL;
}

bool gpu_id_is_gpu(const char *owner, const char *id, bool claimed)
{
	return reader_of(owner, id, claimed) != NULL;
}

struct gpu_id gpu_id_of(const struct pod_device *d)
{
	bool (*read)(struct gpu_id *) = reader_of(d->owner, d->id, d->claimed);
	struct gpu_id g = { .kind = GPU_ID_NONE };

	memcpy(g.text, d->id, sizeof(g.text));
	if (read && !read(&g))
		g.kind = GPU_ID_UNKNOWN;
	return g;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_id.h: what the name of a device of a pod says about a GPU. Pure. */
#ifndef RAILHEAD_TOPO_KUBELET_GPU_ID_H
#define RAILHEAD_TOPO_KUBELET_GPU_ID_H

#include "lib/device/pci.h"
#include "topo/kubelet/pod_resources.h"

enum gpu_id_kind {
	GPU_ID_NONE,         /* it is not a GPU that this table knows */
	GPU_ID_PCI,          /* pci */
	GPU_ID_NVIDIA,       /* text: "GPU-" and a UUID */
	GPU_ID_NVIDIA_MIG,   /* text: "MIG-" and a UUID: a part of some GPU */
	GPU_ID_NVIDIA_MINOR, /* number: of /dev/nvidiaN */
	GPU_ID_DRM_CARD,     /* number: of /dev/dri/cardN */
	GPU_ID_DRM_RENDER,   /* number: of /dev/dri/renderDN */
	GPU_ID_AMD_XCP,      /* number: of the platform device amdgpu_xcp_N, a part of a GPU */
	GPU_ID_ACCEL,        /* number: of /dev/accel/accelN */
	GPU_ID_GAUDI,        /* text: the serial number of a Gaudi, which no file shows */
	GPU_ID_UNKNOWN,      /* a GPU, but the form of its id is not one of these */
};

struct gpu_id {
	enum gpu_id_kind kind;
	struct pci_addr pci;
	uint32_t number;
	char text[POD_DEVICE_LEN];
};

/*
 * gpu_id_is_gpu - a pod_device_filter: the device belongs to a resource or a driver of this table.
 * gpu_id_of - by the owner of the device and the form of its id.
 */
bool gpu_id_is_gpu(const char *owner, const char *id, bool claimed);
struct gpu_id gpu_id_of(const struct pod_device *d);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* pod_gpus.h: the GPUs of a pod by PCI address, as the kubelet of this host gave them. */
#ifndef RAILHEAD_TOPO_KUBELET_POD_GPUS_H
#define RAILHEAD_TOPO_KUBELET_POD_GPUS_H

#include "lib/base/ctx.h"
#include "lib/device/pci.h"
#include "topo/kubelet/pod_list.h"
#include "topo/kubelet/pod_resources.h"

#define POD_GPUS_MAX 64

struct pod_gpus {
	struct pci_addr gpu[POD_GPUS_MAX]; /* each once, in the order of the answer */
	size_t n;
};

/*
 * pod_gpus_of - the GPUs among the devices of a pod; n may become 0. Parts of a GPU and shares of
 * it count as the GPU. ERR_CONFIG: a device is a GPU, but no file shows which one; the message
 * names resource and id, and says what to do.
 */
int pod_gpus_of(const struct ctx *ctx, const struct pod_devices *devices, struct pod_gpus *out,
		struct err *e) must_check;

/* pod_devices_ask - pod_list_ask(), then pod_resources_decode(). ERR_AGAIN also: the kubelet does
 * not know the pod yet. */
int pod_devices_ask(const struct kubelet_at *kubelet, const struct pod_query *query,
		    struct pod_devices *out, struct err *e) must_check;

/*
 * pod_gpus_ask - pod_list_ask(), then as pod_gpus_of. ERR_AGAIN also: the kubelet does not know the
 * pod yet; ERR_IO also: the answer is malformed.
 */
int pod_gpus_ask(const struct ctx *ctx, const struct kubelet_at *kubelet, struct pod_name pod,
		 struct pod_gpus *out, struct err *e) must_check;

#endif

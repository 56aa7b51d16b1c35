/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h: which files of /dev a pod got with its devices: the checkpoint of the kubelet's
 * device manager. Pure.
 *
 * The kubelet stores the answers of device plugins in device-plugins/kubelet_internal_checkpoint,
 * before it creates the pod's sandbox. The form of that file has no version (k8s.io/kubernetes,
 * pkg/kubelet/cm/devicemanager/checkpoint).
 */
#ifndef RAILHEAD_TOPO_KUBELET_CHECKPOINT_H
#define RAILHEAD_TOPO_KUBELET_CHECKPOINT_H

#include "lib/base/parse.h"
#include "topo/kubelet/pod_resources.h"

#define CHECKPOINT_ACCELS_MAX 64

/* Numbers of /dev/accel/accelN, each once. */
struct checkpoint_accels {
	uint32_t number[CHECKPOINT_ACCELS_MAX];
	size_t n;
};

/*
 * checkpoint_accels - those that the device plugin of this resource gave with the pod's devices of
 * it, in the text of a checkpoint. There is one for each device, or the call fails. ERR_NOTFOUND:
 * the text does not show that; ERR_DECODE: it is not a checkpoint, or exceeds JSON_LONG_SIZE;
 * ERR_NOMEM.
 */
int checkpoint_accels(struct slice text, const struct pod_devices *pod, const char *resource,
		      struct checkpoint_accels *out, struct err *e) must_check;

#endif

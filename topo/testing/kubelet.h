/* SPDX-License-Identifier: Apache-2.0 */
/* kubelet.h: answers of the kubelet's pod-resources API, as bytes. */
#ifndef RAILHEAD_TOPO_TESTING_KUBELET_H
#define RAILHEAD_TOPO_TESTING_KUBELET_H

#include "lib/base/base.h"

/* A message of Protocol Buffers that grows. */
struct wire {
	uint8_t bytes[65536];
	size_t n;
};

/* wire_text - add a field with this text. wire_message - add one with another message. */
void wire_text(struct wire *w, unsigned field, const char *text);
void wire_message(struct wire *w, unsigned field, const struct wire *inner);
/* wire_varint - add a field with a number. */
void wire_varint(struct wire *w, unsigned field, uint64_t value);

/*
 * kubelet_pod - add a pod with one container. devices: "nvidia.com/gpu=GPU-1,GPU-2
 * amd.com/gpu=...": of device plugins; and "claim:gpu.nvidia.com=gpu-0": of a claim. With fields
 * that no reader knows.
 */
void kubelet_pod(struct wire *answer, const char *ns, const char *name, const char *devices);

/* kubelet_frame - the answer with the prefix of gRPC, in a static buffer; *len: of all. */
const void *kubelet_frame(const struct wire *answer, size_t *len);

#endif

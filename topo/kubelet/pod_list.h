/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_list.h: asks the kubelet of this host which devices its pods have. pod_resources.h decodes
 * the answer.
 */
#ifndef RAILHEAD_TOPO_KUBELET_POD_LIST_H
#define RAILHEAD_TOPO_KUBELET_POD_LIST_H

#include "lib/grpc/unary.h"

struct kubelet_at {
	const char *socket;
	int64_t until; /* of ctx_mono_ms(), for all calls */
};

/*
 * pod_list_ask - call List of the pod-resources API, version 1. If the kubelet refuses a call
 * because of its rate limit, it is made again. The caller clears *out, whose status is GRPC_OK.
 * ERR_AGAIN: there is no kubelet, or it does not answer in time; ERR_FORBIDDEN: another user
 * listens there; ERR_IO, ERR_NOMEM.
 */
int pod_list_ask(const struct kubelet_at *kubelet, struct grpc_answer *out,
		 struct err *e) must_check;

#endif

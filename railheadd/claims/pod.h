/* SPDX-License-Identifier: Apache-2.0 */
/* pod.h: whether a pod can have rails by its claim, or why it is refused. Pure. */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_POD_H
#define RAILHEAD_RAILHEADD_CLAIMS_POD_H

#include "railheadd/claims/claim.h"

/*
 * claim_check_pod - pod is the object of the API server (v1), for which the claim is reserved.
 * ERR_STATE: another pod has this name by now. ERR_FORBIDDEN: it is in the network of the node; its
 * RuntimeClass is not one that the device classes list; no container references the claim.
 */
int claim_check_pod(const struct json *pod, const struct claim *c, struct err *e) must_check;

#endif

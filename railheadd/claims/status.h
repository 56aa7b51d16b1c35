/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h: what a claim's status shows of its devices: interfaces, MAC and IP addresses
 * (status.devices of resource.k8s.io/v1, on by default since Kubernetes 1.33). Pure.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_STATUS_H
#define RAILHEAD_RAILHEADD_CLAIMS_STATUS_H

#include "railheadd/claims/claim.h"

/*
 * claim_status - the object that a server-side apply of the claim's status takes. results: those of
 * the plugin rails, one for each network of the claim. Owned by the caller; NULL: no memory.
 */
struct json *claim_status(const struct claim *c, const char *node, const struct json *results);

#endif

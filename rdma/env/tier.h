/* SPDX-License-Identifier: Apache-2.0 */
/* tier.h: the traffic class that bandwidth tiers of a pod's VFs stand for. */
#ifndef RAILHEAD_RDMA_ENV_TIER_H
#define RAILHEAD_RDMA_ENV_TIER_H

#include "lib/base/ctx.h"
#include "rdma/env/env.h"
#include "sriov/claim/tier.h"

#define RDMA_TIER_WHY_LEN (TIER_NAME_LEN + IFNAME_LEN + 32)

/*
 * rdma_tier_class - if o->tc is not given: set it from the records of the attachments in the
 * network namespace at path (NULL: nothing is set). o->tc_why becomes the text in why. If
 * o->interfaces is set, only these count. ERR_CONFIG if the records differ, because NCCL has one
 * traffic class for all rails.
 */
int rdma_tier_class(const struct ctx *ctx, const char *path, struct env_options *o,
		    char why[RDMA_TIER_WHY_LEN], struct err *e) must_check;

#endif

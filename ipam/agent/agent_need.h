/* SPDX-License-Identifier: Apache-2.0 */
/* agent_need.h: what an ADD needs of the node agent. */
#ifndef RAILHEAD_IPAM_AGENT_AGENT_NEED_H
#define RAILHEAD_IPAM_AGENT_AGENT_NEED_H

#include "lib/base/base.h"

/* So many addresses of a shared pool on this node. Texts are borrowed. */
struct agent_need {
	const char *pool;
	/* The only pod that gets one, "NAMESPACE/POD/INTERFACE"; NULL: any pod. */
	const char *identity;
	uint32_t addresses;
	int64_t wait_ms; /* at most */
};

#endif

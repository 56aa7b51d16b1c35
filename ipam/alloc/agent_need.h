/* SPDX-License-Identifier: Apache-2.0 */
/* agent_need.h: what an ADD needs of the node agent. */
#ifndef RAILHEAD_IPAM_ALLOC_AGENT_NEED_H
#define RAILHEAD_IPAM_ALLOC_AGENT_NEED_H

#include "lib/base/base.h"

/* "NAMESPACE/POD/INTERFACE", or of a virtual machine "NAMESPACE/vm:MACHINE/INTERFACE". */
#define AGENT_IDENTITY_LEN 336

/* So many addresses of a shared pool on this node. Texts are borrowed. */
struct agent_need {
	const char *pool;
	/* The identity of the only pod that gets one; NULL: any pod. */
	const char *identity;
	uint32_t addresses;
	int64_t wait_ms; /* at most */
	/*
	 * Output, if it is not NULL: whose the address is, if the agent knows that better. The pod
	 * of a virtual machine has a new name at each start. Else it keeps its text.
	 */
	char *is_of; /* AGENT_IDENTITY_LEN bytes */
};

#endif

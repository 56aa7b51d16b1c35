/* SPDX-License-Identifier: Apache-2.0 */
/*
 * membership.h: who is a member of which partition.
 */
#ifndef RAILHEAD_FABRIC_MEMBERSHIP_H
#define RAILHEAD_FABRIC_MEMBERSHIP_H

#include "lib/base/guid.h"
#include "lib/base/pkey.h"

/* An attachment: container and ifname identify it. The rest is for people; NULL: not known. */
struct sm_who {
	const char *network, *container, *ifname;
	const char *pod_namespace, *pod_name;
};

struct sm_member {
	uint16_t pkey; /* with PKEY_FULL_MEMBER: a full member, else a limited one */
	struct guid guid;
	struct sm_who who;
};

/* A membership that this node asked for. */
struct sm_entry {
	struct sm_member member; /* who: of the last owner */
	bool leaving;            /* queued: to be removed */
	int64_t since;           /* ns since 1970: of this state */
	unsigned tries;          /* removals that failed */
	int64_t tried;           /* ns since 1970: the last of them; 0: none */
	const char *error;       /* of the last one; "": none */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nl_dcb.h: what data center bridging says of an interface: priority flow control, and whether
 * priorities follow DSCP. Of PFs only: a VF and what lies above an interface have none of their
 * own.
 */
#ifndef RAILHEAD_LIB_NL_DCB_H
#define RAILHEAD_LIB_NL_DCB_H

#include "lib/nl.h"

struct dcb_info {
	bool has_pfc;
	uint8_t pfc; /* bit n: priority n does not drop but pauses */
	bool has_app;
	unsigned dscp_rules;   /* how many DSCP values have a priority of their own; with mlx5, any
				  at all means that DSCP is trusted */
	uint8_t dscp_prio[64]; /* priority of each DSCP value; only where has_dscp has its bit */
	uint64_t has_dscp;
};

/*
 * nl_dcb_get - ERR_NOTFOUND: errnum EOPNOTSUPP when the driver (or the kernel) has no DCB, ENODEV
 * when there is no such interface.
 */
int nl_dcb_get(struct nl *nl, const char *ifname, struct dcb_info *out, struct err *e) must_check;

#endif

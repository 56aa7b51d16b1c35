/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h: what the files of `railctl ipam verify` share. */
#ifndef RAILHEAD_RAILCTL_IPAM_VERIFY_H
#define RAILHEAD_RAILCTL_IPAM_VERIFY_H

#include "lib/cli/finding.h"
#include "railctl/ipam/ipam.h"

/*
 * compare_with_pods - compare the leases with the records of attachments and with the addresses on
 * their interfaces.
 */
struct living {
	struct cmd_run *run;
	struct ipam *ipam;
	uint64_t compared, unrecorded; /* outputs: leases with and without a record */
};
int compare_with_pods(struct living *l, struct findings *f, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h: what the files of `railctl ipam verify` share. */
#ifndef RAILHEAD_RAILCTL_IPAM_VERIFY_H
#define RAILHEAD_RAILCTL_IPAM_VERIFY_H

#include "lib/cli/finding.h"
#include "railctl/ipam/ipam.h"

/*
 * compare_with_lists - compare the store with lists of another node, read from path ("-": standard
 * input). The file has the JSON of `lease list` and `pool list` there, in any order. *out is an
 * object for JSON, owned by the caller. ERR_CONFIG if the lists are those of this node.
 */
struct against {
	struct ipam *ipam;
	const char *path;
};
int compare_with_lists(const struct against *a, struct findings *f, struct json **out,
		       struct err *e) must_check;

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

/* SPDX-License-Identifier: Apache-2.0 */
/* ipam_verify.h: what the files of `railctl ipam verify` share. */
#ifndef RAILHEAD_RAILCTL_IPAM_IPAM_VERIFY_H
#define RAILHEAD_RAILCTL_IPAM_IPAM_VERIFY_H

#include "railctl/ipam/ipam.h"

/* Problems, as text the moment they are found, or kept for JSON. */
struct problems {
	const struct out *out;
	struct json *list; /* NULL: text */
	uint64_t n;
	bool nomem;
};
void problems_add(struct problems *f, const char *fmt, ...) printf_like(2, 3);

/*
 * compare_with_lists - compare the store with lists of another node, read from path ("-": standard
 * input): what `lease list` and `pool list` print as JSON there, one or several after another.
 * *out is an object for JSON. ERR_CONFIG when the lists are this node's own.
 */
struct against {
	struct ipam *ipam;
	const char *path;
};
int compare_with_lists(const struct against *a, struct problems *f, struct json **out,
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
int compare_with_pods(struct living *l, struct problems *f, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftover.h: what the child of a pass tells the agent, one line of JSON each, and what the agent
 * tells the child: which leftovers it may repair now. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_LEFTOVER_H
#define RAILHEAD_RAILHEADD_WATCH_LEFTOVER_H

#include "lib/json/json.h"

#define LEFTOVER_LINE_MAX 8192 /* bytes of a line, with its line break */

enum leftover_kind {
	LEFTOVER_ATTACHMENT,
	LEFTOVER_RDMA, /* an attachment of the plugin rdma */
	LEFTOVER_VF,
	LEFTOVER_PARTITION, /* a membership whose removal is queued; tried in every pass */
	LEFTOVER_END,       /* the pass is complete; the other members are "" */
};
#define LEFTOVER_KINDS LEFTOVER_END

enum leftover_outcome {
	LEFTOVER_STALE,    /* to be repaired after the grace period */
	LEFTOVER_ALONE,    /* for a person */
	LEFTOVER_REPAIRED, /* it was due, and is repaired */
	LEFTOVER_FAILED,   /* it was due, and the repair failed: why */
};

/* Texts are never NULL. */
struct leftover {
	enum leftover_kind kind;
	enum leftover_outcome outcome;
	const char *what;  /* "NETWORK CONTAINER IFNAME", the PCI address of a VF, or "PKEY GUID" */
	const char *mark;  /* equal marks: nobody has used that name again in between */
	const char *state; /* "netns-gone" */
	const char *why;
	const char *pod; /* "NAMESPACE/NAME", "": not known */
	const char *uid; /* of the pod; "": not known */
};

/* leftover_kind_name - "attachment", "rdma", "vf", "partition". */
const char *leftover_kind_name(enum leftover_kind kind);

/* leftover_print - as a line, with its line break. NULL: no memory. The caller frees it. */
char *leftover_print(const struct leftover *f);

/*
 * leftover_parse - a line without its line break; *out borrows from *tree, which the caller frees.
 * ERR_DECODE, ERR_CONFIG, ERR_FIELD.
 */
int leftover_parse(const char *line, size_t len, struct json **tree, struct leftover *out,
		   struct err *e) must_check;

#endif

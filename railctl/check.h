/* SPDX-License-Identifier: Apache-2.0 */
/* check.h: all diagnoses of this node. */
#ifndef RAILHEAD_RAILCTL_CHECK_H
#define RAILHEAD_RAILCTL_CHECK_H

#include "lib/cli/cmd.h"
#include "lib/cli/finding.h"

extern const struct cmd cmd_check;

/* A diagnosis that could not be done has a finding of the code "not-done", which is unknown. */
struct diagnosis {
	const char *name;      /* the command that shows more: "rdma check" */
	struct findings found; /* worst first; owned */
	char none[sizeof(
		((struct err *)0)->msg)]; /* why there is nothing to check here; "": there is */
};

#define DIAGNOSES 7
struct diagnoses {
	struct diagnosis of[DIAGNOSES];
};

/* diagnoses_run - do all of them; an error of one is a finding. ERR_NOMEM. */
int diagnoses_run(struct cmd_run *r, struct diagnoses *d, struct err *e) must_check;
void diagnoses_clear(struct diagnoses *d);
#define auto_diagnoses auto_clean(diagnoses_clear)

/* diagnoses_count - how many findings have the state s. */
size_t diagnoses_count(const struct diagnoses *d, enum finding_state s);
/* diagnoses_state - the worst state; unknown if there was nothing to check. */
enum finding_state diagnoses_state(const struct diagnoses *d);

/*
 * diagnoses_status - the exit status: CMD_FAILED if a finding fails, with --strict also if one is a
 * warning. Else CHECK_UNKNOWN if the state of something is not known.
 */
#define CHECK_UNKNOWN 3
int diagnoses_status(const struct cmd_run *r, const struct diagnoses *d);

/* diagnoses_json - an object of findings_json(); each finding also has its diagnosis. The member
 * diagnoses is a list of name, state and reason. NULL: no memory. Owned by the caller. */
struct json *diagnoses_json(const struct diagnoses *d);

/* diagnoses_counts - "3 ok, 1 warned, 0 failed, 2 unknown". Returns out. */
#define DIAGNOSES_COUNTS_LEN 128
char *diagnoses_counts(const struct diagnoses *d, char out[DIAGNOSES_COUNTS_LEN]);

#endif

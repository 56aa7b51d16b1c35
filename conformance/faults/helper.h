/* SPDX-License-Identifier: Apache-2.0 */
/* helper.h: a worker in a sandbox of its own, as the parent sees it. */
#ifndef CONFORMANCE_FAULTS_HELPER_H
#define CONFORMANCE_FAULTS_HELPER_H

#include <stdio.h>
#include <sys/types.h>

#include "conformance/faults/faults.h"

struct helper {
	pid_t pid;
	FILE *to, *from;
	size_t at;      /* the case it works on, */
	unsigned tries; /* for the how many-th time */
	bool busy;
};

/* helper_start - start a worker in its sandbox. */
void helper_start(const struct options *o, struct helper *h);
/* helper_end - close its input and wait for its end. */
void helper_end(struct helper *h);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* exec.h: what happens between fork and exec; for process.c. */
#ifndef CONFORMANCE_HARNESS_EXEC_H
#define CONFORMANCE_HARNESS_EXEC_H

#include "conformance/harness/process.h"
#include "conformance/harness/text.h"

struct exec_fds {
	int in; /* -1: standard input is closed */
	int out, err;
	int gate; /* execute only after a byte from it; -1: at once */
};

/* Become the program. Exit status 126: it could not be prepared; 127: it could not be executed. */
void exec_command(const struct command *c, const struct exec_fds *fds) __attribute__((noreturn));
/* Be killed when the process that forked this one dies. */
void exec_die_with_parent(void);

#endif

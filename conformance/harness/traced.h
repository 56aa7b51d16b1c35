/* SPDX-License-Identifier: Apache-2.0 */
/* traced.h: a program whose system calls its parent sees. */
#ifndef CONFORMANCE_HARNESS_TRACED_H
#define CONFORMANCE_HARNESS_TRACED_H

#include <sys/types.h>

/*
 * traced_start - run a program (argv[0] is looked up in PATH) under ptrace with these PTRACE_O_
 * options. It has stopped before its exec, and runs to its next system call. -1: errno says why. A
 * program that cannot be executed ends with 2.
 */
pid_t traced_start(char **argv, long options);

/*
 * traced_signal - the signal that a thread must get after this stop; 0: none. status: of waitpid().
 * Stops of ptrace are no signals, and a new thread begins with SIGSTOP.
 */
int traced_signal(int status);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* registers.h: change a stopped system call; the way to do so differs between processors. */
#ifndef CONFORMANCE_FAULTS_REGISTERS_H
#define CONFORMANCE_FAULTS_REGISTERS_H

#include <sys/types.h>

/* At its entry: it is not carried out. */
void registers_skip(pid_t pid);
/* At its exit: what it returns. */
void registers_return(pid_t pid, long value);

#endif

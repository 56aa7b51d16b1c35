/* SPDX-License-Identifier: Apache-2.0 */
/* syscall.h: a system call that fails every time. For test programs only. */
#ifndef RAILHEAD_LIB_TESTING_SYSCALL_H
#define RAILHEAD_LIB_TESTING_SYSCALL_H

#include "lib/base/err.h"

/*
 * testing_fail_syscall - run fn in a process in which system call nr always fails with errnum; a
 * minute later that process is killed, which fails the test. What fn returned: true for 0.
 */
bool testing_fail_syscall(int nr, int errnum, int (*fn)(struct err *e));

#endif

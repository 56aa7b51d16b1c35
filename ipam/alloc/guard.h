/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h: turn a crash over a damaged store into an error.
 *
 * The store's file is mapped into memory and has no checksums: a page full of garbage can make LMDB
 * reach outside the map (SIGSEGV, SIGBUS) or give up (SIGABRT). The runtime then gets an error
 * object that names the file, instead of silence.
 */
#ifndef RAILHEAD_IPAM_ALLOC_GUARD_H
#define RAILHEAD_IPAM_ALLOC_GUARD_H

#include "lib/base/err.h"

/*
 * guard_arm - from here on such a signal, and SIGALRM (a commit that does not end), prints {"code",
 * "msg", "details"} on stdout and exits with status 1. For programs, once; dir is the store's
 * directory.
 */
int guard_arm(const char *dir, struct err *e) must_check;

/* guard_arm_line - the same as one line "<program>: ..." on stderr, for programs that people run.
 */
int guard_arm_line(const char *program, const char *dir, struct err *e) must_check;

#endif

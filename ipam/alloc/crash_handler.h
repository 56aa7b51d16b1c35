/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_handler.h: turn a crash over a damaged store into an error.
 *
 * The store's file is mapped into memory and has no checksums: a page full of garbage can make LMDB
 * reach outside the map (SIGSEGV, SIGBUS) or give up (SIGABRT). The runtime then gets an error
 * object that names the file, instead of silence.
 */
#ifndef RAILHEAD_IPAM_ALLOC_CRASH_HANDLER_H
#define RAILHEAD_IPAM_ALLOC_CRASH_HANDLER_H

#include "lib/base/err.h"

/*
 * crash_handler_install - from here on such a signal prints {"code", "msg", "details"} on stdout
 * and exits with status 1. So does SIGALRM (a commit that does not end). For programs, once; dir is
 * the store's directory.
 */
int crash_handler_install(const char *dir, struct err *e) must_check;

/* crash_handler_install_text - the same as one line "<program>: ..." on stderr, for programs that
 * people run.
 */
int crash_handler_install_text(const char *program, const char *dir, struct err *e) must_check;

#endif

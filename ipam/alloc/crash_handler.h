/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_handler.h: reports an error if a damaged store makes the program crash.
 *
 * The store's file is mapped into memory and has no checksums. A damaged page can make LMDB access
 * memory outside the map (SIGSEGV, SIGBUS) or abort (SIGABRT). The runtime then gets an error
 * object that names the folder.
 */
#ifndef RAILHEAD_IPAM_ALLOC_CRASH_HANDLER_H
#define RAILHEAD_IPAM_ALLOC_CRASH_HANDLER_H

#include "lib/base/err.h"

/*
 * crash_handler_install - from now on such a signal prints {"code", "msg", "details"} on stdout and
 * ends the program with status 1. SIGALRM, for a commit that does not end, does the same. A program
 * calls it once; dir is the store's folder. The texts are never freed.
 */
int crash_handler_install(const char *dir, struct err *e) must_check;

/* crash_handler_install_text - the same with one line "<program>: ..." on stderr, for railctl. */
int crash_handler_install_text(const char *program, const char *dir, struct err *e) must_check;

#endif

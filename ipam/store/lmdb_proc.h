/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb_proc.h: the state of a process that may hold the store's lock, from /proc. */
#ifndef RAILHEAD_IPAM_STORE_LMDB_PROC_H
#define RAILHEAD_IPAM_STORE_LMDB_PROC_H

#include <sys/types.h>

#include "lib/base/err.h"

/* A process at one moment. */
struct lmdb_holder {
	bool holds;               /* the lock in question */
	char state;               /* as in /proc/PID/stat */
	uint64_t started, worked; /* clock ticks; changes of context and ticks of work together */
};

/*
 * lmdb_proc_read - the state of process pid; lockfd is a descriptor of the lock file. -1: there is
 * no such process, or it may not be read.
 */
int lmdb_proc_read(pid_t pid, int lockfd, struct lmdb_holder *out) must_check;

/* lmdb_proc_parse - state and times from the text of /proc/PID/stat. -1: malformed. Pure. */
int lmdb_proc_parse(const char *stat, struct lmdb_holder *out) must_check;

#endif

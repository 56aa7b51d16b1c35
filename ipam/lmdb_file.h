/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_file.h: look at an LMDB file before it is mapped into memory: what is mapped and not there
 * is a SIGBUS, not an error. Pure, but for reading the file.
 */
#ifndef RAILHEAD_IPAM_LMDB_FILE_H
#define RAILHEAD_IPAM_LMDB_FILE_H

#include "lib/err.h"

enum lmdb_file_state {
	LMDB_FILE_EMPTY, /* absent, or nothing was ever committed to it */
	LMDB_FILE_GOOD,
	LMDB_FILE_SHORT, /* ends before its last page: cut off, or that page was never used */
	LMDB_FILE_BAD,   /* not LMDB, another version of it, or another machine's */
};

struct lmdb_file {
	enum lmdb_file_state state;
	uint64_t want; /* bytes the file should have at least */
};

/* lmdb_file_inspect - fd -1: an absent file. ERR_STORE when it cannot be read. */
int lmdb_file_inspect(int fd, struct lmdb_file *out, struct err *e) must_check;

#endif

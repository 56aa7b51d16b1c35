/* SPDX-License-Identifier: Apache-2.0 */
/* store_lmdb.h: the embedded store: one LMDB file in a directory of its own. */
#ifndef RAILHEAD_IPAM_STORE_STORE_LMDB_H
#define RAILHEAD_IPAM_STORE_STORE_LMDB_H

#include "ipam/store/store.h"
#include "lib/base/log.h"

#define STORE_LMDB_WAIT_MS 10000 /* how long a transaction waits for those of other processes */

enum store_create {
	STORE_EXISTING, /* creates nothing: ERR_NOTFOUND (errnum ENOENT) when there is no store */
	STORE_CREATE,   /* makes what is missing: directories of mode 0700, files of mode 0600 */
};

struct store_lmdb {
	const char *dir;
	const char *boot; /* id of this boot: see ipam/store/lmdb_recover.h */
	enum store_create create;
	/*
	 * A configuration chose the folder: no link leads to it, nobody but root may write on the
	 * way there, and the whole file is checked each time before LMDB sees it.
	 */
	bool outside;
	const struct log *log; /* what was done to a stopped process; NULL: said nowhere */
};

/*
 * store_lmdb_open - ERR_STORE when it cannot be opened; a damaged or foreign file is named together
 * with what to do.
 */
int store_lmdb_open(const struct store_lmdb *at, struct store **out, struct err *e) must_check;

/* store_lmdb_patience - how long transactions of s wait from now on (STORE_LMDB_WAIT_MS at first).
 */
void store_lmdb_patience(struct store *s, int wait_ms);

#endif

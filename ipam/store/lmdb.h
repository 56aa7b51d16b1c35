/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb.h: the embedded store: one LMDB file in its own folder. */
#ifndef RAILHEAD_IPAM_STORE_LMDB_H
#define RAILHEAD_IPAM_STORE_LMDB_H

#include "ipam/store/store.h"
#include "lib/base/log.h"

#define STORE_LMDB_WAIT_MS 10000 /* a transaction waits so long for those of other processes */

enum store_create {
	STORE_EXISTING, /* creates nothing; ERR_NOTFOUND (errnum ENOENT): there is no store */
	STORE_CREATE,   /* creates missing folders with mode 0700, and files with mode 0600 */
};

struct store_lmdb {
	const char *dir;
	const char *boot; /* id of this boot: see ipam/store/lmdb_recover.h */
	enum store_create create;
	/*
	 * A configuration chose the folder: the path must have no links, only root may write to the
	 * folders of the path, and the whole file is checked at each open.
	 */
	bool outside;
	const struct log *log; /* gets a warning when a stopped process is killed; NULL: none */
};

/*
 * store_lmdb_open - open the store; the caller closes *out. ERR_STORE: it cannot be opened; for a
 * damaged or foreign file the message has a remedy.
 */
int store_lmdb_open(const struct store_lmdb *at, struct store **out, struct err *e) must_check;

/* store_lmdb_patience - set how long transactions of s wait; the default is STORE_LMDB_WAIT_MS. */
void store_lmdb_patience(struct store *s, int wait_ms);

#endif

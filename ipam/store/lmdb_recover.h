/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_recover.h: recovery of the embedded store after a power loss.
 *
 * Leases end with the boot, so the kernel's page cache is durable enough for them. Commits are not
 * synced: on many disks a sync takes longer than the rest of an ADD. Pools must survive a power
 * loss, and the last address of each pod should. So
 *
 *  - transactions that change pools, and the first one of each boot, are synced. A copy of the file
 *    ("data.mdb.safe") is then kept beside it.
 *  - the first process that opens the store in a boot checks the whole file (lmdb_check). If a
 * power loss has damaged it, the copy replaces it.
 *
 * The file "lock" has the id of the boot in which the store was last found good, or made good.
 */
#ifndef RAILHEAD_IPAM_STORE_LMDB_RECOVER_H
#define RAILHEAD_IPAM_STORE_LMDB_RECOVER_H

#include "lib/base/ctx.h"
#include "lib/base/err.h"

#define LMDB_DATA "data.mdb"
#define LMDB_SAFE "data.mdb.safe"
#define LMDB_TEMP "data.mdb.tmp"

/* The files of a store; borrowed descriptors. */
struct lmdb_place {
	int dirfd, lockfd;
	const char *boot; /* id of this boot */
	const char *file; /* path of data.mdb, for errors */
};

enum lmdb_trust {
	LMDB_TRUSTED, /* found good in this boot */
	LMDB_DOUBTED, /* found good in an earlier boot */
	LMDB_NEW,     /* never found good */
};

/* lmdb_trust - read that from the lock file. ERR_STORE: it cannot be read. */
int lmdb_trust(const struct lmdb_place *p, enum lmdb_trust *out, struct err *e) must_check;

/*
 * lmdb_prepare - under the exclusive lock: check data.mdb, and restore it from the copy if needed,
 * so that it can be mapped. An absent file stays absent. ERR_STORE: it is damaged, and there is no
 * good copy; or it was good in this boot, so the copy lacks leases of living pods.
 */
int lmdb_prepare(const struct lmdb_place *p, struct err *e) must_check;

/* lmdb_checkpoint - under the exclusive lock: sync the file, copy it, and record it as good. */
int lmdb_checkpoint(const struct lmdb_place *p, struct err *e) must_check;

/* lmdb_damaged - set ERR_STORE with a remedy; `how` says what is wrong. Returns -1. */
int lmdb_damaged(const char *file, const char *how, struct err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_recover.h: why the embedded store need not sync with every lease.
 *
 * Leases die with the boot, and while the kernel lives its page cache is all the durability they
 * need: commits are not synced (a few milliseconds each on many disks, more than all the rest of an
 * ADD). What must outlive a power loss are the pools, and if possible which pod had which address.
 * So
 *
 *  - transactions that change pools, and the first one of each boot, are synced, and a copy of the
 * file is kept beside it ("data.mdb.safe");
 *  - the first to open the store in a boot reads the whole file (lmdb_check). Is it whole, it is
 * used; did a power loss tear it, the copy takes its place.
 *
 * The file "lock" holds the id of the boot in which the store was last found whole, or made so.
 */
#ifndef RAILHEAD_IPAM_STORE_LMDB_RECOVER_H
#define RAILHEAD_IPAM_STORE_LMDB_RECOVER_H

#include "lib/base/ctx.h"
#include "lib/base/err.h"

#define LMDB_DATA "data.mdb"
#define LMDB_SAFE "data.mdb.safe"
#define LMDB_TEMP "data.mdb.tmp"

/* Where a store lives; borrowed descriptors. */
struct lmdb_place {
	int dirfd, lockfd;
	const char *boot; /* of now */
	const char *file; /* path of data.mdb, for errors */
};

enum lmdb_trust {
	LMDB_TRUSTED, /* found whole in this boot */
	LMDB_DOUBTED, /* an earlier boot's */
	LMDB_NEW,     /* never was */
};

/* lmdb_trust - what the lock file says. */
int lmdb_trust(const struct lmdb_place *p, enum lmdb_trust *out, struct err *e) must_check;

/*
 * lmdb_prepare - under the exclusive lock: make data.mdb fit to be mapped, empty if there was none.
 * ERR_STORE when it is damaged and cannot be restored: in this boot, as leases are alive that no
 * copy knows, or when there is no good copy.
 */
int lmdb_prepare(const struct lmdb_place *p, struct err *e) must_check;

/* lmdb_checkpoint - under the exclusive lock: sync the file, copy it, and say that it is whole. */
int lmdb_checkpoint(const struct lmdb_place *p, struct err *e) must_check;

/* lmdb_damaged - the error about it. Returns -1. */
int lmdb_damaged(const char *file, const char *how, struct err *e);

#endif

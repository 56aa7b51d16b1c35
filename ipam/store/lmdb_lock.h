/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_lock.h: the lock of the embedded store: exclusive for writers, shared for readers.
 *
 * A transaction takes less than a millisecond and never sleeps. A holder that was stopped from
 * outside (SIGSTOP, a frozen cgroup, a debugger) would make every pod of the node wait. A waiting
 * process looks for such a holder and kills it, but only with proof. The holder has written its
 * number to the lock file. /proc/PID/fdinfo shows that it holds this lock. For a second it neither
 * ran nor waited for a disk. LMDB survives a writer that is killed at any moment, because its
 * commit is one write of a meta page, the last write of all.
 */
#ifndef RAILHEAD_IPAM_STORE_LMDB_LOCK_H
#define RAILHEAD_IPAM_STORE_LMDB_LOCK_H

#include "ipam/store/lmdb_proc.h"
#include "lib/base/log.h"

struct lmdb_lock {
	int fd; /* the file "lock"; from byte LMDB_LOCK_NOTES on it has the numbers of holders */
	int wait_ms;
	const char *file;      /* path of data.mdb, for errors */
	const struct log *log; /* NULL: none */
};

#define LMDB_LOCK_NOTES 64

/*
 * lmdb_lock_take - take the lock; ERR_AGAIN (errnum ETIMEDOUT): it is not free within wait_ms.
 * lmdb_lock_drop - release it.
 */
int lmdb_lock_take(const struct lmdb_lock *l, bool exclusive, struct err *e) must_check;
void lmdb_lock_drop(const struct lmdb_lock *l);

/* lmdb_holder_is_stopped - compares two views of one process, a second apart. Pure. */
bool lmdb_holder_is_stopped(const struct lmdb_holder *before, const struct lmdb_holder *now);

#endif

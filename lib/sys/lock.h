/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h: locks that leave no files behind, by name or of an open file.
 *
 * A name is hashed to one byte's position of a single lock file, and that byte is locked
 * (F_OFD_SETLK). The kernel frees it when the descriptor is closed or its process dies. Two names
 * that share a position merely wait for one another.
 */
#ifndef RAILHEAD_LIB_SYS_LOCK_H
#define RAILHEAD_LIB_SYS_LOCK_H

#include "lib/base/err.h"

/*
 * lock_name - take the lock of name in dirfd's file "lock" (with create made first, mode 0600),
 * waiting up to timeout_ms; ERR_AGAIN after that. Returns a descriptor; closing it unlocks.
 */
int lock_name(int dirfd, const char *name, bool create, int timeout_ms, struct err *e) must_check;

/*
 * lock_descriptor - take the lock of what fd is open for, such as a namespace; name is for the
 * error, ERR_AGAIN after timeout_ms. Closing all copies of fd unlocks. fd may be read-only.
 */
int lock_descriptor(int fd, const char *name, int timeout_ms, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_reserve.h: disk space that is kept for releases.
 *
 * LMDB writes changed pages to new places, so even a deletion needs room. On a full disk a DEL
 * would fail, and with it the pod's end, which is what frees disks. So a transaction that may take
 * an address begins only when the file has room for itself and for later releases; a release begins
 * in any case.
 */
#ifndef RAILHEAD_IPAM_STORE_LMDB_RESERVE_H
#define RAILHEAD_IPAM_STORE_LMDB_RESERVE_H

#include "lib/base/err.h"

/* lmdb_reserve_size - bytes behind `used` ones that only releases may use. Pure. */
uint64_t lmdb_reserve_size(uint64_t used);

/*
 * lmdb_reserve_make - under the exclusive lock: allocate twice lmdb_reserve_size() behind the first
 * used bytes of fd, if they are not there yet. ERR_STORE with errnum ENOSPC when there is no room.
 */
int lmdb_reserve_make(int fd, uint64_t used, struct err *e) must_check;

/* lmdb_reserve_behind - bytes of the file behind the first used ones. */
uint64_t lmdb_reserve_behind(int fd, uint64_t used);

/* lmdb_reserve_is_out - whether the file system has no room for one page more. */
bool lmdb_reserve_is_out(int fd);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_reserve.h: disk space that is reserved for releases.
 *
 * LMDB writes changed pages to new places, so even a deletion needs space. On a full disk a DEL
 * would fail, and the pod, which uses the disk, could not end. So a transaction that may assign an
 * address begins only if the file has space for it and for later releases. A release always begins.
 */
#ifndef RAILHEAD_IPAM_STORE_LMDB_RESERVE_H
#define RAILHEAD_IPAM_STORE_LMDB_RESERVE_H

#include "lib/base/err.h"

/* lmdb_reserve_size - the number of bytes for releases in a file of `used` bytes. Pure. */
uint64_t lmdb_reserve_size(uint64_t used);

/*
 * lmdb_reserve_make - under the exclusive lock: allocate twice lmdb_reserve_size() after the first
 * used bytes of fd, unless they are allocated. ERR_STORE with errnum ENOSPC: there is no space.
 */
int lmdb_reserve_make(int fd, uint64_t used, struct err *e) must_check;

/* lmdb_reserve_behind - the number of bytes of the file after the first used ones. */
uint64_t lmdb_reserve_behind(int fd, uint64_t used);

/* lmdb_reserve_is_out - whether the file system is full. */
bool lmdb_reserve_is_out(int fd);

#endif

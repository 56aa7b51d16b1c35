/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_slice.h: the slices of a pool: each node's part of it, computed from the node's number.
 * Pure.
 *
 * Slices lie on a grid of addresses: slice N begins at start + N * size, where start is the first
 * address of the subnet unless the definition has another. The grid counts every address. Ranges,
 * excludes, gateway, network and broadcast address only mask addresses of a slice, so a change of
 * them moves no slice. Addresses behind the last whole slice are not assigned.
 */
#ifndef RAILHEAD_IPAM_CONF_POOL_SLICE_H
#define RAILHEAD_IPAM_CONF_POOL_SLICE_H

#include "ipam/conf/source.h"

#define POOL_SLICE_SIZE_MAX (INT64_C(1) << 53) /* of the key "size", exact in a JSON number */

/*
 * pool_slice_decode - the value of "slice" of a pool with this subnet: {"prefix": 28} or
 * {"size": 16}, and "start". ERR_CONFIG, ERR_DECODE with key and value.
 */
int pool_slice_decode(const struct json *n, struct ip_prefix subnet, struct pool_slice *out,
		      struct err *e) must_check;

/* pool_slice_count - number of whole slices; at least 1, at most 2^32: numbers have 32 bits. */
uint64_t pool_slice_count(const struct pool_slice *s, struct ip_prefix subnet);

/* pool_slice_range - the addresses of slice `number`, which is below the count. */
struct ip_range pool_slice_range(const struct pool_slice *s, uint32_t number);

/*
 * pool_slice_of - the number of the slice of a pool (or of a part of it) that has this
 * address. Ranges and excludes do not count: they may change, and the number may not. False: no
 * slice has it.
 */
bool pool_slice_of(const struct source *pool, struct ip a, uint64_t *number);

/*
 * pool_slice_cut - reduce *s, a source of the whole pool, to the slice of a node: usable, id and
 * label. ERR_CONFIG: the number does not fit, with the highest one that does; or the slice has no
 * usable address. Then only its subnet and slices are good. Without slices *s is not changed.
 */
int pool_slice_cut(struct source *s, uint32_t number, struct err *e) must_check;

#endif

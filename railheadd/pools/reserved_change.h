/* SPDX-License-Identifier: Apache-2.0 */
/* reserved_change.h: an operator reads or changes the addresses that the cluster reserves. */
#ifndef RAILHEAD_RAILHEADD_POOLS_RESERVED_CHANGE_H
#define RAILHEAD_RAILHEADD_POOLS_RESERVED_CHANGE_H

#include "railheadd/pools/ask.h"

struct reserved_change_ask {
	struct event_base *base;
	struct cluster_store *store;     /* NULL: there is none */
	const struct json *add, *remove; /* arrays of ranges; both NULL: only read. Borrowed */
	struct ask_end end;
};

/*
 * reserved_change - {"ranges": [...], "changed"}, the ranges as they are now. ERR_CONFIG,
 * ERR_DECODE: a range is none, or the object in the cluster cannot be read. ERR_AGAIN: the cluster
 * store is away; the change may have been made all the same. It ends before the store is closed.
 */
struct ask *reserved_change(const struct reserved_change_ask *ask, struct err *e);

#endif

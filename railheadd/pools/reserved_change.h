/* SPDX-License-Identifier: Apache-2.0 */
/* reserved_change.h: an operator reads or changes the addresses that the cluster reserves. */
#ifndef RAILHEAD_RAILHEADD_POOLS_RESERVED_CHANGE_H
#define RAILHEAD_RAILHEADD_POOLS_RESERVED_CHANGE_H

#include "cluster/store/cluster_store.h"

struct reserved_change;

/*
 * done - once, from the loop. answer: borrowed: {"ranges": [...], "changed"}, the ranges as they
 * are now. NULL: why.
 */
struct reserved_change_ask {
	struct cluster_store *store;     /* NULL: there is none */
	const struct json *add, *remove; /* arrays of ranges; both NULL: only read. Borrowed */
	void (*done)(void *arg, const struct json *answer, const struct err *why);
	void *arg;
};

/*
 * reserved_change - ERR_CONFIG, ERR_DECODE: a range is none, or the object in the cluster cannot be
 * read. ERR_AGAIN: the cluster store is away; the change may have been made all the same. NULL: *e
 * says why not, and done is not called. reserved_change_cancel - nor then; before the store is
 * closed. A write that was sent may be executed.
 */
struct reserved_change *reserved_change(const struct reserved_change_ask *ask, struct err *e);
void reserved_change_cancel(struct reserved_change *c);

#endif

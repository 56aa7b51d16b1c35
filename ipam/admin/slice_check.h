/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_check.h: what a change of slices means for living leases, and for the leases that another
 * node may have.
 */
#ifndef RAILHEAD_IPAM_ADMIN_SLICE_CHECK_H
#define RAILHEAD_IPAM_ADMIN_SLICE_CHECK_H

#include "ipam/lease/session.h"

struct slice_check {
	const char *name;             /* of the pool */
	const struct source *own;     /* this node's part by the definition to check */
	uint32_t number;              /* the node's number, if the pool has slices */
	struct lease_names elsewhere; /* output: leases in slices of other nodes */
	struct lease_names outside;   /* output: others that this node does not get from it */
};

/* slice_check_leases - sort the held leases of the pool by the definition. ERR_STORE. */
int slice_check_leases(struct lease_db *l, struct slice_check *c, struct err *e) must_check;

/* slice_refuse_elsewhere - the error for leases in slices of other nodes. Returns -1. */
int slice_refuse_elsewhere(const struct slice_check *c, struct err *e);

/* slice_same_grid - whether two definitions have the same slices, or both none. */
bool slice_same_grid(const struct source *a, const struct source *b);

/*
 * slice_check_moved - ERR_BUSY if this node gets addresses that it did not have before, because
 * slices begin, change their grid or end. have: what the node had by the old definition.
 */
struct slice_move {
	const struct source *from; /* the whole pool by the old definition */
	const struct slice_check *to;
	const struct ranges *have;
};
int slice_check_moved(const struct slice_move *m, struct err *e) must_check;

#endif

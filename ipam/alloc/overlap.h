/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap.h: addresses that are free in a source's own scope and in use all the same.
 *
 * An address of a whereabouts range is unique within (range, network_name), whichever network asks
 * for it. Leases of ranges with enable_overlapping_ranges are in scope w/, those of others in x/:
 * each looks into the other one. And what host-local has given out in a network is on file: those
 * pods may live on after a node was moved to railhead-ipam.
 */
#ifndef RAILHEAD_IPAM_ALLOC_OVERLAP_H
#define RAILHEAD_IPAM_ALLOC_OVERLAP_H

#include "ipam/peers/hostlocal.h"
#include "ipam/lease/lease_db.h"

struct overlap {
	struct lease_db *l;
	struct hostlocal files;
	struct err e; /* of the question that could not be answered, when failed */
	bool failed;
};

/* overlap_open - for one transaction; data_dir as in the configuration of that network. */
int overlap_open(struct overlap *x, struct lease_db *l, const char *data_dir, const char *network,
		 struct err *e) must_check;
void overlap_close(struct overlap *x);
#define auto_overlap auto_clean(overlap_close)

/* overlap_in_use - also true when it is unknown: x->failed then. x NULL: never in use. */
bool overlap_in_use(struct overlap *x, const struct source *s, struct ip ip);

#endif

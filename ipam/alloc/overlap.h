/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap.h: finds addresses that are free in a source's scope, but in use in another place.
 *
 * An address of a whereabouts range is unique within (range, network_name), in all networks. Leases
 * of ranges with enable_overlapping_ranges are in scope w/, those of other ranges in x/. Each scope
 * looks into the other one. host-local keeps its addresses in files. Its pods may still live after
 * a node has changed to railhead-ipam.
 */
#ifndef RAILHEAD_IPAM_ALLOC_OVERLAP_H
#define RAILHEAD_IPAM_ALLOC_OVERLAP_H

#include "ipam/peers/hostlocal.h"
#include "ipam/lease/lease_db.h"

struct overlap {
	struct lease_db *l;
	struct hostlocal files;
	struct err e; /* if failed: the error of the check that failed */
	bool failed;
};

/*
 * overlap_open - prepare the checks of one transaction; data_dir as in the configuration of that
 * network. overlap_close - close the folder of host-local.
 */
int overlap_open(struct overlap *x, struct lease_db *l, const char *data_dir, const char *network,
		 struct err *e) must_check;
void overlap_close(struct overlap *x);
#define auto_overlap auto_clean(overlap_close)

/*
 * overlap_in_use - true if ip is in use in another place, or if that is unknown: then x->failed is
 * set. x NULL: false.
 */
bool overlap_in_use(struct overlap *x, const struct source *s, struct ip ip);

#endif

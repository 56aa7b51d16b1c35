/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap.h: finds addresses that are free in a source's scope, but in use in another place.
 *
 * An address of a whereabouts range is unique within (range, network_name), in all networks. Leases
 * of ranges with enable_overlapping_ranges are in scope w/, those of other ranges in x/. Each scope
 * looks into the other one. host-local keeps its addresses in files. Its pods may still live after
 * a node has changed to railhead-ipam. The node itself has addresses on its interfaces.
 */
#ifndef RAILHEAD_IPAM_ALLOC_OVERLAP_H
#define RAILHEAD_IPAM_ALLOC_OVERLAP_H

#include "ipam/peers/hostlocal.h"
#include "ipam/lease/db.h"

/* 1: the node itself has the address on an interface; 0: it has not; -1: that is not known. */
typedef int (*overlap_node_fn)(struct ip ip, struct err *e);

struct overlap {
	struct lease_db *l;
	overlap_node_fn node; /* NULL: the node is not asked */
	struct hostlocal files;
	unsigned of_node; /* addresses that the node had */
	struct ip asked;  /* the last one, which the search asks for again, and the answer */
	bool has_asked;
	struct err e; /* if failed: the error of the check that failed */
	bool failed;
};

/*
 * overlap_open - prepare the checks of one transaction; data_dir as in the configuration of that
 * network. Before, only x->node is set. overlap_close - close the folder of host-local.
 */
int overlap_open(struct overlap *x, struct lease_db *l, const char *data_dir, const char *network,
		 struct err *e) must_check;
void overlap_close(struct overlap *x);
#define auto_overlap auto_clean(overlap_close)

/*
 * overlap_in_use - true if ip is in use in another place, or if that is unknown: then x->failed is
 * set. overlap_is_of_node - the same, of the node alone. x NULL: false.
 */
bool overlap_is_of_node(struct overlap *x, struct ip ip);
bool overlap_in_use(struct overlap *x, const struct source *s, struct ip ip);

/* overlap_refuse_of_node - ERR_BUSY: a pod asks for an address of the node. Returns -1. */
int overlap_refuse_of_node(struct ip ip, struct err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elsewhere.h: addresses that are free in a source's own scope and in use all the same.
 *
 * An address of a whereabouts range is unique within (range, network_name), whichever network asks
 * for it. Leases of ranges with enable_overlapping_ranges are in scope w/, those of others in x/:
 * each looks into the other one. And what host-local has given out in a network is on file: those
 * pods may live on after a node was moved to railhead-ipam.
 */
#ifndef RAILHEAD_IPAM_ALLOC_ELSEWHERE_H
#define RAILHEAD_IPAM_ALLOC_ELSEWHERE_H

#include "ipam/peers/hostlocal.h"
#include "ipam/lease/lease_db.h"

struct elsewhere {
	struct ledger *l;
	struct hostlocal files;
	struct err e; /* of the question that could not be answered, when failed */
	bool failed;
};

/* elsewhere_open - for one transaction; data_dir as in the configuration of that network. */
int elsewhere_open(struct elsewhere *x, struct ledger *l, const char *data_dir, const char *network,
		   struct err *e) must_check;
void elsewhere_close(struct elsewhere *x);
#define auto_elsewhere auto_clean(elsewhere_close)

/* elsewhere_holds - also true when it cannot be told: x->failed then. x NULL: nothing is. */
bool elsewhere_holds(struct elsewhere *x, const struct source *s, struct ip ip);

#endif

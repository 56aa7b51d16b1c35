/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h: a VF becomes an attachment's, and stops being it.
 *
 * All transitions of ownership are here, each under the VF's lock:
 *
 *	free --claim--> owned --release--> free
 *	owned by the dead --claim--> put back, then owned
 *
 * A release by anybody but the owner does nothing: a late DEL of an old pod leaves the VF alone
 * that a new pod holds.
 */
#ifndef RAILHEAD_SRIOV_TAKE_CLAIM_H
#define RAILHEAD_SRIOV_TAKE_CLAIM_H

#include "sriov/vf/vf.h"

/* By whom, and with what. */
struct claimant {
	const struct ctx *ctx;
	struct nl *nl; /* of the host */
	struct record_key key;
	const char *netns; /* path as given */
	struct netns_id netns_id;
	unsigned will_change; /* enum vf_attr: what it is going to change */
	/* Nobody said which VF: one that the host has an address on is passed over, too. */
	bool any_will_do;
	/* claim_any passes over PFs of which the container has a VF, as another interface. */
	bool one_a_pf;
};

/* Names or PCI addresses of PFs, in the order of preference. */
struct pf_list {
	const char *const *name;
	size_t n;
};

/*
 * claim_vf - take the VF vf, or any free one of the PFs. *place is where it is. ERR_BUSY: somebody
 * who lives has it (named in the message); ERR_EXHAUSTED: none of the PFs has a free VF; ERR_AGAIN:
 * a lock could not be had in time. The first claim in a VF's life captures its baseline.
 */
int claim_vf(const struct claimant *who, const char *vf, struct vf_place *place,
	     struct err *e) must_check;
int claim_any(const struct claimant *who, struct pf_list pfs, struct vf_place *place,
	      struct err *e) must_check;

/*
 * claim_has_vf_of - whether the container has a VF of the PF at this address, as another interface
 * than the claimant's. While the PF is not locked that may change. claim_find_pf - the address of a
 * PF of the list; ERR_CONFIG naming the key when there is no such interface.
 */
bool claim_has_vf_of(const struct claimant *who, const char *pf);
int claim_find_pf(const struct ctx *ctx, const char *name, char out[PCI_STR_LEN],
		  struct err *e) must_check;

/* claim_possible - whether every one of these is a PF, and one has VFs at all, taken or not. */
int claim_possible(const struct ctx *ctx, struct pf_list pfs, struct err *e) must_check;

/* claim_set_ifindex - note the number that the interface has inside the pod. */
int claim_set_ifindex(const struct ctx *ctx, const char *vf, const struct record_key *key,
		      int ifindex, struct err *e) must_check;

/* claim_set_own_mac - note that for the VF's baseline. */
int claim_set_own_mac(const struct ctx *ctx, const char *vf, const struct record_key *key,
		      struct err *e) must_check;

/*
 * claim_release - put vf back and make it free, if it belongs to this attachment (an id of 0
 * matches any namespace); else nothing happens. claim_release_all - the same for every VF of the
 * VF state: for an attachment of which it is not known what it has.
 */
int claim_release(const struct ctx *ctx, const char *vf, const struct record_key *key,
		  struct netns_id id, struct err *e) must_check;
int claim_release_all(const struct ctx *ctx, const struct record_key *key, struct netns_id id,
		      struct err *e) must_check;

#endif

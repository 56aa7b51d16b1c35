/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h: claim a VF for an attachment, and release it.
 *
 * The plugin changes the owner of a VF only here, each time under the VF's lock:
 *
 *	free --claim--> owned --release--> free
 *	owned by a dead pod --claim--> restored, then owned
 *
 * A command of railctl also changes the owner, under the same lock: the repair of a VF with a dead
 * owner (manager_repair.c).
 *
 * A release does nothing unless the caller is the owner: a late DEL of an old pod does not touch a
 * VF that a new pod has.
 */
#ifndef RAILHEAD_SRIOV_CLAIM_CLAIM_H
#define RAILHEAD_SRIOV_CLAIM_CLAIM_H

#include "sriov/vf/vf.h"

/* The attachment that claims a VF. */
struct claimant {
	const struct ctx *ctx;
	struct nl *nl; /* of the host */
	struct record_key key;
	const char *netns; /* path as given */
	struct netns_id netns_id;
	unsigned will_change; /* bits of enum vf_attr that it is going to change */
	/* The configuration names no VF: skip a VF that has an address on the host. */
	bool vf_not_named;
	/* Refuse a VF that has no RDMA device on the host: ERR_NOTFOUND. */
	bool needs_rdma;
	/* claim_any skips PFs of which the container has a VF as another interface. */
	bool skip_pfs_in_use;
};

/* Why a VF has no RDMA device on the host. */
#define VF_NO_RDMA_HINT                                                                            \
	"the VF may have no RDMA, its RDMA driver may not be loaded, or another pod may have the " \
	"device. `railctl rdma list` shows the devices here, and `railctl attachments list "       \
	"--json` those in pods"

/* Names or PCI addresses of PFs, in the order of preference. */
struct pf_list {
	const char *const *name;
	size_t n;
};

/*
 * claim_vf - claim the VF with this PCI address. claim_any - claim a free VF of these PFs. *place
 * says where it is. ERR_BUSY: a living pod has it, and the message names the pod; ERR_EXHAUSTED:
 * none of the PFs has a free VF; ERR_AGAIN: the lock was not free in time. The first claim in a
 * VF's life captures its baseline.
 */
int claim_vf(const struct claimant *who, const char *vf, struct vf_place *place,
	     struct err *e) must_check;
int claim_any(const struct claimant *who, struct pf_list pfs, struct vf_place *place,
	      struct err *e) must_check;

/*
 * claim_has_vf_of - whether the container has a VF of the PF at this PCI address, as an interface
 * other than the claimant's. The answer can change while the PF is not locked. claim_find_pf - the
 * PCI address of a PF by its name or address; ERR_CONFIG: there is no such interface; the message
 * names the key resource.pf.
 */
bool claim_has_vf_of(const struct claimant *who, const char *pf);
int claim_find_pf(const struct ctx *ctx, const char *name, char out[PCI_STR_LEN],
		  struct err *e) must_check;

/*
 * claim_possible - for STATUS: ERR_CONFIG if one of these is not a PF; ERR_UNAVAILABLE if none of
 * them has VFs, free or not.
 */
int claim_possible(const struct ctx *ctx, struct pf_list pfs, struct err *e) must_check;

/*
 * claim_open - lock a VF that this attachment owns, and read its state, which the caller clears and
 * may write. Returns a descriptor; closing it unlocks. ERR_STATE: not the owner.
 */
int claim_open(const struct ctx *ctx, const char *vf, const struct record_key *key,
	       struct vf_entry *x, struct err *e) must_check;

/* claim_set_ifindex - record the index of the interface in the pod. ERR_STATE: not the owner. */
int claim_set_ifindex(const struct ctx *ctx, const char *vf, const struct record_key *key,
		      int ifindex, struct err *e) must_check;

/* claim_set_own_mac - record in the baseline that the VF chose its MAC by itself. ERR_STATE. */
int claim_set_own_mac(const struct ctx *ctx, const char *vf, const struct record_key *key,
		      struct err *e) must_check;

/*
 * claim_release - restore vf and make it free, if this attachment owns it; id 0 matches any
 * namespace. Otherwise success, and nothing changes. claim_release_all - the same for every VF that
 * has a state: for an attachment whose VF is unknown.
 */
int claim_release(const struct ctx *ctx, const char *vf, const struct record_key *key,
		  struct netns_id id, struct err *e) must_check;
int claim_release_all(const struct ctx *ctx, const struct record_key *key, struct netns_id id,
		      struct err *e) must_check;

/*
 * claim_release_named - for an attachment of which neither a VF state nor a record is left: if its
 * interface in the namespace at path is a VF that no other attachment has, the VF gets the values
 * of a new one. The configuration must name the VF, or have the result of ADD with the interface.
 */
struct cni_conf;
int claim_release_named(const struct ctx *ctx, const struct cni_conf *conf,
			const struct record_key *key, const char *path, struct err *e) must_check;

/*
 * claim_take_guid_back - of a VF that sriov_restore() released: restore its GUIDs once more if the
 * release could not. ERR_STATE: its port may still have that of the pod, so the GUID is not free.
 */
int claim_take_guid_back(const struct ctx *ctx, const struct record *r, struct err *e) must_check;

/*
 * sriov_restore - an attach_restore_fn: restore the VF and make it free, if this attachment still
 * owns it; remove the device-information file. A record without a VF: every VF that it owns.
 */
int sriov_restore(const struct ctx *ctx, const struct record *r, struct err *e) must_check;

#endif

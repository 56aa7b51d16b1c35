/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h: VFs that sriov-cni attached, according to its files in /var/lib/cni/sriov.
 *
 * sriov-cni keeps a file CONTAINER-IFNAME for each attachment. It has the configuration and, as
 * OrigVfState, the VF before the attachment. The file pci/ADDRESS has the path of the network
 * namespace that the VF is in. A node that changed from sriov-cni to this plugin has pods of both.
 */
#ifndef RAILHEAD_SRIOV_CLAIM_PEER_H
#define RAILHEAD_SRIOV_CLAIM_PEER_H

#include <limits.h>

#include "sriov/vf/vf.h"

#define PEER_FILE_LEN 256
#define PEER_ID_LEN   256

struct peer {
	char file[PEER_FILE_LEN]; /* "": only pci/ADDRESS exists */
	char container[PEER_ID_LEN], ifname[IFNAME_LEN];
	const char *network; /* "": unknown; borrowed from conf */
	char vf[PCI_STR_LEN];
	char netns[PATH_MAX]; /* "": unknown */
	bool has_base;        /* false: the next two are unused */
	unsigned to_restore;  /* bits of enum vf_attr that the configuration set */
	struct vf_baseline base;
	struct json *conf; /* owned; the configuration, or NULL */
};

/* peer_clear - free what p owns; p becomes empty. */
void peer_clear(struct peer *p);
#define auto_peer auto_clean(peer_clear)

/*
 * peer_decode - decode the text of a file into conf, network, vf, to_restore and base of *out.
 * ERR_DECODE. Pure.
 */
int peer_decode(const char *text, size_t len, struct peer *out, struct err *e) must_check;

/*
 * peer_find - the attachment of a container; ERR_NOTFOUND: there is none. peer_each - call fn for
 * every file, in the order of names. A file that cannot be read gives an entry with vf "". Return
 * non-zero from fn to stop; the value is discarded.
 */
int peer_find(const struct ctx *ctx, const char *container, const char *ifname, struct peer *out,
	      struct err *e) must_check;
typedef int (*peer_fn)(const struct peer *p, void *arg);
int peer_each(const struct ctx *ctx, peer_fn fn, void *arg, struct err *e) must_check;

enum peer_state {
	PEER_NONE,
	PEER_LIVES, /* or its state is unknown */
	PEER_GONE,  /* its network namespace is gone */
};

/*
 * peer_of_vf - which attachment of sriov-cni has the VF. Returns an enum peer_state, or -1; *out is
 * set unless it is PEER_NONE.
 */
int peer_of_vf(const struct ctx *ctx, const char *vf, struct peer *out, struct err *e) must_check;

/* peer_forget - remove the files of this attachment; absent files are success. */
int peer_forget(const struct ctx *ctx, const struct peer *p, struct err *e) must_check;

/*
 * peer_entry - the VF state that this plugin would have written for the attachment: with the owner,
 * and with the baseline that sriov-cni recorded. Values that sriov-cni did not record come from
 * known, else from the VF as it is now. The VF is locked. *out borrows the strings of owner.
 */
struct peer_owner {
	struct record_key key;
	const char *netns; /* path of the pod's namespace; "": unknown */
};
struct peer_host {
	const struct ctx *ctx;
	struct nl *nl;                /* of the host */
	const struct vf_entry *known; /* our entry of this life of the VF, or NULL */
};
int peer_entry(const struct peer_host *h, const struct peer *p, const struct peer_owner *owner,
	       struct vf_entry *out, struct err *e) must_check;

/*
 * peer_release - DEL of an attachment of sriov-cni: restore the VF and remove the files. Success
 * without a change if there is no such attachment, or if it belongs to another network.
 */
int peer_release(const struct ctx *ctx, const struct peer_owner *owner, struct err *e) must_check;

/*
 * peer_restore - restore a VF whose sriov-cni attachment is gone, and remove the files. *entry is
 * replaced by the new state, without an owner. The VF is locked.
 */
int peer_restore(const struct ctx *ctx, struct nl *nl, const struct peer *p, struct vf_entry *entry,
		 struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h: VFs that sriov-cni attached, by what it keeps in /var/lib/cni/sriov.
 *
 * A file CONTAINER-IFNAME for each attachment, with its configuration and, as OrigVfState, the VF
 * as it was; and pci/ADDRESS with the path of the network namespace that the VF is in. Who puts
 * this program in the place of sriov-cni has pods of both.
 */
#ifndef RAILHEAD_SRIOV_TAKE_PEER_H
#define RAILHEAD_SRIOV_TAKE_PEER_H

#include <limits.h>

#include "sriov/vf/vf.h"

#define PEER_FILE_LEN 256
#define PEER_ID_LEN   256

struct peer {
	char file[PEER_FILE_LEN]; /* "" when only pci/ADDRESS is there */
	char container[PEER_ID_LEN], ifname[IFNAME_LEN];
	const char *network; /* "" when it is not told; borrowed from conf */
	char vf[PCI_STR_LEN];
	char netns[PATH_MAX]; /* "": not told */
	bool has_base;        /* the next two say something */
	unsigned dirty;       /* enum vf_attr: what was configured */
	struct vf_baseline base;
	struct json *conf; /* owned; its configuration, or NULL */
};

void peer_clear(struct peer *p);
#define auto_peer auto_clean(peer_clear)

/* peer_decode - the text of a file, into conf, network, vf, dirty and base of out. ERR_DECODE.
 * Pure. */
int peer_decode(const char *text, size_t len, struct peer *out, struct err *e) must_check;

/*
 * peer_find - the attachment of a container. ERR_NOTFOUND: there is none. peer_each - all, in the
 * order of names; those that cannot be read have vf "". Non-zero from fn ends the walk.
 */
int peer_find(const struct ctx *ctx, const char *container, const char *ifname, struct peer *out,
	      struct err *e) must_check;
typedef int (*peer_fn)(const struct peer *p, void *arg);
int peer_each(const struct ctx *ctx, peer_fn fn, void *arg, struct err *e) must_check;

enum peer_state {
	PEER_NONE,
	PEER_LIVES, /* or may: where it is cannot be told */
	PEER_GONE,  /* its network namespace has gone */
};

/* peer_of_vf - who has a VF by those files, and *out says; an enum peer_state, or -1. */
int peer_of_vf(const struct ctx *ctx, const char *vf, struct peer *out, struct err *e) must_check;

/* peer_forget - remove its files; absent is success. */
int peer_forget(const struct ctx *ctx, const struct peer *p, struct err *e) must_check;

/*
 * peer_entry - the state of a VF as if we had attached it for key: owned, to be put back
 * to what it was before. netns: of the pod, "" when unknown; strings are borrowed. known: the
 * entry that we have of this life of the VF, or NULL: what the peer does not tell is taken from
 * there, else from the VF as it is. The VF is locked.
 */
struct peer_owner {
	struct record_key key;
	const char *netns;
};
struct peer_host {
	const struct ctx *ctx;
	struct nl *nl; /* of the host */
	const struct vf_entry *known;
};
int peer_entry(const struct peer_host *h, const struct peer *p, const struct peer_owner *owner,
	       struct vf_entry *out, struct err *e) must_check;

/*
 * peer_release - what DEL does about an attachment of the peer: the VF is put back, and the files
 * are removed. Nothing when there is none, or another network's. netns as above.
 */
int peer_release(const struct ctx *ctx, const struct peer_owner *owner, struct err *e) must_check;

/*
 * peer_import - make it an attachment of ours: a VF state and a record. ERR_BUSY: it
 * is, or its VF is another one's by now; ERR_STATE: its namespace has gone, or cannot be told.
 * peer_may_import - whether the latter is not so; changes nothing.
 */
int peer_import(const struct ctx *ctx, const struct peer *p, struct err *e) must_check;
int peer_may_import(const struct ctx *ctx, const struct peer *p, struct err *e) must_check;

/* peer_restore - the same for a VF whose peer has gone; entry becomes its new one, a free VF's. The
 * VF is locked. */
int peer_restore(const struct ctx *ctx, struct nl *nl, const struct peer *p, struct vf_entry *entry,
		 struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h: the owner of each VF, and its baseline: how it was before an attachment had it.
 *
 * Each VF has a JSON file, <run_dir>/vf/<PCI address>. Its first attachment in a life captures the
 * baseline; a boot or a change of sriov_numvfs begins a new life. The baseline follows changes that
 * are made while the VF has no owner, and never what a pod left. A claim writes the owner and what
 * will change before it changes the VF. DEL, repair and the next claim restore the VF from it.
 */
#ifndef RAILHEAD_SRIOV_VF_STATE_H
#define RAILHEAD_SRIOV_VF_STATE_H

#include "cni/record/record.h"
#include "lib/device/rdma.h"
#include "lib/device/pci.h"
#include "sriov/vf/baseline.h"

/*
 * A bit beside enum vf_attr in `to_restore`: the interface could not be reached when the owner
 * released the VF, or could not be restored. The next claim or repair restores it.
 */
#define VF_UNREACHABLE 64

/* With one of these of its last owner, a VF is not given to another one. */
#define VF_ISOLATES (VF_VLAN | VF_SPOOFCHK | VF_TRUST)

/* The RDMA device of a VF that moves into the pod; name "": none does. */
struct vf_rdma {
	uint32_t index;
	char name[RDMA_NAME_LEN];   /* on the host */
	char uverbs[RDMA_NAME_LEN]; /* in the pod, as rdma_chardev_text(); "": none */
};

/* The attachment that has the VF. The strings belong to the entry's tree or to its builder. */
struct vf_owner {
	struct record_key key;
	const char *netns; /* path as given */
	struct netns_id netns_id;
	struct netns_view from; /* of the plugin that claimed the VF; 0: an earlier version did */
	int ifindex; /* of the interface on the host, later in the pod; 0: no interface */
	struct vf_rdma rdma;
};

struct vf_entry {
	char vf[PCI_STR_LEN], pf[PCI_STR_LEN];
	uint32_t index;
	char boot[CTX_BOOT_ID_LEN + 1];
	uint64_t life;               /* vf_life() when the baseline was captured */
	char driver[PCI_DRIVER_LEN]; /* it had at its claim; "": unknown */
	struct vf_baseline base;
	bool base_lost; /* base has the values of a new VF: see sriov/claim/lost.h */
	/* The VF after a restore, if that did not reach base everywhere. */
	bool has_left;
	struct vf_baseline left;
	unsigned to_restore; /* bits of enum vf_attr that may differ from base.pf_side;
				VF_UNREACHABLE */
	bool owned;
	struct vf_owner owner;
	struct json *tree; /* owns the strings after reading */
};

/* vf_entry_clear - free what x owns; x becomes empty. */
void vf_entry_clear(struct vf_entry *x);
#define auto_vf_entry auto_clean(vf_entry_clear)

/*
 * vf_state_add_settings, vf_state_read_settings - the settings of b's interface in the object
 * netdev of that file. -1: no memory; ERR_DECODE. If they are absent, b is unchanged.
 */
int vf_state_add_settings(struct json *netdev, const struct vf_baseline *b) must_check;
int vf_state_read_settings(const struct json *netdev, struct vf_baseline *b,
			   struct err *e) must_check;

/*
 * vf_state_decode - the text of a file; ERR_DECODE if it is malformed. vf_state_print - the
 * reverse; NULL: no memory; the caller frees the text. Both pure.
 */
int vf_state_decode(const char *text, size_t len, struct vf_entry *out, struct err *e) must_check;
char *vf_state_print(const struct vf_entry *x);

/*
 * vf_state_read - the entry of a VF. ERR_NOTFOUND (ENOENT): there is none; ERR_DECODE: it is
 * damaged, is about another VF, or is not a regular file. vf_state_write - create or replace the
 * file. vf_state_remove - remove it; an absent file is success.
 */
int vf_state_read(const struct ctx *ctx, const char *vf, struct vf_entry *out,
		  struct err *e) must_check;
int vf_state_write(const struct ctx *ctx, const struct vf_entry *x, struct err *e) must_check;
int vf_state_remove(const struct ctx *ctx, const char *vf, struct err *e) must_check;

/*
 * vf_state_current - the state of a VF in its present life. ERR_NOTFOUND: there is none (ENOENT),
 * or only one of an earlier life; ERR_DECODE: it is damaged. The caller clears *out.
 */
int vf_state_current(const struct ctx *ctx, const char *vf, struct vf_entry *out,
		     struct err *e) must_check;

/*
 * Hints for a search among hundreds of VFs. They search the text of an entry and decode nothing.
 * vf_state_open_dir - the folder of the entries: a descriptor that the caller closes, or -1 when
 * there is none yet; the next two accept -1. vf_state_looks_owned - whether the entry has an owner.
 * vf_state_looks_owned_by - whether the entry contains the name of this container.
 */
int vf_state_open_dir(const struct ctx *ctx);
bool vf_state_looks_owned(int folder, const char *vf);
bool vf_state_looks_owned_by(int folder, const char *vf, const char *container);

/*
 * vf_state_each - call fn for every entry in the order of addresses. A damaged entry has only vf
 * set, and boot "". Return non-zero from fn to stop; the value is discarded. If an entry cannot be
 * read now, the others are still visited, and the function returns -1 at the end.
 */
typedef int (*vf_state_fn)(const struct vf_entry *x, void *arg);
int vf_state_each(const struct ctx *ctx, vf_state_fn fn, void *arg, struct err *e) must_check;

/*
 * vf_state_lock - lock a VF for a change, or a PF for a choice among its VFs: addr is either's PCI
 * address. A caller that needs both locks the PF first. Returns a descriptor; closing it unlocks.
 * ERR_AGAIN after timeout_ms.
 */
#define VF_STATE_LOCK_MS 10000
int vf_state_lock(const struct ctx *ctx, const char *addr, int timeout_ms,
		  struct err *e) must_check;

/*
 * vf_life - a number that a VF keeps for as long as it exists. VFs that sriov_numvfs removes and
 * creates again have the same addresses, but other numbers. The number is the inode of its folder
 * in sysfs: kernfs never uses an inode twice in a boot. ERR_NOTFOUND: there is no such VF.
 *
 * vf_not_seen - doubt an ERR_NOTFOUND in *e about a VF: it stays only if sysfs is there and does
 * not list the VF. Returns -1. vf_life() and vf_locate() do so.
 */
int vf_life(const struct ctx *ctx, const char *vf, uint64_t *out, struct err *e) must_check;
int vf_not_seen(const struct ctx *ctx, const char *vf, struct err *e) must_check;

/* vf_owner_is - whether the VF belongs to this attachment; an inode of 0 in id matches any. */
bool vf_owner_is(const struct vf_entry *x, const struct record_key *key, struct netns_id id);

/*
 * vf_owner_lives - whether the VF has an owner whose network namespace is not proved gone. An owner
 * of unknown state counts as alive.
 */
bool vf_owner_lives(const struct ctx *ctx, const struct vf_entry *x);

/*
 * vf_owner_netns - open the owner's namespace. 1: *out is open; 0: it is gone; -1: unknown, see
 * netns_locate.h. If the record has no id of the namespace, the path decides: sriov-cni records
 * only the path.
 */
int vf_owner_netns(const struct ctx *ctx, const struct vf_owner *w, struct netns *out,
		   struct err *e) must_check;

#endif

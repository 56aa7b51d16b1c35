/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vf_state.h: who has which VF, and what each VF was like before anybody had it.
 *
 * One JSON file a VF, <run_dir>/vf/<PCI address>. The baseline is never what a pod left: it is
 * captured when a VF is first taken in its life (a boot, a change of sriov_numvfs), and follows
 * what is changed while nobody has it. An entry with an owner is written before the VF is touched;
 * what the owner changes is noted with it, so that whoever comes later can put it back.
 */
#ifndef RAILHEAD_SRIOV_VF_VF_STATE_H
#define RAILHEAD_SRIOV_VF_VF_STATE_H

#include "cni/record/record.h"
#include "lib/base/hw_addr.h"
#include "lib/device/ethtool.h"
#include "lib/net/settings.h"
#include "lib/device/vf.h"
#include "lib/pci/pci.h"

#define VF_ALTNAMES_MAX 8
#define VF_ALTNAME_LEN  128 /* ALTIFNAMSIZ */

/* The VF as it was. */
struct vf_baseline {
	bool has_netdev; /* false: bound to a driver without one (vfio-pci); the next six say
			    nothing */
	char name[IFNAME_LEN];
	struct hw_addr addr; /* none: not known */
	bool own_mac; /* the MAC that its PF knows was the VF's own choice, no administrator's;
			 false also when nobody can tell, see vf_configure() */
	uint32_t mtu;
	bool up;
	char altnames[VF_ALTNAMES_MAX][VF_ALTNAME_LEN]; /* "": no more */
	bool has_settings; /* false: of an earlier version, or nobody knows; then the next two say
			      nothing */
	struct link_settings link;
	struct ethtool_state tool;
	struct vf_info pf_side; /* what its PF knew of it */
};

/*
 * Beside the enum vf_attr in `dirty`: when the VF was given up its interface could not be reached,
 * in a namespace of which we have no name, or not be made as it was. It is restored once it can be.
 */
#define VF_UNREACHABLE 64

/* The attachment that has it. Strings are borrowed from the entry's tree, or from whoever built it.
 */
struct vf_owner {
	struct record_key key;
	const char *netns; /* path as given */
	struct netns_id netns_id;
	struct netns_view from; /* of the plugin that took the VF; 0: of an earlier version */
	int ifindex; /* of the VF when it was taken, and inside the pod; 0: no interface */
};

struct vf_entry {
	char vf[PCI_STR_LEN], pf[PCI_STR_LEN];
	uint32_t index;
	char boot[CTX_BOOT_ID_LEN + 1];
	uint64_t life; /* vf_life() when the baseline was captured */
	struct vf_baseline base;
	/* What it was like after it had been put back: only when not all came out as in base. */
	bool has_left;
	struct vf_baseline left;
	unsigned dirty; /* enum vf_attr: may differ from base.pf_side; VF_UNREACHABLE */
	bool owned;
	struct vf_owner owner;
	struct json *tree; /* owns the strings after reading */
};

void vf_entry_clear(struct vf_entry *x);
#define auto_vf_entry auto_clean(vf_entry_clear)

/* vf_state_add_settings, vf_state_read_settings - a part of that text: the settings of b's
 * interface.
 */
int vf_state_add_settings(struct json *netdev, const struct vf_baseline *b) must_check;
int vf_state_read_settings(const struct json *netdev, struct vf_baseline *b,
			   struct err *e) must_check;

/* vf_state_decode, vf_state_print - text of a file, pure. ERR_DECODE; NULL: no memory, else free().
 */
int vf_state_decode(const char *text, size_t len, struct vf_entry *out, struct err *e) must_check;
char *vf_state_print(const struct vf_entry *x);

/*
 * vf_state_read - the entry of a VF. ERR_NOTFOUND (ENOENT): there is none; ERR_DECODE: damaged,
 * under another VF's name, or no file of ours, and so never to be read. vf_state_write - create or
 * replace. vf_state_remove - absent is success.
 */
int vf_state_read(const struct ctx *ctx, const char *vf, struct vf_entry *out,
		  struct err *e) must_check;
int vf_state_write(const struct ctx *ctx, const struct vf_entry *x, struct err *e) must_check;
int vf_state_remove(const struct ctx *ctx, const char *vf, struct err *e) must_check;

/*
 * vf_state_looks_owned - whether a VF has an owner by the look of its entry, of which nothing else
 * is understood: for a search among hundreds, as a hint of whom to ask first. vf_state_open_dir -
 * where they lie: a descriptor, or -1 when there are none (yet), which vf_state_looks_owned takes
 * as well. vf_state_looks_owned_by - whether the entry has this container's name in it, by the same
 * look.
 */
int vf_state_open_dir(const struct ctx *ctx);
bool vf_state_looks_owned(int folder, const char *vf);
bool vf_state_looks_owned_by(int folder, const char *vf, const char *container);

/*
 * vf_state_each - every entry in the order of addresses; damaged ones have vf set and boot "".
 * Non-zero from fn ends the walk. One that cannot be read now is passed over, and the walk returns
 * -1 when it is through.
 */
typedef int (*vf_state_fn)(const struct vf_entry *x, void *arg);
int vf_state_each(const struct ctx *ctx, vf_state_fn fn, void *arg, struct err *e) must_check;

/*
 * vf_state_lock - one at a time works on a VF, or chooses among the VFs of a PF: addr is either.
 * ERR_AGAIN after timeout_ms. Returns a descriptor. Whoever needs both takes the PF's first.
 */
#define VF_STATE_LOCK_MS 10000
int vf_state_lock(const struct ctx *ctx, const char *addr, int timeout_ms,
		  struct err *e) must_check;

/*
 * vf_life - a number that a VF keeps for as long as it exists: VFs that sriov_numvfs removed and
 * made again are others, though their addresses are the same. (The inode of its folder in sysfs:
 * kernfs never gives one twice in a boot.) ERR_NOTFOUND when there is no such VF.
 */
int vf_life(const struct ctx *ctx, const char *vf, uint64_t *out, struct err *e) must_check;

/* vf_owner_is - whether the VF belongs to this attachment; an inode of 0 in id matches any. */
bool vf_owner_is(const struct vf_entry *x, const struct record_key *key, struct netns_id id);

/*
 * vf_owner_lives - whether the VF has an owner whose network namespace is not proved gone. What
 * cannot be told may well live.
 */
bool vf_owner_lives(const struct ctx *ctx, const struct vf_entry *x);

/*
 * vf_owner_netns - 1: the owner's namespace, open; 0: it is gone; -1: cannot tell (netns_locate.h).
 * Of an owner whose namespace nobody has on record (sriov-cni notes its path alone) the path
 * decides.
 */
int vf_owner_netns(const struct ctx *ctx, const struct vf_owner *w, struct netns *out,
		   struct err *e) must_check;

#endif

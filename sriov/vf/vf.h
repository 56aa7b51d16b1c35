/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vf.h: one VF in the kernel: found, looked at, configured, moved, put back.
 *
 * All is by PCI address, never by name: names change under our feet. Everything here is called from
 * the host's network namespace, with nl a socket of it.
 */
#ifndef RAILHEAD_SRIOV_VF_VF_H
#define RAILHEAD_SRIOV_VF_VF_H

#include "sriov/vf/vf_state.h"

/* Where a VF is. */
struct vf_place {
	char vf[PCI_STR_LEN], pf[PCI_STR_LEN];
	uint32_t index; /* its number at the PF */
	char pf_name[IFNAME_LEN];
	int pf_ifindex;
	uint32_t pf_mtu;
	char driver[PCI_DRIVER_LEN]; /* of the VF, "" when none */
	char name[IFNAME_LEN];       /* its interface on the host; "" when there is none here */
};

/*
 * vf_locate - addr may be written in any way sysfs does. ERR_NOTFOUND naming addr when there is no
 * such function, ERR_CONFIG when it is no VF, or its PF has no interface.
 */
int vf_locate(const struct ctx *ctx, struct nl *nl, const char *addr, struct vf_place *out,
	      struct err *e) must_check;

/*
 * vf_check_usable - ERR_STATE when no driver is bound, ERR_BUSY when its interface is not on the
 * host although its driver makes one: it is in somebody's namespace.
 */
int vf_check_usable(const struct vf_place *p, struct err *e) must_check;

/* vf_has_userspace_driver - vfio-pci and its like: a VF without an interface, on purpose. */
bool vf_has_userspace_driver(const struct vf_place *p);

/*
 * vf_capture - the VF as it is now, for a baseline. vf_capture_netdev - only what concerns its
 * interface, which must be on the host.
 */
int vf_capture(struct nl *nl, const struct vf_place *p, struct vf_baseline *out,
	       struct err *e) must_check;
int vf_capture_netdev(struct nl *nl, const struct vf_place *p, struct vf_baseline *out,
		      struct err *e) must_check;

/* vf_start_entry - a new VF state: nobody's, with the VF as it is now for its baseline.
 */
int vf_start_entry(const struct ctx *ctx, struct nl *nl, const struct vf_place *p,
		   struct vf_entry *out, struct err *e) must_check;

/*
 * vf_compare - what of a VF is not as it was, as words. An interface is compared when both have
 * one; one that is up, and alternative names that have been added, are no difference unless both is
 * set. vf_follow - base takes over what was changed by somebody who may: what is now other than it
 * was left. Both pure.
 */
struct vf_differences {
	unsigned attrs;   /* enum vf_attr */
	bool unreachable; /* it should have an interface here, and has none (its caller's to set) */
	char text[256];   /* with commas between; "": none */
};
void vf_compare(const struct vf_baseline *is, const struct vf_baseline *was, bool both,
		struct vf_differences *d);
void vf_follow(struct vf_baseline *base, const struct vf_baseline *left,
	       const struct vf_baseline *now);

/* vf_differing - an attribute that both know and that is not as wanted; 0: none. */
enum vf_attr vf_differing(const struct vf_info *is, const struct vf_info *want);

/* What an attachment wants of its VF. */
struct vf_request {
	struct vf_info pf_side; /* has: what to set; a MAC is the interface's too */
	uint32_t mtu;           /* 0: as it is */
};

/*
 * vf_configure - grant it, on the host. Not atomic: after a failure vf_restore() undoes what was
 * done. Errors name the key, the driver and the PF. *own_mac (may be NULL) becomes true when the
 * VF turns out to have had a MAC of its own, which only a VF that is given another one shows; also
 * when another key fails after that.
 */
int vf_configure(struct nl *nl, const struct vf_place *p, const struct vf_request *w, bool *own_mac,
		 struct err *e) must_check;

/* Where a VF shall go. */
struct vf_target {
	struct nl *host_nl, *pod_nl;
	const struct netns *pod;
	const char *ifname;
};

/*
 * vf_move_to_pod - into the pod as ifname, by one request; alternative names that are taken there
 * are dropped first. *ifindex becomes its number there.
 */
int vf_move_to_pod(const struct vf_place *p, const struct vf_target *to, int *ifindex,
		   struct err *e) must_check;

/*
 * vf_restore - the VF of x to its baseline: out of the owner's namespace if that is alive, name,
 * alternative names, MAC, MTU, and those attributes of the PF's side that x calls dirty. x->dirty
 * keeps those that the kernel refused to put back, which is a warning in the log. A VF or PF that
 * is gone is success; -1 means that the interface could not be fetched or looked for, or that
 * something failed that may work the next time (memory, a socket). Then x is as it was owned; else
 * it is owned no longer, unless its owner's namespace has no name any more and the interface is not
 * back: whoever asks for that attachment again may find it.
 */
int vf_restore(const struct ctx *ctx, struct nl *nl, struct vf_entry *x, struct err *e) must_check;

/* The two MACs of a VF, and where they live. */
struct vf_macs {
	struct nl *nl;
	struct vf_ref vf;
	const struct vf_info *pf_side; /* its mac: the administrative one, at the PF */
	int ifindex;                   /* of the interface; 0: it has none here, or keeps its own */
	const uint8_t *mac;            /* of the interface */
};

/*
 * vf_set_macs - set both. Drivers couple them in different ways: mlx5 ignores the first for a bound
 * VF, ice and i40e reset the VF on it and let only that address through, igbvf refuses any change
 * of the second while the first is another (EADDRNOTAVAIL).
 */
int vf_set_macs(const struct vf_macs *m, struct err *e) must_check;

#endif

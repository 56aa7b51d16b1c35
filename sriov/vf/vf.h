/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vf.h: one VF in the kernel: find it, read it, configure it, move it, restore it.
 *
 * A VF is known by its PCI address, because names change at any time. Every function is called from
 * the host's network namespace, and nl is a socket of the host.
 */
#ifndef RAILHEAD_SRIOV_VF_VF_H
#define RAILHEAD_SRIOV_VF_VF_H

#include "sriov/vf/state.h"

/* Where a VF is. */
struct vf_place {
	char vf[PCI_STR_LEN], pf[PCI_STR_LEN];
	uint32_t index; /* its number at the PF, from 0 */
	uint64_t life;  /* vf_life() */
	char pf_name[IFNAME_LEN];
	int pf_ifindex;
	uint32_t pf_mtu;
	char driver[PCI_DRIVER_LEN]; /* of the VF; "": none */
	char name[IFNAME_LEN];       /* its interface on the host; "": none here */
};

/*
 * vf_locate - find a VF by its PCI address, with or without a domain. ERR_NOTFOUND: there is no
 * such function; ERR_CONFIG: addr is malformed, the function is not a VF, or its PF has no
 * interface. The message names addr.
 */
int vf_locate(const struct ctx *ctx, struct nl *nl, const char *addr, struct vf_place *out,
	      struct err *e) must_check;

/*
 * vf_check_usable - whether an attachment can have the VF. ERR_STATE: no driver is bound; ERR_BUSY:
 * its interface is not on the host, although its driver makes one.
 */
int vf_check_usable(const struct vf_place *p, struct err *e) must_check;

/* vf_has_userspace_driver - whether the VF has vfio-pci or a similar driver, and so no interface.
 */
bool vf_has_userspace_driver(const struct vf_place *p);

/*
 * vf_capture - read the VF as it is now. A GUID that its PF does not know is the VF's own.
 * vf_capture_netdev - read only what concerns its interface,
 * which must be on the host; the rest of *out stays.
 */
int vf_capture(const struct ctx *ctx, struct nl *nl, const struct vf_place *p,
	       struct vf_baseline *out, struct err *e) must_check;
int vf_capture_netdev(struct nl *nl, const struct vf_place *p, struct vf_baseline *out,
		      struct err *e) must_check;

/* vf_start_entry - a new VF state without an owner; the VF as it is now becomes the baseline. */
int vf_start_entry(const struct ctx *ctx, struct nl *nl, const struct vf_place *p,
		   struct vf_entry *out, struct err *e) must_check;

/*
 * vf_compare - how `is` differs from `was`. Interfaces are compared if both have one. An interface
 * that is up now, and alternative names that were added, are differences only if `both` is true.
 * vf_follow - base takes over every value that differs between left, as the VF was last left, and
 * now: an administrator changed it. base and left can be the same. All pure.
 */
struct vf_differences {
	unsigned attrs;   /* bits of enum vf_attr */
	bool unreachable; /* set by callers only: its interface should be here and is not */
	char text[256];   /* "name, mtu": what differs; "": nothing */
};
void vf_compare(const struct vf_baseline *is, const struct vf_baseline *was, bool both,
		struct vf_differences *d);
void vf_follow(struct vf_baseline *base, const struct vf_baseline *left,
	       const struct vf_baseline *now);

/* vf_baseline_has_altname - whether name is an alternative name of the interface. */
bool vf_baseline_has_altname(const struct vf_baseline *b, const char *name);

/* vf_baseline_has_addr - whether its address is known. One of IPoIB without a GUID is not. Pure. */
bool vf_baseline_has_addr(const struct vf_baseline *b);

/* vf_differing - the first attribute that both know and that differs; 0: none. Pure. */
enum vf_attr vf_differing(const struct vf_info *is, const struct vf_info *want);

/* Values that an attachment asks for. */
struct vf_request {
	struct vf_info pf_side; /* has: what to set; the MAC is set at the interface, too */
	uint32_t mtu;           /* 0: unchanged */
};

/*
 * vf_configure - set it, while the VF is on the host. After a failure the caller runs vf_restore()
 * to undo the part that was done. Errors name the key, the driver and the PF. *own_mac (may be
 * NULL) becomes true if the VF had a MAC that it chose by itself. Only a change of the MAC shows
 * that. The value is valid also after a failure.
 */
int vf_configure(struct nl *nl, const struct vf_place *p, const struct vf_request *w, bool *own_mac,
		 struct err *e) must_check;

/* Where a VF moves to. */
struct vf_target {
	struct nl *host_nl, *pod_nl;
	const struct netns *pod;
	const char *ifname;
};

/*
 * vf_move_to_pod - move the interface into the pod and rename it to ifname, in one request. Before
 * that, alternative names that are taken in the pod are removed. *ifindex becomes its index there.
 * An interface of IPoIB that is in the pod already is only renamed.
 */
int vf_move_to_pod(const struct vf_place *p, const struct vf_target *to, int *ifindex,
		   struct err *e) must_check;

/*
 * vf_restore - restore the VF of x to its baseline. If the owner's namespace is alive, the
 * interface is fetched from it. Name, alternative names, MAC, MTU and settings are restored, then
 * the PF's attributes whose bits are set in x->to_restore. If the kernel refuses an attribute, its
 * bit stays set, and the log has a warning. A VF or PF that is gone is success.
 *
 * -1: the interface could not be found or fetched, or an error occurred that may be gone at the
 * next attempt (memory, a socket). Then the owner in x is unchanged. After success x has no owner.
 * There is one exception: the interface is not back, because a process keeps the owner's namespace,
 * or the pod moved it on. Then the owner stays, and a later call may find the interface.
 */
int vf_restore(const struct ctx *ctx, struct nl *nl, struct vf_entry *x, struct err *e) must_check;

/* The two MACs of a VF. */
struct vf_macs {
	struct nl *nl;
	struct vf_ref vf;
	const struct vf_info *pf_side; /* mac: the administrative MAC, set at the PF */
	int ifindex;                   /* of the interface; 0: none here, or its MAC stays */
	const uint8_t *mac;            /* for the interface */
};

/*
 * vf_set_macs - set the MAC at the PF, then the MAC of the interface. Drivers couple the two in
 * different ways. mlx5 ignores the first one for a bound VF. ice and i40e then reset the VF and
 * admit only that MAC. igbvf refuses to change the second one while the first one differs
 * (EADDRNOTAVAIL).
 */
int vf_set_macs(const struct vf_macs *m, struct err *e) must_check;

#endif

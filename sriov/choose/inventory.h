/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.h: the PFs and VFs of this host, and who uses each VF. Changes nothing.
 *
 * The data come from sysfs, from the VF states, and from one request to the kernel for each PF. A
 * device that disappears meanwhile is left out; a value that is unknown stays empty.
 */
#ifndef RAILHEAD_SRIOV_CHOOSE_INVENTORY_H
#define RAILHEAD_SRIOV_CHOOSE_INVENTORY_H

#include "sriov/claim/lost.h"

enum vf_use {
	VF_FREE,
	VF_IN_USE,      /* its owner's network namespace lives */
	VF_OWNER_GONE,  /* its owner's namespace is gone: repair or the next claim restores it */
	VF_UNREPAIRED,  /* free, but not everything could be restored after its last owner */
	VF_OTHER_NETNS, /* free, but its interface is in another network namespace */
	VF_DAMAGED,     /* its VF state cannot be decoded */
	VF_TAKEN,       /* in use by the host, or by an attachment of sriov-cni; see why */
	VF_PEER_GONE,   /* sriov-cni attached it to a container that is gone; see why */
};

/* vf_use_name - the word that users see: "in-use". Two uses can have the same word. */
const char *vf_use_name(enum vf_use u);

struct netdev_view {
	char name[IFNAME_LEN]; /* "": none here; the rest is unused */
	int ifindex;           /* 0: the kernel does not know it here */
	struct hw_addr addr;
	uint32_t mtu; /* 0: unknown */
	bool up;
};

#define VF_WHY_LEN 192

struct vf_view {
	char addr[PCI_STR_LEN];
	uint32_t index;
	struct pci_info pci;
	struct netdev_view netdev;
	char rdma[PCI_RDMA_LEN]; /* its RDMA device; "": none here */
	struct vf_info pf_side;
	enum vf_use use;
	char why[VF_WHY_LEN];  /* a phrase; of VF_TAKEN and VF_PEER_GONE it follows "it" */
	struct vf_entry entry; /* its state in this life; vf is "": there is none */
};

struct pf_view {
	char addr[PCI_STR_LEN];
	struct pci_info pci;
	struct pci_sriov count;
	struct netdev_view netdev;
	char rdma[PCI_RDMA_LEN];
	struct vf_view *vf; /* owned */
	size_t n_vfs;
};

struct inventory {
	struct pf_view *pf; /* owned, in the order of addresses */
	size_t n_pfs;
};

/* vf_view_clear, pf_view_clear, inventory_clear - free what the structure owns. */
void vf_view_clear(struct vf_view *v);
void pf_view_clear(struct pf_view *p);
void inventory_clear(struct inventory *v);
#define auto_vf_view   auto_clean(vf_view_clear)
#define auto_pf_view   auto_clean(pf_view_clear)
#define auto_inventory auto_clean(inventory_clear)

/*
 * inventory_read - every network controller that has SR-IOV; *out is empty on a machine without
 * PCI. nl is a socket of the host.
 */
int inventory_read(const struct ctx *ctx, struct nl *nl, struct inventory *out,
		   struct err *e) must_check;

/*
 * inventory_pf, inventory_vf - the PF or VF at a PCI address. ERR_NOTFOUND: there is none. After a
 * failure *out is unchanged. inventory_vf leaves pf_side empty.
 */
int inventory_pf(const struct ctx *ctx, struct nl *nl, const char *addr, struct pf_view *out,
		 struct err *e) must_check;
int inventory_vf(const struct ctx *ctx, struct nl *nl, const char *addr, struct vf_view *out,
		 struct err *e) must_check;

/*
 * inventory_find_pf - the PCI address of a PF by its interface or address. ERR_NOTFOUND: there is
 * no such device; it has no SR-IOV; it is a VF.
 */
int inventory_find_pf(const struct ctx *ctx, const char *name, char out[PCI_STR_LEN],
		      struct err *e) must_check;

#endif

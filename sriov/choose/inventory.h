/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.h: the PFs and VFs of this host, and whose they are. Changes nothing.
 *
 * From sysfs, the VF state, and one question a PF to the kernel. What vanishes while it is looked
 * at is left out; what cannot be told is left empty.
 */
#ifndef RAILHEAD_SRIOV_CHOOSE_INVENTORY_H
#define RAILHEAD_SRIOV_CHOOSE_INVENTORY_H

#include "sriov/vf/vf.h"

enum vf_use {
	VF_FREE,
	VF_IN_USE,     /* its owner's network namespace lives */
	VF_OWNER_GONE, /* its owner's does not: the next to take it puts it back first, or repair */
	VF_UNREPAIRED, /* free, but something of its last owner could not be put back */
	VF_OTHER_NETNS, /* nobody has it, but its interface is not in this network namespace */
	VF_DAMAGED,     /* its VF state cannot be read */
	VF_TAKEN,       /* in use by the host, or by an attachment of sriov-cni; why says by what */
	VF_PEER_GONE,   /* sriov-cni attached it to a container that has gone; why says to which */
};

/* vf_use_name - the word that users see: "in-use". */
const char *vf_use_name(enum vf_use u);

struct netdev_view {
	char name[IFNAME_LEN]; /* "": it has none here, and the rest says nothing */
	int ifindex;
	struct hw_addr addr;
	uint32_t mtu; /* 0: not told */
	bool up;
};

#define VF_WHY_LEN 192

struct vf_view {
	char addr[PCI_STR_LEN];
	uint32_t index;
	struct pci_info pci;
	struct netdev_view netdev;
	char rdma[PCI_RDMA_LEN]; /* "" when it has none here */
	struct vf_info pf_side;
	enum vf_use use;
	char why[VF_WHY_LEN];  /* VF_TAKEN, VF_PEER_GONE: a phrase after "it"; else "" */
	struct vf_entry entry; /* of this life of the VF; vf is "" when there is none */
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

void vf_view_clear(struct vf_view *v);
void pf_view_clear(struct pf_view *p);
void inventory_clear(struct inventory *v);
#define auto_vf_view   auto_clean(vf_view_clear)
#define auto_pf_view   auto_clean(pf_view_clear)
#define auto_inventory auto_clean(inventory_clear)

/* inventory_read - every network controller that has SR-IOV. */
int inventory_read(const struct ctx *ctx, struct nl *nl, struct inventory *out,
		   struct err *e) must_check;

/* inventory_pf, inventory_vf - one. ERR_NOTFOUND when it is none, or none any more. *out is
 * untouched then. inventory_vf leaves pf_side empty. */
int inventory_pf(const struct ctx *ctx, struct nl *nl, const char *addr, struct pf_view *out,
		 struct err *e) must_check;
int inventory_vf(const struct ctx *ctx, struct nl *nl, const char *addr, struct vf_view *out,
		 struct err *e) must_check;

/*
 * inventory_find_pf - the address of a PF by its interface or address. ERR_NOTFOUND, also when it
 * is something without SR-IOV, or a VF.
 */
int inventory_find_pf(const struct ctx *ctx, const char *name, char out[PCI_STR_LEN],
		      struct err *e) must_check;

/*
 * inventory_entry - the recorded state of a VF as it exists now. ERR_NOTFOUND: nothing, or only
 * of an earlier life; ERR_DECODE: damaged.
 */
int inventory_entry(const struct ctx *ctx, const char *vf, struct vf_entry *out,
		    struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.h: which HCAs are nearest to each GPU, and which one each GPU should take. Pure.
 */
#ifndef RAILHEAD_TOPO_CORE_CHOOSE_H
#define RAILHEAD_TOPO_CORE_CHOOSE_H

#include "topo/core/distance.h"

struct topo_gpu_choice {
	uint32_t *nearest; /* HCAs, by PCI address; owned */
	size_t n_nearest;
	uint32_t assigned;     /* the HCA that this GPU should use; TOPO_NONE: none */
	uint32_t *share;       /* all HCAs assigned to it, `assigned` first; owned */
	size_t n_share, n_own; /* the first n_own are on cards that are assigned to no other GPU */
	const char *why_none;  /* if no HCA is nearest: the reason, a static sentence; else NULL */
};

struct topo_choice {
	struct topo_gpu_choice *gpu; /* one for each of the machine's, owned */
	size_t n_gpus;
	/* Rail number of each HCA, from 0 by PCI address; TOPO_NONE: it is not a rail. All ports,
	 * functions and VFs of a card have one number. Owned. */
	uint32_t *rail;
	size_t n_hcas;
	uint32_t n_rails;
};

/* The GPUs and HCAs that an answer considers: one bool for each; a mask that is NULL means all. */
struct topo_scope {
	const bool *gpu, *hca;
};

/* topo_usable - topo_is_network(), and not all of its ports are known to be down. */
bool topo_usable(const struct topo_hca *h);

/*
 * topo_roles - set role and rule of each HCA; the first of these rules that applies decides. They
 * are the rules of NVSentinel, except that phb, node and numa need a known link layer, and for smi,
 * nvswitch, no-switch and slower:
 *	smi, nvswitch	management: it is of that kind, and no rail whatever its role is
 *	default-route	management: the default route uses it
 *	efa		compute: an Elastic Fabric Adapter
 *	pix, pxb	compute: it shares a switch with a GPU
 *	numa		management: no GPU is on its NUMA node
 *	infiniband	compute: on a GPU's NUMA node, and its link layer is InfiniBand
 *	phb, node	storage: on a GPU's NUMA node, and its link layer is Ethernet
 *	bluefield	management: a BlueField that is on another node than every GPU
 *
 * Storage has InfiniBand, too. Two more rules apply to HCAs that are for compute by infiniband:
 *	no-switch	storage: most GPUs share a switch with an HCA, but not with this one, and
 *			one of those is as fast
 *	slower		storage: the faster ones are the rails, by the conditions of rate below; a
 *			BlueField or bond is then for management by bluefield or bond
 *
 * If no HCA is for compute by then, as on Grace with Ethernet, distance says little. Two more rules
 * apply to usable HCAs that are storage by phb or node, or have no role. Each NUMA node with GPUs
 * must have equally many of the fastest plain cards (no BlueField, no bond), at least one for each
 * GPU. No BlueField or bond may be faster, or as fast and as many as the GPUs.
 *	rate		compute: these cards
 *	bluefield, bond	management: a BlueField or bond without a role
 *
 * A topology file places an HCA at a cpu if NCCL did not find its function. One more rule applies
 * to such an HCA without a role.
 *	slower		storage: each HCA for compute has more bandwidth
 *
 * default_netdev: the interface of the default route; NULL or "": not known.
 */
void topo_roles(struct topo_machine *m, const char *default_netdev);

/* topo_set_role - give a role to the HCAs that key names: a PCI address, the name of an RDMA
 * device, or "vendor:device" of its function; the rule is "operator". Returns their number. */
size_t topo_set_role(struct topo_machine *m, const char *key, enum topo_role role);
/* topo_set_direct - the HCAs that key names, as above, have this Data Direct function; TOPO_NONE:
 * they have none. Returns their number. */
size_t topo_set_direct(struct topo_machine *m, const char *key, uint32_t pci);

/*
 * topo_choose - the nearest HCAs of each GPU in scope (NULL: all), and the HCAs assigned to it.
 *
 * Candidates are the usable HCAs. Cards for storage and management are omitted if other cards
 * exist. A VF or SF is omitted if its PF is a candidate. The ports on the package of an accelerator
 * are omitted, because no other device may use them. A GPU's nearest HCAs are all candidates
 * with the smallest distance.
 *
 * GPUs with the same nearest HCAs get them in the order of PCI addresses. Each GPU gets a card
 * before any GPU gets a second. Cards that remain are shared by all of these GPUs.
 *
 * A rail is a card that is nearest to a GPU in scope; without any GPU, every candidate is a rail.
 * The result does not depend on the order of the machine's records. The caller clears *out.
 */
int topo_choose(const struct topo_machine *m, const struct topo_scope *scope,
		struct topo_choice *out, struct err *e) must_check;
/* topo_choice_clear - free all that c owns. */
void topo_choice_clear(struct topo_choice *c);
#define auto_topo_choice auto_clean(topo_choice_clear)

#endif

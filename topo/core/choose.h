/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.h: which HCAs are nearest to each GPU, and which one each GPU should take. Pure.
 */
#ifndef RAILHEAD_TOPO_CORE_CHOOSE_H
#define RAILHEAD_TOPO_CORE_CHOOSE_H

#include "topo/core/distance.h"

struct aff_gpu_choice {
	uint32_t *nearest; /* HCAs, by PCI address; owned */
	size_t n_nearest;
	uint32_t assigned;     /* AFF_NONE: there is none for it */
	uint32_t *share;       /* all that are assigned to it, assigned first; owned */
	size_t n_share, n_own; /* the first n_own are on cards that are assigned to no other GPU */
	const char *why_none;  /* when nothing is nearest: a sentence; else NULL */
};

struct aff_choice {
	struct aff_gpu_choice *gpu; /* one for each of the machine's, owned */
	size_t n_gpus;
	/* Rail number of each HCA, from 0 by PCI address; AFF_NONE: it is no rail. One card is one
	 * rail, whatever ports, functions and VFs of it there are. Owned. */
	uint32_t *rail;
	size_t n_hcas;
	uint32_t n_rails;
};

/* What is looked at: NULL masks mean all. One bool for each GPU and each HCA. */
struct aff_scope {
	const bool *gpu, *hca;
};

/* aff_usable - a candidate: a port is ACTIVE or that is not told, and it is no software device. */
bool aff_usable(const struct aff_hca *h);

/*
 * aff_roles - give each HCA its role, and the rule that fired: the first of these (NVSentinel's,
 * but that where a port's link layer is not told nothing is guessed from a distance):
 *	default-route	management: the default route goes over it
 *	efa		compute: an Elastic Fabric Adapter
 *	pix, pxb	compute: it shares a switch with a GPU
 *	numa		management: its NUMA node is no GPU's
 *	infiniband	compute: below a GPU's NUMA node, and its link layer is InfiniBand
 *	phb, node	storage: as near, and its link layer is Ethernet
 *	bluefield	management: a BlueField that is on another node than every GPU
 * default_netdev: the interface of the default route; NULL or "": not known.
 */
void aff_roles(struct aff_machine *m, const char *default_netdev);

/*
 * aff_choose - nearest: all usable HCAs, storage and management cards left out where others are,
 * that no other is nearer than; a VF or SF is left out where its PF is among them. Where GPUs tie
 * for HCAs, these are assigned in the order of PCI addresses, as many to each as can be, one card
 * to one GPU before a second; what remains is shared by all of them. A rail is a card that is
 * nearest to some GPU in scope, or, where no GPU is, any candidate. In which order the machine's
 * records stand changes nothing but their indices.
 */
int aff_choose(const struct aff_machine *m, const struct aff_scope *scope, struct aff_choice *out,
	       struct err *e) must_check;
void aff_choice_clear(struct aff_choice *c);
#define auto_aff_choice auto_clean(aff_choice_clear)

#endif

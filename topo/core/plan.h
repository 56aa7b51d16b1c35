/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h: assigns VFs to the pods of a node so that no two pods share a rail. Pure.
 */
#ifndef RAILHEAD_TOPO_CORE_PLAN_H
#define RAILHEAD_TOPO_CORE_PLAN_H

#include "topo/core/choose.h"

/* One HCA for one GPU of a pod. */
struct topo_plan_item {
	uint32_t gpu, hca; /* hca: from `share` of struct topo_gpu_choice */
	uint32_t rail;
	uint32_t vf; /* a PCI function, VF of that HCA; TOPO_NONE: the HCA has no VFs, and the pod
		      * gets the HCA itself */
	struct topo_distance distance; /* from the GPU to the VF, or to the HCA */
};

struct topo_plan_pod {
	uint32_t *gpu; /* in the order of PCI addresses; owned */
	size_t n_gpus;
	struct topo_plan_item *item; /* the rails of the first GPU, of the second, ...; owned */
	size_t n_items;
};

struct topo_plan {
	struct topo_plan_pod *pod; /* owned */
	size_t n_pods;
	/* Remarks, one sentence each: GPUs of one pod that share an HCA, HCAs that stay unused
	 * because two pods would share them, pods with two link layers; owned. */
	char **note;
	size_t n_notes;
};

struct topo_plan_request {
	const struct topo_scope *scope; /* NULL: all */
	uint32_t pods, gpus_per_pod;
	const bool *taken; /* by PCI function: a VF that is in use; NULL: all VFs are free */
};

/*
 * topo_plan_make - plan `pods` pods with gpus_per_pod GPUs each; pods get the GPUs in scope in the
 * order of PCI addresses. A pod gets the HCAs that c assigns to its GPUs, without cards that are
 * also assigned to a GPU of another pod. Each HCA contributes its free VF with the lowest PCI
 * address; GPUs of one pod with the same HCA share that VF. c: topo_choose() of the same scope.
 *
 * ERR_FIELD: zero pods, or zero GPUs each. ERR_EXHAUSTED, with the reason and the remedy: too few
 * GPUs, a GPU without an HCA, two pods whose GPUs have only one card, or no free VF.
 */
int topo_plan_make(const struct topo_machine *m, const struct topo_choice *c,
		   const struct topo_plan_request *r, struct topo_plan *out,
		   struct err *e) must_check;
/* topo_plan_clear - free all that p owns. */
void topo_plan_clear(struct topo_plan *p);
#define auto_topo_plan auto_clean(topo_plan_clear)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h: which VF each pod of a node should get, so that no two pods share a rail. Pure.
 */
#ifndef RAILHEAD_TOPO_CORE_PLAN_H
#define RAILHEAD_TOPO_CORE_PLAN_H

#include "topo/core/choose.h"

/* One HCA for one GPU of a pod. */
struct aff_plan_item {
	uint32_t gpu, hca; /* hca: the one that stands for the rail, as in struct aff_gpu_choice */
	uint32_t rail;
	uint32_t vf; /* a PCI function, VF of that HCA; AFF_NONE: it has no VFs, the pod takes it
		      * whole */
	struct aff_distance way; /* from the GPU to the VF, or to the HCA */
};

struct aff_plan_pod {
	uint32_t *gpu; /* in the order of PCI addresses; owned */
	size_t n_gpus;
	struct aff_plan_item *item; /* of each GPU its rails, GPU by GPU; owned */
	size_t n_items;
};

struct aff_plan {
	struct aff_plan_pod *pod; /* owned */
	size_t n_pods;
	/* What a reader should know of this plan, a sentence each: GPUs of one pod that share an
	 * HCA, HCAs that stay unused since they would be two pods'; owned. */
	char **note;
	size_t n_notes;
};

/*
 * aff_plan_make - pods pods of gpus_per_pod GPUs: pods take the scope's GPUs in the order of PCI
 * addresses. A pod gets what c assigns to its GPUs on cards of which no other of these pods has a
 * GPU; GPUs of one pod that are assigned the same HCA have the same VF of it. Of an HCA's VFs the
 * one with the lowest PCI address is given that is free by `taken` (one bool for each PCI function;
 * NULL: all are). c: for the same scope.
 *
 * ERR_FIELD: no pods, or no GPUs each. ERR_EXHAUSTED with the reason and the remedy when it cannot
 * be: too few GPUs, a GPU without an HCA, two pods whose GPUs have one card only, no free VF left.
 */
struct aff_plan_request {
	const struct aff_scope *scope; /* NULL: all */
	uint32_t pods, gpus_per_pod;
	const bool *taken;
};
int aff_plan_make(const struct aff_machine *m, const struct aff_choice *c,
		  const struct aff_plan_request *w, struct aff_plan *out, struct err *e) must_check;
void aff_plan_clear(struct aff_plan *p);
#define auto_aff_plan auto_clean(aff_plan_clear)

#endif

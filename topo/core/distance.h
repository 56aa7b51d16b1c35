/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.h: how far two PCI functions are from each other. Pure.
 *
 * Two vocabularies, never mixed: the class is what nvidia-smi prints, from the bridges as they
 * show; `switches` is the physical truth, one chip counted once, and decides what is nearest.
 */
#ifndef RAILHEAD_TOPO_CORE_DISTANCE_H
#define RAILHEAD_TOPO_CORE_DISTANCE_H

#include "topo/core/machine.h"

/* As nvidia-smi names them, nearest first. */
enum aff_class { AFF_X, AFF_PIX, AFF_PXB, AFF_PHB, AFF_NODE, AFF_SYS, AFF_CLASS_UNKNOWN };
const char *aff_class_name(enum aff_class c);

struct aff_distance {
	enum aff_class class;
	uint32_t bridges;  /* switches on the way, each level that shows counted */
	uint32_t switches; /* chips on the way, each counted once, a GPU's own left out */
	uint32_t ancestor; /* the lowest function above both; AFF_NONE: a root complex or none */
	bool same_root;    /* one root complex */
	enum aff_tristate same_numa; /* unknown when either is not told */
	bool collapsed;              /* two levels that show were counted as one chip */
	bool probable;   /* more levels may be one chip: known silicon, a maker's own ids */
	bool own_bridge; /* a bridge that belongs to the GPU was left out */
	/* The narrowest link on the way in 100 Mbit/s, as it could be and as it is; 0: one of them
	 * is not told. */
	uint32_t max_bw, cur_bw;
};

/* aff_distance - of functions a and b of m. */
void aff_distance(const struct aff_machine *m, uint32_t a, uint32_t b, struct aff_distance *out);

/* aff_distance_to_hca - of a GPU and an HCA: a bond is as far as its farther function; what has no
 * function is AFF_CLASS_UNKNOWN, or by its cpu element. */
void aff_distance_to_hca(const struct aff_machine *m, uint32_t gpu, uint32_t hca,
			 struct aff_distance *out);

/* aff_distance_cmp - whether x is nearer than y: unknowns last, then switch chips against root
 * complex, NUMA node, other node, then the number of chips. < 0, 0, > 0 as strcmp. */
int aff_distance_cmp(const struct aff_distance *x, const struct aff_distance *y);

#endif

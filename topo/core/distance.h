/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.h: the distance between two PCI functions. Pure.
 *
 * A distance has two measures. `class` is the word that nvidia-smi prints; it counts all bridges
 * that sysfs shows. `switches` counts physical chips, and decides which HCA is nearest.
 */
#ifndef RAILHEAD_TOPO_CORE_DISTANCE_H
#define RAILHEAD_TOPO_CORE_DISTANCE_H

#include "topo/core/machine.h"

/* The classes of nvidia-smi, nearest first. */
enum aff_class { AFF_X, AFF_PIX, AFF_PXB, AFF_PHB, AFF_NODE, AFF_SYS, AFF_CLASS_UNKNOWN };
/* aff_class_name - "PIX"; "unknown" for AFF_CLASS_UNKNOWN. Static. */
const char *aff_class_name(enum aff_class c);

struct aff_distance {
	enum aff_class class;
	uint32_t bridges; /* switches between the two; each visible level counts */
	uint32_t
		switches; /* chips between the two; each counts once, a GPU's own bridge does not */
	uint32_t ancestor; /* the lowest function above both; AFF_NONE: a root complex, or none */
	bool same_root;    /* one root complex */
	enum aff_tristate same_numa; /* unknown if one of the two NUMA nodes is not known */
	bool collapsed;              /* two visible levels were counted as one chip */
	bool probable;               /* more levels may be one chip: aff_maybe_one_chip() */
	bool own_bridge; /* a bridge inside the GPU's package was not counted: aff_own_bridge() */
	/* The narrowest link between the two in 100 Mbit/s: its maximum, and its current state. 0:
	 * a link on the path has no known speed or width. */
	uint32_t max_bw, cur_bw;
};

/* aff_distance - the distance between functions a and b of m. */
void aff_distance(const struct aff_machine *m, uint32_t a, uint32_t b, struct aff_distance *out);

/* aff_distance_to_hca - the distance between a GPU and an HCA. A bond has the distance of its
 * farther function. An HCA without a function has AFF_CLASS_UNKNOWN, or the distance to its cpu. */
void aff_distance_to_hca(const struct aff_machine *m, uint32_t gpu, uint32_t hca,
			 struct aff_distance *out);

/* aff_distance_cmp - compare as strcmp does: < 0 if x is nearer than y. The class decides first,
 * with PIX and PXB equal and unknown last, then the number of chips. */
int aff_distance_cmp(const struct aff_distance *x, const struct aff_distance *y);

#endif

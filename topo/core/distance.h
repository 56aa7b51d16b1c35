/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.h: the distance between two PCI functions. Pure.
 *
 * A distance has two measures. `class` is the word that nvidia-smi prints; it counts all bridges
 * that sysfs shows. `switches` counts physical chips. The class decides first which HCA is nearest;
 * PIX and PXB count as equal. `switches` decides between HCAs of the same class.
 */
#ifndef RAILHEAD_TOPO_CORE_DISTANCE_H
#define RAILHEAD_TOPO_CORE_DISTANCE_H

#include "topo/core/machine.h"

/* The classes of nvidia-smi, nearest first. */
enum topo_class { TOPO_X, TOPO_PIX, TOPO_PXB, TOPO_PHB, TOPO_NODE, TOPO_SYS, TOPO_CLASS_UNKNOWN };
/* topo_class_name - "PIX"; "unknown" for TOPO_CLASS_UNKNOWN. Static. */
const char *topo_class_name(enum topo_class c);

struct topo_distance {
	enum topo_class class;
	uint32_t bridges; /* switches between the two; each visible level counts */
	uint32_t
		switches; /* chips between the two; each counts once, a GPU's own bridge does not */
	uint32_t ancestor; /* the lowest function above both; TOPO_NONE: a root complex, or none */
	bool same_root;    /* one root complex */
	enum topo_tristate same_numa; /* unknown if one of the two NUMA nodes is not known */
	bool collapsed;               /* two visible levels were counted as one chip */
	bool probable;                /* more levels may be one chip: topo_maybe_one_chip() */
	bool direct;                  /* it leads to the Data Direct function of the HCA */
	bool own_bridge; /* a bridge inside the GPU's package was not counted: topo_own_bridge() */
	/* The narrowest link between the two in 100 Mbit/s: its maximum, and its current state. 0:
	 * a link on the path has no known speed or width. */
	uint32_t max_bw, cur_bw;
};

/* topo_numa - the NUMA node of a function: its own, that of a function above, or that of its root
 * complex; -1: none is known, or pci is TOPO_NONE. */
int topo_numa(const struct topo_machine *m, uint32_t pci);

/* topo_distance - the distance between functions a and b of m. */
void topo_distance(const struct topo_machine *m, uint32_t a, uint32_t b, struct topo_distance *out);

/* topo_distance_to_hca - the distance between a GPU and an HCA: that to its Data Direct function,
 * if it has one that is nearer. Through the CPU, the bandwidth of a GPU with C2C is that of its C2C
 * links. A bond has the distance of its farther function. An HCA without a function has
 * TOPO_CLASS_UNKNOWN, or the distance to its cpu.
 */
void topo_distance_to_hca(const struct topo_machine *m, uint32_t gpu, uint32_t hca,
			  struct topo_distance *out);

/* topo_distance_to_own - the same without Data Direct, as nvidia-smi prints it. */
void topo_distance_to_own(const struct topo_machine *m, uint32_t gpu, uint32_t hca,
			  struct topo_distance *out);

/* topo_distance_cmp - compare as strcmp does: < 0 if x is nearer than y. The class decides first,
 * with PIX and PXB equal and unknown last, then the number of chips. */
int topo_distance_cmp(const struct topo_distance *x, const struct topo_distance *y);

/* topo_any_is_near - a GPU and an HCA are PIX or PXB. */
bool topo_any_is_near(const struct topo_machine *m);

#endif

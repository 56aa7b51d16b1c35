/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.h: the key "near": of the free VFs of a resource the one that is nearest to the pod's GPUs.
 */
#ifndef RAILHEAD_SRIOV_CHOOSE_NEAR_H
#define RAILHEAD_SRIOV_CHOOSE_NEAR_H

#include "cni/protocol/plugin.h"
#include "topo/core/distance.h"
#include "sriov/take/claim.h"

#define NEAR_GPUS_MAX 16

/* GPUs by PCI address, as pci_format() writes them, each once. */
struct near_gpus {
	char gpu[NEAR_GPUS_MAX][PCI_STR_LEN];
	size_t n; /* 0: it is the pod's GPUs that are meant, and nobody said which they are */
	const char *source; /* the key that named them: a literal */
};

/*
 * near_decode - the key's value: a PCI address, a list of them, or "gpu" (n becomes 0). ERR_CONFIG.
 * near_gpus - the same, and for "gpu" the pod's own, by the first of these that names any:
 * CNI_ARGS "GPUS=" (PCI addresses between commas), args.cni.gpus (a list, or text as before). Where
 * else a pod's GPUs are to be learned is a further line in its table. ERR_CONFIG naming all of them
 * when none does; ERR_CONFIG or ERR_ENV with key and value when one is malformed. Both pure.
 */
int near_decode(const struct json *near, struct near_gpus *out, struct err *e) must_check;
int near_gpus(const struct cni_call *call, const struct json *near, struct near_gpus *out,
	      struct err *e) must_check;

/* What was chosen, and why. */
struct affinity_result {
	char gpu[PCI_STR_LEN]; /* "": nothing was */
	const char *source;
	enum aff_class class;
	uint32_t switches;
	uint32_t bw;  /* of the narrowest link on the way, 100 Mbit/s; 0: not told */
	bool farther; /* some PF is nearer to that GPU, but has no VF for this pod */
};

/*
 * affinity_claim - claim_any() in the order of distance: first the PFs near a GPU that has the
 * fewest VFs of this container, of these the nearest, of equals one on a card of which the
 * container has nothing, else as the list has them. A PF of which it has a VF already is never
 * taken again: two VFs of one port are not two rails. Reads nothing but the paths of the GPUs and
 * PFs. ERR_CONFIG naming a GPU that is not there; ERR_EXHAUSTED.
 */
struct affinity_request {
	const struct near_gpus *gpus;
	struct pf_list pfs;
};
int affinity_claim(const struct claimant *who, struct affinity_request request,
		   struct vf_place *place, struct affinity_result *found, struct err *e) must_check;

/* affinity_text - "PXB over 2 switches, 192.0 Gbit/s". affinity_to_json - for the record; NULL: no
 * memory.
 */
#define AFFINITY_TEXT_LEN 128
const char *affinity_text(const struct affinity_result *f, char out[AFFINITY_TEXT_LEN]);
struct json *affinity_to_json(const struct affinity_result *f);

#endif

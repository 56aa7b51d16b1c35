/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.h: the key "near": claim the free VF of a resource that is nearest to the pod's GPUs.
 */
#ifndef RAILHEAD_SRIOV_CHOOSE_NEAR_H
#define RAILHEAD_SRIOV_CHOOSE_NEAR_H

#include "cni/protocol/plugin.h"
#include "topo/core/distance.h"
#include "sriov/claim/claim.h"

#define NEAR_GPUS_MAX 16

/* GPUs by PCI address, as pci_format() writes them, each once. */
struct near_gpus {
	char gpu[NEAR_GPUS_MAX][PCI_STR_LEN];
	size_t n;           /* 0: "gpu": the pod's GPUs, which the configuration does not name */
	const char *source; /* the key that named them: a literal */
};

/*
 * near_decode - the value of the key: a PCI address, a list of them, or "gpu" (n becomes 0).
 * ERR_CONFIG. near_gpus - the same, and for "gpu" the GPUs of the pod. They come from the first of
 * these that names any: "GPUS=" in CNI_ARGS (PCI addresses separated by commas), args.cni.gpus (a
 * list, or such a text). n stays 0 if none does. ERR_CONFIG or ERR_ENV with key and value: a source
 * is malformed. Both pure.
 */
int near_decode(const struct json *near, struct near_gpus *out, struct err *e) must_check;
int near_gpus(const struct cni_call *call, const struct json *near, struct near_gpus *out,
	      struct err *e) must_check;

/*
 * near_pod_gpus - for "gpu" without a source: the GPUs that the kubelet gave the pod of CNI_ARGS,
 * from the socket that site_load() names; n stays 0 if the pod has none. until: of ctx_mono_ms().
 * ERR_CONFIG: CNI_ARGS names no pod; other errors as pod_gpus_ask(). near_no_gpu - ERR_CONFIG: the
 * pod has none. Returns -1. Errors name the key, whose value is "gpu".
 */
int near_pod_gpus(const struct cni_call *call, const char *key, int64_t until,
		  struct near_gpus *out, struct err *e) must_check;
int near_no_gpu(const struct cni_call *call, const char *key, struct err *e);

/* Which GPU the chosen VF is for, and how far it is. */
struct affinity_result {
	char gpu[PCI_STR_LEN]; /* "": no VF was chosen by near */
	const char *source;    /* of struct near_gpus */
	enum topo_class class;
	uint32_t switches;
	uint32_t bw;  /* of the narrowest link of the path, in 100 Mbit/s; 0: unknown */
	bool farther; /* some PF of the request is nearer to that GPU */
	bool given;   /* the configuration names the VF */
};

/*
 * affinity_claim - claim_any() with the PFs in order of preference. First come the PFs near the GPU
 * for which the container has the fewest VFs, the nearest of these first. Among equals, a card of
 * which the container has no VF comes first, then the order of the list decides. A PF of which the
 * container has a VF is skipped, because two VFs of one port are not two rails. The function reads
 * only the sysfs paths of the GPUs and PFs. With nearest_only, PFs that are farther from their GPU
 * than another one are skipped. ERR_CONFIG: a GPU or PF does not exist, and the message names it;
 * ERR_EXHAUSTED: there is no free VF; with nearest_only the message names who has them.
 */
struct affinity_request {
	const struct near_gpus *gpus;
	struct pf_list pfs;
	bool nearest_only;
};
int affinity_claim(const struct claimant *who, struct affinity_request request,
		   struct vf_place *place, struct affinity_result *found, struct err *e) must_check;

/*
 * affinity_of - of a VF that the container has already: the GPU that its PF (a PCI address) suits
 * best, and whether a PF of the request is nearer to that. ERR_CONFIG as above.
 */
int affinity_of(const struct claimant *who, struct affinity_request request, const char *pf,
		struct affinity_result *found, struct err *e) must_check;

/*
 * affinity_text - "PXB over 2 switches, 192.0 Gbit/s"; returns out. affinity_to_json - the result
 * for the record; the caller frees it; NULL: no memory.
 */
#define AFFINITY_TEXT_LEN 128
const char *affinity_text(const struct affinity_result *f, char out[AFFINITY_TEXT_LEN]);
struct json *affinity_to_json(const struct affinity_result *f);

#endif

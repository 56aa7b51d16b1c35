/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h: finds GPUs for which NCCL does not use the assigned HCA, with the reason and the
 * setting that corrects it. Pure.
 */
#ifndef RAILHEAD_TOPO_NCCL_COMPARE_H
#define RAILHEAD_TOPO_NCCL_COMPARE_H

#include "topo/nccl/nccl.h"

enum compare_verdict {
	COMPARE_SAME,     /* NCCL uses the assigned HCAs */
	COMPARE_PERMUTED, /* it uses other HCAs with the same distance: they may be another pod's */
	COMPARE_FARTHER,  /* it uses an HCA that is farther */
	COMPARE_NONE,     /* the GPU is in no communicator, or has no HCA */
};
/* compare_verdict_name - "same", "permuted", "away", "none", as in JSON. Static. */
const char *compare_verdict_name(enum compare_verdict v);

enum compare_cause {
	COMPARE_NO_CAUSE,
	COMPARE_FLAT_VM,  /* the virtual machine shows no switches: all distances are equal */
	COMPARE_VF_PATH,  /* NCCL uses a wrong path for a VF or an SF */
	COMPARE_FASTER,   /* a farther HCA has more bandwidth */
	COMPARE_ROLE,     /* the HCA is for storage or management; NCCL has no roles */
	COMPARE_GDR_OFF,  /* the nearest HCA, but NCCL will not use GPUDirect RDMA */
	COMPARE_LONE_GPU, /* NCCL sees one GPU, and uses the HCAs of other GPUs too */
	COMPARE_TIE,      /* HCAs with equal paths, assigned in another order */
	COMPARE_LOST, /* NCCL loses a device of HCAs that it does not find, or of several CPUs */
	COMPARE_PXN,  /* through NVLink and the GPU that is beside the HCA */
	COMPARE_OTHER,
};
/* compare_cause_id - "flat-vm", "vf-path", "faster", "role", "gdr-off", "lone-gpu", "tie", "lost",
 * "pxn", "other"; "" for none. */
const char *compare_cause_id(enum compare_cause c);

struct compare_gpu {
	enum compare_verdict verdict;
	enum compare_cause cause; /* COMPARE_SAME may have COMPARE_GDR_OFF */
	char *text;               /* a sentence; owned; NULL: there is no difference */
	char *setting; /* "NCCL_IB_HCA==mlx5_0", for this GPU's process; owned; or NULL */
};

struct comparison {
	struct compare_gpu *gpu; /* one for each of the machine's; owned */
	size_t n_gpus;
	char *text, *setting; /* for the whole communicator; owned; or NULL */
};

/* The choices to compare. node: topo_choose() of the whole machine, which has the HCAs of other
 * pods; NULL: the scope is the whole machine. */
struct compare_input {
	const struct topo_machine *m;
	const struct topo_scope *scope;
	const struct topo_choice *choice, *node;
	const struct nccl_opts *opts; /* those of the prediction */
	const struct nccl_prediction *nccl;
};

/* compare_with_nccl - compare each GPU's assigned HCAs with those that NCCL will use. The caller
 * clears *out. */
int compare_with_nccl(const struct compare_input *in, struct comparison *out,
		      struct err *e) must_check;
/* comparison_clear - free all that d owns. */
void comparison_clear(struct comparison *d);
#define auto_comparison auto_clean(comparison_clear)

#endif

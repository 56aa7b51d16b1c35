/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h: where NCCL's choice is not the nearest, why, and which setting changes it. Pure.
 */
#ifndef RAILHEAD_TOPO_COMPARE_COMPARE_H
#define RAILHEAD_TOPO_COMPARE_COMPARE_H

#include "topo/nccl/nccl.h"

enum compare_verdict {
	COMPARE_SAME,     /* NCCL takes what the GPU should take */
	COMPARE_PERMUTED, /* others that are as near: harmless alone, not beside other pods */
	COMPARE_FARTHER,  /* some that are farther */
	COMPARE_NONE,     /* it is in no communicator, or there is nothing to take */
};
const char *compare_verdict_name(enum compare_verdict v);

enum compare_cause {
	COMPARE_NO_CAUSE,
	COMPARE_FLAT_VM,  /* the virtual machine shows no switches: all are as far */
	COMPARE_VF_PATH,  /* NCCL looks for a VF, or an SF, elsewhere than where it is */
	COMPARE_FASTER,   /* a farther HCA has more bandwidth */
	COMPARE_ROLE,     /* it is for storage or management; NCCL knows no roles */
	COMPARE_GDR_OFF,  /* as near as can be, but NCCL will not use GPUDirect RDMA */
	COMPARE_LONE_GPU, /* it takes its neighbours' HCAs too: it does not know of them */
	COMPARE_TIE,      /* equal HCAs, assigned in another order */
	COMPARE_OTHER,
};
/* compare_cause_id - "flat-vm", "vf-path", "faster", "role", "gdr-off", "lone-gpu", "tie", "other";
 * "" for none. */
const char *compare_cause_id(enum compare_cause c);

struct compare_gpu {
	enum compare_verdict verdict;
	enum compare_cause cause; /* may be told of COMPARE_SAME too: GPUDirect off */
	char *text;               /* a sentence; owned; NULL: nothing to say */
	char *setting;            /* "NCCL_IB_HCA==mlx5_0", for this GPU's process; owned; NULL */
};

struct comparison {
	struct compare_gpu *gpu; /* one for each of the machine's; owned */
	size_t n_gpus;
	char *text, *setting; /* of the whole communicator; owned; NULL: nothing to say */
};

/* What is compared. node: aff_choose() of the whole machine, to see what neighbours should have;
 * NULL: the scope is the whole machine. */
struct compare_input {
	const struct aff_machine *m;
	const struct aff_scope *scope;
	const struct aff_choice *choice, *node;
	const struct nccl_opts *opts; /* the answer's */
	const struct nccl_prediction *nccl;
};

int compare_with_nccl(const struct compare_input *in, struct comparison *out,
		      struct err *e) must_check;
void comparison_clear(struct comparison *d);
#define auto_comparison auto_clean(comparison_clear)

#endif

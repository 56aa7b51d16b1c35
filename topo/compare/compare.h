/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h: where NCCL's choice is not the nearest, why, and what mends it. Pure.
 */
#ifndef RAILHEAD_TOPO_COMPARE_COMPARE_H
#define RAILHEAD_TOPO_COMPARE_COMPARE_H

#include "topo/nccl/nccl.h"

enum differ_verdict {
	DIFFER_SAME,     /* NCCL takes what the GPU should take */
	DIFFER_PERMUTED, /* others that are as near: harmless alone, not beside other pods */
	DIFFER_AWAY,     /* some that are farther */
	DIFFER_NONE,     /* it is in no communicator, or there is nothing to take */
};
const char *differ_verdict_name(enum differ_verdict v);

enum differ_cause {
	DIFFER_NO_CAUSE,
	DIFFER_FLAT_VM,  /* the virtual machine shows no switches: all are as far */
	DIFFER_VF_PATH,  /* NCCL looks for a VF, or an SF, elsewhere than where it is */
	DIFFER_FASTER,   /* a farther HCA has more bandwidth */
	DIFFER_ROLE,     /* it is for storage or management; NCCL knows no roles */
	DIFFER_GDR_OFF,  /* as near as can be, but NCCL will not use GPUDirect RDMA */
	DIFFER_LONE_GPU, /* it takes its neighbours' HCAs too: it does not know of them */
	DIFFER_TIE,      /* equal HCAs, dealt in another order */
	DIFFER_OTHER,
};
/* differ_cause_id - "flat-vm", "vf-path", "faster", "role", "gdr-off", "lone-gpu", "tie", "other";
 * "" for none. */
const char *differ_cause_id(enum differ_cause c);

struct differ_gpu {
	enum differ_verdict verdict;
	enum differ_cause cause; /* may be told of DIFFER_SAME too: GPUDirect off */
	char *text;              /* a sentence; owned; NULL: nothing to say */
	char *setting;           /* "NCCL_IB_HCA==mlx5_0", for this GPU's process; owned; NULL */
};

struct differ {
	struct differ_gpu *gpu; /* one for each of the machine's; owned */
	size_t n_gpus;
	char *text, *setting; /* of the whole communicator; owned; NULL: nothing to say */
};

/* What is compared. node: aff_choose() of the whole machine, to see what neighbours should have;
 * NULL: the scope is the whole machine. */
struct differ_in {
	const struct aff_machine *m;
	const struct aff_scope *scope;
	const struct aff_choice *choice, *node;
	const struct nccl_opts *opts; /* the answer's */
	const struct nccl_answer *nccl;
};

int differ_find(const struct differ_in *in, struct differ *out, struct err *e) must_check;
void differ_clear(struct differ *d);
#define auto_differ auto_clean(differ_clear)

#endif

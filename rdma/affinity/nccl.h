/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.h: what NCCL (2.30) or RCCL will choose on a machine. A prediction from the rules they use;
 * pure. NCCL's names are not nvidia-smi's: its PHB is everything through a CPU.
 */
#ifndef RAILHEAD_RDMA_AFFINITY_NCCL_H
#define RAILHEAD_RDMA_AFFINITY_NCCL_H

#include "rdma/affinity/choose.h"

enum nccl_path {
	NCCL_LOC,
	NCCL_NVL,
	NCCL_NVB,
	NCCL_C2C,
	NCCL_PIX,
	NCCL_PXB,
	NCCL_P2C,
	NCCL_PXN,
	NCCL_PHB,
	NCCL_SYS,
	NCCL_NET,
	NCCL_DIS,
};
const char *nccl_path_name(enum nccl_path p);

enum nccl_policy { NCCL_AUTO, NCCL_ALL, NCCL_MAX };

struct nccl_opts {
	bool rccl;
	enum nccl_policy policy; /* NCCL_NETDEVS_POLICY */
	uint32_t max;            /* of MAX:N */
	int gdr_level;           /* NCCL_NET_GDR_LEVEL as enum nccl_path; -1: not set */
	bool keep_vf_path;       /* NCCL_IB_MERGE_VFS=0 */
	bool no_pxn;             /* NCCL_PXN_DISABLE=1 */
	/* Negative controls for tests: rules left out. */
	bool no_flatten, no_mirror;
};

struct nccl_net { /* one net device as NCCL counts them: a port of an HCA */
	uint32_t hca, port;
};

struct nccl_way { /* from a GPU to a net */
	enum nccl_path type;
	double bw; /* GB/s */
	uint32_t hops;
	bool gdr_read, gdr_write;
};

struct nccl_gpu {
	bool in;             /* it is in the communicator */
	enum nccl_path type; /* of the local nets; NCCL_DIS: there are none */
	double bw;
	bool gdr;        /* read and write both */
	uint32_t *local; /* nets in NCCL's order; owned */
	size_t n_local;
	uint32_t *channel; /* nets, channel by channel; owned */
	size_t n_channels;
	struct nccl_way *way; /* one for each net; owned */
};

struct nccl_answer {
	struct nccl_net *net; /* in NCCL's order; owned */
	size_t n_nets;
	struct nccl_gpu *gpu; /* one for each GPU of the machine; owned */
	size_t n_gpus;
};

/* nccl_predict - for one communicator of the GPUs in scope that sees the HCAs in scope. */
int nccl_predict(const struct aff_machine *m, const struct aff_scope *scope,
		 const struct nccl_opts *o, struct nccl_answer *out, struct err *e) must_check;
void nccl_answer_clear(struct nccl_answer *a);
#define auto_nccl_answer auto_clean(nccl_answer_clear)

/* aff_xml_write - the machine as a topology file that NCCL's parser takes: no prolog, no tabs, at
 * most 256 nodes, 16 attributes, 255 characters a value. *out is owned by the caller. ERR_FIELD
 * with the count when it would be more. */
struct aff_xml_opts {
	bool rccl;     /* version 2 */
	bool skeleton; /* pci elements only, as NCCL_TOPO_FILE wants it */
};
int aff_xml_write(const struct aff_machine *m, const struct aff_xml_opts *o, char **out,
		  struct err *e) must_check;

#endif

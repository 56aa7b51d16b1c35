/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.h: what NCCL (2.30) or RCCL (2.22) will choose on a machine. Pure. A prediction from the
 * rules they use. NCCL's names are not nvidia-smi's: its PHB is everything through a CPU.
 */
#ifndef RAILHEAD_TOPO_NCCL_NCCL_H
#define RAILHEAD_TOPO_NCCL_NCCL_H

#include "topo/nccl/types.h"

const char *nccl_path_name(enum nccl_path_type p);

struct nccl_net_path { /* from a GPU to a net */
	enum nccl_path_type type;
	double bw; /* GB/s */
	uint32_t hops;
	bool gdr_read, gdr_write;
	uint32_t via; /* of PXN: the GPU between; else AFF_NONE */
};

struct nccl_gpu {
	bool in;                  /* it is in the communicator */
	enum nccl_path_type type; /* of the local nets; NCCL_DIS: there are none */
	double bw;
	bool gdr;        /* read and write both, with every net of its channels */
	uint32_t *local; /* nets in NCCL's order; owned */
	size_t n_local;
	uint32_t *channel; /* nets, channel by channel; owned */
	size_t n_channels;
	struct nccl_net_path *way; /* one for each net; owned */
};

struct nccl_prediction {
	struct nccl_net *net; /* in NCCL's order; owned */
	size_t n_nets;
	struct nccl_gpu *gpu; /* one for each GPU of the machine; owned */
	size_t n_gpus;
};

/*
 * nccl_predict - for one communicator of the GPUs in scope that sees the HCAs in scope. With a mask
 * of GPUs these are numbered from 0, as NVML does in a container that holds no others. Devices
 * count as able to do GPUDirect RDMA unless a file says they are not; accelerators with their own
 * RDMA ports are in no communicator.
 */
int nccl_predict(const struct aff_machine *m, const struct aff_scope *scope,
		 const struct nccl_opts *o, struct nccl_prediction *out, struct err *e) must_check;
void nccl_prediction_clear(struct nccl_prediction *a);
#define auto_nccl_prediction auto_clean(nccl_prediction_clear)

#endif

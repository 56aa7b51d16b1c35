/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.h: predicts the nets that NCCL or RCCL will choose on a machine, by the rules of their
 * version (nccl_opts). Pure: no files, no environment, nothing kept. NCCL's path types differ from
 * the classes of nvidia-smi: NCCL's PHB is a path through one CPU, whichever its NUMA node; SYS
 * leads through more than one.
 */
#ifndef RAILHEAD_TOPO_NCCL_NCCL_H
#define RAILHEAD_TOPO_NCCL_NCCL_H

#include "topo/nccl/types.h"

/* nccl_path_name - "PIX", as NCCL prints it (topoPathTypeStr). Static. */
const char *nccl_path_name(enum nccl_path_type p);

/* nccl_net_name - NCCL's name of a net: "mlx5_0", fused "mlx5_0+mlx5_1". Returns out. */
#define NCCL_NET_NAME_LEN (NCCL_FUSED_MAX * (TOPO_NAME_LEN + 4) + 1)
char *nccl_net_name(const struct topo_machine *m, const struct nccl_net *n,
		    char out[NCCL_NET_NAME_LEN]);

struct nccl_net_path { /* from a GPU to a net */
	enum nccl_path_type type;
	double bw; /* GB/s */
	uint32_t hops;
	bool gdr_read, gdr_write;
	uint32_t via; /* PXN: the intermediate GPU; else TOPO_NONE */
};

struct nccl_gpu {
	bool in;                  /* it is in the communicator */
	enum nccl_path_type type; /* of the path to the local nets; NCCL_DIS: there are none */
	double bw;                /* GB/s */
	bool gdr;                 /* GDR read and write with every net of its channels */
	bool gdr_write;           /* GDR write with each: what the GPU receives */
	uint32_t *local;          /* nets in NCCL's order; owned */
	size_t n_local;
	uint32_t *channel; /* nets, channel by channel; owned */
	size_t n_channels;
	struct nccl_net_path *path; /* one for each net; owned */
};

struct nccl_prediction {
	struct nccl_net *net; /* in NCCL's order; owned */
	size_t n_nets;
	struct nccl_gpu *gpu; /* one for each GPU of the machine; owned */
	size_t n_gpus;
	/* RCCL may know a ready-made graph for such a machine (rome_models.cc). If one matches, it
	 * decides the nets of collectives, and the prediction is that of point-to-point traffic. */
	bool may_have_model;
	/* Each rank fuses nets by itself, and ranks of several CPUs do not find the same ones near.
	 * The devices of this prediction are those of the first rank that has them: a rank uses
	 * what has that number in its own plugin. */
	bool ranks_differ;
};

/*
 * nccl_predict - predict the choice for one communicator of the GPUs and HCAs in scope (NULL: all).
 * With a mask of GPUs, they are numbered from 0, as NVML does in a container; with own_file, as in
 * the file. Devices support GPUDirect RDMA unless a topology file says gdr="0". Accelerators with
 * RDMA ports of their own are in no communicator. m, scope and o are only read, and not needed
 * afterwards; indices in *out are those of m. ERR_FIELD: NCCL would end with an error by these
 * options; ERR_NOMEM. The caller clears *out.
 */
int nccl_predict(const struct topo_machine *m, const struct topo_scope *scope,
		 const struct nccl_opts *o, struct nccl_prediction *out, struct err *e) must_check;
/*
 * nccl_is_slower - a net is not local to a GPU, but its path is of no higher type than the path to
 * the local nets. ncclTopoSelectNets() offers it to the search for collectives after the local
 * ones. The search takes it if the channels that it finds need no more bandwidth.
 */
bool nccl_is_slower(const struct nccl_gpu *g, uint32_t net);
/*
 * nccl_is_uncertain - a GPU of the communicator may use other nets than those of its channels: the
 * ranks differ, or it has no GPUDirect RDMA. Without GPUDirect RDMA, all data pass the link between
 * switch and CPU twice, and the search of NCCL (ncclTopoCompute) can prefer farther nets. The
 * prediction does not follow that search.
 */
bool nccl_is_uncertain(const struct nccl_prediction *a, size_t gpu);
/* nccl_prediction_clear - free all that a owns. */
void nccl_prediction_clear(struct nccl_prediction *a);
#define auto_nccl_prediction auto_clean(nccl_prediction_clear)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h: paths in NCCL's view, and what it makes of them: between the files of the prediction.
 */
#ifndef RAILHEAD_TOPO_NCCL_PATHS_H
#define RAILHEAD_TOPO_NCCL_PATHS_H

#include "topo/nccl/system.h"

struct nccl_path { /* what is kept of a path; type NCCL_DIS, bw 0: there is none */
	enum nccl_path_type type;
	float bw;
	uint32_t hops;
};

/* nccl_set_paths - ncclTopoSetPaths: the paths from all nodes to base, by node; from a net, those
 * of the core only.
 */
int nccl_set_paths(const struct nccl_system *g, uint32_t base, bool rccl, struct nccl_path *out,
		   struct err *e) must_check;

struct nccl_local { /* the nets that are best for a GPU */
	struct nccl_path best;
	uint32_t *net; /* in NCCL's order; owned */
	uint32_t n;
	bool stale;
};

/* GPUs and nets are the XML's, CPUs the system's. Rows by the first that is named. */
struct nccl_paths {
	const struct aff_machine *m;
	const struct nccl_xml *v;
	const struct nccl_opts *o;
	uint32_t n_gpus, n_cpus, n_nets;
	struct nccl_path *gpu_net, *net_gpu, *gpu_gpu, *gpu_cpu, *cpu_gpu, *net_cpu, *cpu_net;
	uint32_t *via;            /* [gpu][net], of PXN: the GPU between */
	uint32_t *cpu_of;         /* the CPU that NCCL takes for a GPU's own; AFF_NONE */
	int *dev;                 /* NVML's number of a GPU */
	struct nccl_local *local; /* by GPU */
};

/* nccl_paths_make - the first half of ncclTopoComputePaths: all paths as they are. */
int nccl_paths_make(const struct aff_machine *m, const struct nccl_xml *v,
		    const struct nccl_opts *o, struct nccl_paths *out, struct err *e) must_check;
void nccl_paths_clear(struct nccl_paths *s);
#define auto_nccl_paths auto_clean(nccl_paths_clear)

static inline struct nccl_path *nccl_row(struct nccl_path *rows, uint32_t row, uint32_t width)
{
	return rows + (size_t)row * width;
}

/* nccl_check_gdr - ncclTopoCheckGdr: whether GPUDirect RDMA is used from a GPU's memory (read) or
 * into it. */
bool nccl_check_gdr(const struct nccl_paths *s, uint32_t gpu, uint32_t net, bool read);
/* nccl_compute_paths - the rest of ncclTopoComputePaths: what NCCL makes of the raw paths: C2C,
 * PXN, through the CPU where GDR is off. */
void nccl_compute_paths(struct nccl_paths *s);

/* nccl_update_path - change the path from a GPU to a net. */
void nccl_update_path(struct nccl_paths *s, uint32_t gpu, uint32_t net, struct nccl_path h);
/* nccl_get_local - ncclTopoGetLocal: the nets that are best for a GPU. */
const struct nccl_local *nccl_get_local(struct nccl_paths *s, uint32_t gpu);
/* nccl_nets_per_gpu - how many nets, channel by channel, a GPU takes; 0: there are none. */
uint32_t nccl_nets_per_gpu(struct nccl_paths *s, uint32_t gpu);
/* nccl_get_local_net - ncclTopoGetLocalNet: the net of a channel. There must be one. */
uint32_t nccl_get_local_net(struct nccl_paths *s, uint32_t gpu, uint32_t channel);
/* nccl_get_local_gpu - ncclTopoGetLocalGpu: the GPU that a net is chosen by; AFF_NONE: it idles. */
uint32_t nccl_get_local_gpu(struct nccl_paths *s, uint32_t net);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h: NCCL's paths, and the choice of nets from them; shared by the files of this folder.
 */
#ifndef RAILHEAD_TOPO_NCCL_PATHS_H
#define RAILHEAD_TOPO_NCCL_PATHS_H

#include "topo/nccl/system.h"

struct nccl_path { /* type NCCL_DIS and bw 0: there is no path */
	enum nccl_path_type type;
	float bw; /* GB/s */
	uint32_t hops;
	/* Between GPUs: the GPU that is next on the way from the first; TOPO_NONE: not through a
	 * third. nccl_set_paths() sets a node, for paths to the base. */
	uint32_t next;
};

/* nccl_set_paths - ncclTopoSetPaths: the paths between base and all nodes; out has one element for
 * each node of g. If base is a net, only those of core nodes are set. */
int nccl_set_paths(const struct nccl_system *g, uint32_t base, const struct nccl_opts *o,
		   struct nccl_path *out, struct err *e) must_check;

struct nccl_local { /* the local nets of a GPU */
	struct nccl_path best;
	uint32_t *net; /* in NCCL's order; owned */
	uint32_t n;
	bool stale; /* a path changed; nccl_get_local() computes it again */
};

/* GPUs and nets have the indices of the XML, CPUs those of the system. gpu_net has one row of
 * n_nets paths for each GPU; the other arrays accordingly. */
struct nccl_paths {
	const struct topo_machine *m;
	const struct nccl_xml *v;
	const struct nccl_opts *o;
	uint32_t n_gpus, n_cpus, n_nets;
	struct nccl_path *gpu_net, *net_gpu, *gpu_gpu, *gpu_cpu, *cpu_gpu, *net_cpu, *cpu_net;
	uint32_t *via;            /* [gpu][net], PXN: ncclTopoGetIntermediateRank */
	uint32_t *cpu_of;         /* by GPU: its local CPU, ncclGetLocalCpu; TOPO_NONE */
	int *dev;                 /* by GPU: its number in NVML */
	struct nccl_local *local; /* by GPU */
	/* By net: the number of GPUs with the best path to it; 0: not counted since a path changed.
	 * [net][gpu]: the position of a GPU among them. */
	uint32_t *sharers, *place;
};

/* nccl_paths_make - the first half of ncclTopoComputePaths: all paths of the system of v. m, v and
 * o must live as long as *out, which the caller clears. */
int nccl_paths_make(const struct topo_machine *m, const struct nccl_xml *v,
		    const struct nccl_opts *o, struct nccl_paths *out, struct err *e) must_check;
/* nccl_paths_clear - free all that s owns. */
void nccl_paths_clear(struct nccl_paths *s);
#define auto_nccl_paths auto_clean(nccl_paths_clear)

/* nccl_row - a row of such an array; width: the number of paths in a row. */
static inline struct nccl_path *nccl_row(struct nccl_path *rows, uint32_t row, uint32_t width)
{
	return rows + (size_t)row * width;
}

/* nccl_check_gdr - ncclTopoCheckGdr: NCCL uses GPUDirect RDMA to read (send) or write GPU memory.
 */
bool nccl_check_gdr(const struct nccl_paths *s, uint32_t gpu, uint32_t net, bool read);
/* nccl_compute_paths - the second half of ncclTopoComputePaths: change paths for C2C and PXN, and
 * through the CPU where GDR is not possible. */
void nccl_compute_paths(struct nccl_paths *s);

/* nccl_update_back - set the path from a net to a GPU. */
void nccl_update_back(struct nccl_paths *s, uint32_t net, uint32_t gpu, struct nccl_path h);
/* nccl_update_path - set the path from a GPU to a net. */
void nccl_update_path(struct nccl_paths *s, uint32_t gpu, uint32_t net, struct nccl_path h);
/* nccl_get_local - ncclTopoGetLocal: the local nets of a GPU; valid until a path changes. */
const struct nccl_local *nccl_get_local(struct nccl_paths *s, uint32_t gpu);
/* nccl_nets_per_gpu - the number of nets, one for each channel, that a GPU uses; 0: none. */
uint32_t nccl_nets_per_gpu(struct nccl_paths *s, uint32_t gpu);
/* nccl_get_local_net - ncclTopoGetLocalNet: the net of a channel. The GPU must have local nets. */
uint32_t nccl_get_local_net(struct nccl_paths *s, uint32_t gpu, uint32_t channel);
/* nccl_get_local_gpu - ncclTopoGetLocalGpu: the GPU that uses a net; TOPO_NONE: no GPU does. */
uint32_t nccl_get_local_gpu(struct nccl_paths *s, uint32_t net);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_log.h: reads what NCCL prints with NCCL_DEBUG=INFO: devices, connections and settings. Pure.
 *
 * Lines of other programs, and prefixes of a launcher or of kubectl, are ignored. The formats are
 * those of NCCL 2.12 to 2.30: init.cc ("Init START", "Using network"), net_ib/init.cc ("Using
 * [0]mlx5_0:1/RoCE"), net.cc ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA").
 * RCCL prints "RCCL version : 2.30.4-HEAD:2b22ab0".
 */
#ifndef RAILHEAD_DIAG_NCCL_LOG_H
#define RAILHEAD_DIAG_NCCL_LOG_H

#include "lib/base/parse.h"
#include "lib/device/pci.h"

#define NCCL_LOG_GPUS_MAX 1024
#define NCCL_LOG_SETS_MAX 256
#define NCCL_LOG_NETS_MAX 64 /* devices of a process; NCCL's own limit is 32, and as many fused */

/* All slices are parts of the text. */
struct nccl_log_process {
	struct slice host, pid;
	/* "mlx5_0", fused "mlx5_0+mlx5_1" or "[0] mlx5_0:1/RoCE, [1] ..."; p NULL: unknown */
	struct slice net[NCCL_LOG_NETS_MAX];
	struct slice network; /* "IB", "Socket", "AWS Libfabric"; p NULL: unknown */
	/* "2.20.5+cuda12.4", of RCCL "2.30.4-HEAD:2b22ab0"; p NULL: NCCL 2.21 prints it in one
	 * process of a job only */
	struct slice version;
	bool rccl;
};

/* Connections with and without GPUDirect RDMA. */
struct nccl_log_count {
	size_t gdr, no_gdr;
};

/* A GPU of one process: processes with several GPUs print the number of the GPU in each line. */
struct nccl_log_gpu {
	uint32_t process, cuda;
	bool has_addr;
	struct pci_addr addr;
	uint64_t nets; /* bits: devices by which this GPU sends or receives itself */
	struct nccl_log_count sends, receives;
	size_t through_others; /* connections by the device of another GPU (PXN) */
};

struct nccl_log_set {
	struct slice name, value;
};

struct nccl_log {
	struct nccl_log_process *process; /* owned */
	size_t n_processes;
	struct nccl_log_gpu *gpu; /* owned */
	size_t n_gpus;
	struct nccl_log_set *set; /* settings of the environment, each once; owned */
	size_t n_sets;
	/* NCCL 2.21 to 2.23 print it in a line of its own, without a host; p NULL: none */
	struct slice version;
};

/*
 * nccl_log_read - read len bytes, which must live as long as *out. A text without a line of NCCL
 * gives an empty log. ERR_EXHAUSTED: more processes, GPUs or settings than the limits. The caller
 * clears *out.
 */
int nccl_log_read(const char *text, size_t len, struct nccl_log *out, struct err *e) must_check;
/* nccl_log_clear - free all that log owns. */
void nccl_log_clear(struct nccl_log *log);
#define auto_nccl_log auto_clean(nccl_log_clear)

#endif

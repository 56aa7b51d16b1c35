/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_data.h: the data that the doctor judges: an inventory and more about a pod. Only reads; it
 * opens character devices and closes them.
 */
#ifndef RAILHEAD_DIAG_PROBE_DATA_H
#define RAILHEAD_DIAG_PROBE_DATA_H

#include "rdma/device/counters.h"
#include "diag/job_vars.h"
#include "rdma/inventory/rail.h"

enum file_access {
	ACCESS_UNKNOWN, /* not tested, or the kernel has no such device */
	ACCESS_OK,
	ACCESS_THERE,   /* the file exists; whether the process may open it is not known */
	ACCESS_MISSING, /* there is no such file */
	ACCESS_DENIED,  /* the file exists, and opening it fails */
	ACCESS_WRONG,   /* the file with that name is another device */
};

struct device_file {
	enum file_access access;
	int errnum;            /* of ACCESS_DENIED */
	char path[96];         /* the path in the process's view; "": there is none */
	uint32_t major, minor; /* of ACCESS_WRONG: what it is */
};

struct port_data {
	bool has_dcb; /* dcb is valid: the port's interface is here, and its driver reports DCB */
	struct dcb_info dcb;
	struct port_counters first, last; /* two readings; equal if there was only one */
};

struct device_data {
	struct device_file uverbs;
	bool lossy; /* its fabric has no PFC, as a file says: the caller sets it */
	struct port_data port[RDMA_PORTS_MAX]; /* as in the inventory */
};

/* A partition that a port should be a member of. */
struct pkey_request {
	const struct inv_port *port; /* borrowed; NULL: all InfiniBand ports of the pod's rails */
	uint16_t pkey;
	char from[48]; /* who asks: "interface net1", "--pkey" */
};

#define MEMLOCK_UNLIMITED UINT64_MAX

struct probe_data {
	const struct rdma_inventory *inventory;
	const struct rails *rails;
	struct device_data *device; /* owned; as in the inventory */
	struct pkey_request *pkey;  /* owned */
	size_t n_pkeys;
	struct device_file rdma_cm;
	bool has_qps;    /* the queue pairs of its RDMA devices could be listed */
	uint32_t qp_pid; /* a process of this network namespace with one in RTR or RTS; 0: none */
	bool has_memlock;
	uint64_t memlock; /* bytes that an unprivileged process may lock; MEMLOCK_UNLIMITED */
	bool ipc_lock;    /* the process has CAP_IPC_LOCK, so the limit does not apply */
	bool has_environ; /* the process's environment was read, so job is known */
	struct job_vars job;
	struct lib_version nccl; /* JOB_NCCL_UNKNOWN: the newest */
	enum job_nccl nccl_from;
	bool lossy;         /* no fabric has PFC, as the caller says */
	int64_t watched_ms; /* time between the two readings of counters; 0: only one */
};

/* A partition that the caller asks for. The strings are borrowed. */
struct pkey_asked {
	uint16_t pkey;
	const char *from; /* who asks: "--pkey", "attachment net1" */
	const char *bus;  /* of the RDMA device; NULL: all of the pod's rails */
};

/* The process whose /dev, limits and environment count, and how long counters are watched. */
struct probe_view {
	const struct ctx *ctx;
	int pid; /* 0: the caller; -1: no process, so these are unknown */
	/* The host's sysfs if ctx->sysfs is another one, else NULL. In mode shared only the host's
	 * sysfs shows counters. */
	const char *host_sysfs;
	const struct pkey_asked *pkeys; /* borrowed */
	size_t n_pkeys;
	bool lossy;                     /* as in struct probe_data */
	const struct lib_version *nccl; /* as asked for; NULL: that of the process */
	int64_t watch_ms;               /* 0: counters are read once */
	void (*wait)(int64_t, void *);  /* sleep so many ms between the readings */
	void *wait_arg;
};

/*
 * probe_read_library - only out->library, from the maps of the process; no file of its root is
 * read. Without maps, none is found. ERR_NOMEM.
 */
int probe_read_library(const struct probe_view *view, struct job_vars *out,
		       struct err *e) must_check;

/*
 * probe_data_read - read all data; the caller is in the namespace of v. *out borrows v and r;
 * probe_data_clear() frees the rest.
 */
int probe_data_read(const struct probe_view *view, const struct rdma_inventory *v,
		    const struct rails *r, struct probe_data *out, struct err *e) must_check;

void probe_data_clear(struct probe_data *f);
#define auto_probe_data auto_clean(probe_data_clear)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_data.h: what the doctor goes by: an inventory, and what else of a pod can be read. Changes
 * nothing; opens character devices and closes them.
 */
#ifndef RAILHEAD_RDMA_DOCTOR_PROBE_DATA_H
#define RAILHEAD_RDMA_DOCTOR_PROBE_DATA_H

#include "rdma/device/counters.h"
#include "rdma/inventory/rail.h"

enum file_access {
	ACCESS_UNKNOWN, /* not looked at, or the kernel has no such device */
	ACCESS_OK,
	ACCESS_THERE,   /* seen from outside: whether the process may open it is not known */
	ACCESS_MISSING, /* there is no such file */
	ACCESS_DENIED,  /* there is, and opening it fails */
	ACCESS_WRONG,   /* a file of that name is another device */
};

struct device_file {
	enum file_access access;
	int errnum;            /* of ACCESS_DENIED */
	char path[96];         /* as the process knows it; "" when there is no name for it */
	uint32_t major, minor; /* of ACCESS_WRONG: what it is */
};

struct port_data {
	bool has_dcb; /* dcb says something: the port's interface is here, and its driver tells */
	struct dcb_info dcb;
	struct port_counters first, last; /* two readings; the same where there was but one */
};

struct device_data {
	struct device_file uverbs;
	int traffic_class; /* the vendor driver's tc/1/traffic_class; -1: there is none */
	struct port_data port[RDMA_PORTS_MAX]; /* as in the inventory */
};

#define MEMLOCK_UNLIMITED UINT64_MAX

struct probe_data {
	const struct rdma_inventory *inventory;
	const struct rails *rails;
	struct device_data *device; /* owned; as in the inventory */
	struct device_file rdma_cm;
	bool has_memlock;
	uint64_t memlock;   /* bytes that an unprivileged process may lock; MEMLOCK_UNLIMITED */
	bool ipc_lock;      /* CAP_IPC_LOCK: the limit does not count */
	bool has_environ;   /* the process's environment was read */
	bool nccl_tc;       /* NCCL_IB_TC or UCX_IB_TRAFFIC_CLASS is set in it */
	int64_t watched_ms; /* between the two readings of counters; 0: there was one */
};

/* Whose /dev, limits and environment count, and for how long counters are watched. */
struct probe_view {
	const struct ctx *ctx;
	int pid; /* 0: the caller's own; -1: nobody's, they are unknown; else those of a process */
	/* The host's sysfs, where that is another one: in mode shared it alone shows counters. NULL
	 */
	const char *host_sysfs;
	int64_t watch_ms;              /* 0: counters are read once */
	void (*wait)(int64_t, void *); /* between the readings, that many ms */
	void *wait_arg;
};

/* probe_data_read - in the namespace that v was read in. *out borrows v and r. */
int probe_data_read(const struct probe_view *view, const struct rdma_inventory *v,
		    const struct rails *r, struct probe_data *out, struct err *e) must_check;

void probe_data_clear(struct probe_data *f);
#define auto_probe_data auto_clean(probe_data_clear)

#endif

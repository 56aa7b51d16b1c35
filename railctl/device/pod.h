/* SPDX-License-Identifier: Apache-2.0 */
/* pod.h: whose RDMA `railctl rdma list`, `env` and `check` are about. */
#ifndef RAILHEAD_RAILCTL_DEVICE_POD_H
#define RAILHEAD_RAILCTL_DEVICE_POD_H

#include "lib/cli/cmd.h"
#include "lib/rdma/version.h"
#include "rdma/inventory/inventory.h"

/* The option --netns, for the tables of all commands that look at a pod. */
#define RDMA_OPT_NETNS                                                                             \
	{                                                                                          \
		"netns", "PATH", "of the network namespace at PATH, not of the caller's", 0        \
	}

#define RDMA_OPT_NCCL_VERSION                                                                      \
	{                                                                                          \
		"nccl-version", "VERSION", "of the job, such as 2.27.3: rules differ", 0           \
	}

/* rdma_take_version - a version of NCCL or UCX from that option; without it *out stays the same. */
int rdma_take_version(struct cmd_run *r, const char *option, struct lib_version *out,
		      struct err *e) must_check;

/*
 * rdma_pod_enter - with --netns: enter that network namespace for the rest of the process. The
 * process gets a mount namespace in which r->ctx.sysfs shows the pod's sysfs. *pid becomes 0
 * without --netns, PID if the path is /proc/PID/ns/net, else -1 (as in struct probe_view).
 */
int rdma_pod_enter(struct cmd_run *r, int *pid, struct err *e) must_check;

/*
 * rdma_pod_read - call rdma_pod_enter(), then read the inventory. Namespaces that own other GIDs
 * are named as far as the caller may enter them. rdma_inventory_clear() frees *out.
 */
int rdma_pod_read(struct cmd_run *r, int *pid, struct rdma_inventory *out,
		  struct err *e) must_check;

/*
 * rdma_pod_host_sysfs - call it before rdma_pod_read(): a path to the sysfs of the host that is
 * valid after rdma_pod_read(), while *fd is open. "" without --netns. The caller closes *fd.
 */
#define RDMA_POD_SYSFS_LEN 32
int rdma_pod_host_sysfs(const struct cmd_run *r, int *fd, char out[RDMA_POD_SYSFS_LEN],
			struct err *e) must_check;

#endif

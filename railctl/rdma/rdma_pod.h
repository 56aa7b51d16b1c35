/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_pod.h: whose RDMA `railctl rdma list`, `env` and `check` are about. */
#ifndef RAILHEAD_RAILCTL_RDMA_RDMA_POD_H
#define RAILHEAD_RAILCTL_RDMA_RDMA_POD_H

#include "lib/cli/cmd.h"
#include "rdma/inventory/inventory.h"

/* The option --netns; for the tables of the three. */
#define RDMA_OPT_NETNS                                                                             \
	{                                                                                          \
		"netns", "PATH", "of the network namespace at PATH, not of the caller's", 0        \
	}

/*
 * rdma_pod_enter - with --netns: enter that network namespace, for good, with a sysfs of its own in
 * a mount namespace of the caller's. *pid: of probe_view: 0 without --netns, the process when PATH
 * is /proc/PID/ns/net, else -1.
 */
int rdma_pod_enter(struct cmd_run *r, int *pid, struct err *e) must_check;

/* rdma_pod_read - enter and read; whose other GIDs are is looked up as far as one may. */
int rdma_pod_read(struct cmd_run *r, int *pid, struct rdma_inventory *out,
		  struct err *e) must_check;

/*
 * rdma_pod_host_sysfs - for whoever is about to call rdma_pod_read() with --netns: a path by which
 * the sysfs of now can be reached afterwards, for as long as *fd is open; "" without --netns.
 */
#define RDMA_POD_SYSFS_LEN 32
int rdma_pod_host_sysfs(const struct cmd_run *r, int *fd, char out[RDMA_POD_SYSFS_LEN],
			struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod.h: which GPUs and HCAs are the pod's that `railctl topo` runs in, or is asked about.
 *
 * In mode shared a pod sees the RDMA devices of the whole node, its neighbours' among them.
 */
#ifndef RAILHEAD_RAILCTL_TOPO_POD_H
#define RAILHEAD_RAILCTL_TOPO_POD_H

#include "lib/base/ctx.h"
#include "topo/core/machine.h"
#include "diag/probe_data.h"

/* A pod. pid is one of its processes; 0 is the caller, -1 a namespace without a known process. */
struct topo_who {
	const struct ctx *ctx;
	int pid;
};

/*
 * topo_pod_hcas - one bool for each HCA of m, true if it is this pod's. The caller owns *out. NULL
 * means all, as on the node itself. Call it in the pod's network namespace; w->ctx->sysfs must be
 * the sysfs of that namespace.
 */
int topo_pod_hcas(const struct topo_who *w, const struct topo_machine *m, bool **out,
		  struct err *e) must_check;

/*
 * topo_pod_gpus - the same for GPUs. A pod has a GPU if it has the device file (/dev/nvidia0,
 * /dev/dri/renderD128). If it has the file of none, all count (NULL).
 */
int topo_pod_gpus(const struct topo_who *w, const struct topo_machine *m, bool **out,
		  struct err *e) must_check;

/* ---- pure ---- */

/*
 * topo_pod_own - set own[i] for each device of the inventory that belongs to this network
 * namespace. Returns false if all do.
 *
 * A device belongs to it if it has an interface or an address here. InfiniBand devices, and all
 * devices if none has an address, belong to it if the pod may open the character device. In the
 * first namespace of the node only the character devices decide, if some are missing.
 */
bool topo_pod_own(const struct probe_data *f, bool first_netns, bool *own);

#endif

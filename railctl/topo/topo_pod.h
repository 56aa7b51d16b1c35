/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo_pod.h: which GPUs and HCAs are the pod's that `railctl topo` runs in, or is asked about.
 *
 * In mode shared a pod sees the RDMA devices of the whole node, its neighbours' among them.
 */
#ifndef RAILHEAD_RAILCTL_TOPO_TOPO_POD_H
#define RAILHEAD_RAILCTL_TOPO_TOPO_POD_H

#include "lib/base/ctx.h"
#include "topo/core/machine.h"
#include "rdma/doctor/probe_data.h"

/* Whose: pid as of probe_view: 0 the caller's, -1 of a namespace without a process. */
struct topo_who {
	const struct ctx *ctx;
	int pid;
};

/*
 * topo_pod_hcas - one bool for each HCA of m: it is this pod's; NULL in *out: all are, as on the
 * node itself. In the network namespace that it is about, with ctx->sysfs of it. Owned by the
 * caller.
 */
int topo_pod_hcas(const struct topo_who *w, const struct aff_machine *m, bool **out,
		  struct err *e) must_check;

/*
 * topo_pod_gpus - the same of GPUs: those whose device file the pod has (/dev/nvidia0,
 * /dev/dri/renderD128); where none of them has one, by NVIDIA_VISIBLE_DEVICES.
 */
int topo_pod_gpus(const struct topo_who *w, const struct aff_machine *m, bool **out,
		  struct err *e) must_check;

/* ---- pure ---- */

/*
 * topo_pod_own - which of the inventory's devices are the namespace's own; false when nothing
 * tells them apart. Own are devices with an interface or an address here. Of InfiniBand, and where
 * no device has one, those whose character device may be used. In the node's first namespace only
 * the latter counts, and only where some of them are missing.
 */
bool topo_pod_own(const struct probe_data *f, bool first_netns, bool *own);

/* topo_pod_lists - whether a list as of NVIDIA_VISIBLE_DEVICES has the GPU: "all", or some of its
 * number, its UUID and the beginning of it. */
bool topo_pod_lists(const char *list, unsigned number, const char *uuid);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* pod.h: one ADD or CHECK of the rdma plugin in progress. */
#ifndef RAILHEAD_PLUGINS_RDMA_POD_H
#define RAILHEAD_PLUGINS_RDMA_POD_H

#include "cni/engine/attach.h"
#include "rdma/device/gid_verify.h"
#include "plugins/rdma/conf.h"
#include "plugins/rdma/restore.h"

#define RDMA_GIDS_MAX 16

/* The plugin's part of a struct attach (cni/engine/attach.h), to which a points. */
struct rdma_pod {
	struct attach *a;
	struct rdma_conf conf;
	struct nl *host_rdma, *pod_rdma;
	int node_lock;       /* descriptor from rdma_lock(), or -1 */
	enum rdma_mode mode; /* of the node */
	char *devinfo_was;   /* owned; text of the device-information file before; NULL: none */

	/* The results, for the report. */
	struct rdma_serving serving;
	char pod_name[RDMA_NAME_LEN]; /* name of the device in the pod */
	struct rdma_chardevs chardevs;
	struct gid_entry gid[RDMA_GIDS_MAX];
	size_t n_gids;
};

/* rdma_pod - the plugin's part of a. */
static inline struct rdma_pod *rdma_pod(const struct attach *a)
{
	return (void *)(uintptr_t)a->state;
}

/* ---- pod.c ---- */

/*
 * rdma_pod_init, rdma_pod_clear - the hooks of struct attach_type. rdma_pod_open - open the netlink
 * sockets and read the mode of the node; without a pod only the mode. ERR_STATE if the
 * configuration requires the other mode.
 */
void rdma_pod_init(void *state);
void rdma_pod_clear(void *state);
int rdma_pod_open(struct rdma_pod *p, struct err *e) must_check;

/* rdma_pod_view - both namespaces of the attachment, for device.h. Borrows from p. */
struct rdma_view rdma_pod_view(const struct rdma_pod *p);

/* rdma_pod_is_own - true if prevResult gives this address to our interface. Pure. */
bool rdma_pod_is_own(const struct rdma_pod *p, const struct cni_ip *ip);

/* ---- exclusive.c ---- */

/*
 * rdma_exclusive_find - find the RDMA device of the pod's interface, still on the host: sets
 * p->serving and p->chardevs. ERR_STATE if the interface shares the device of its parent.
 * rdma_exclusive_move - move it into the pod, and set p->chardevs and p->pod_name to the values
 * there. ERR_STATE if its character devices got other numbers and the configuration forbids that.
 * The caller holds rdma_lock() since rdma_exclusive_find(), and has pushed the inverse.
 * rdma_exclusive_check - ERR_STATE if it is not in the pod as t says.
 */
int rdma_exclusive_find(struct rdma_pod *p, struct err *e) must_check;
int rdma_exclusive_move(struct rdma_pod *p, struct err *e) must_check;
int rdma_exclusive_check(struct rdma_pod *p, const struct rdma_taken *t, struct err *e) must_check;

/* ---- shared.c ---- */

/*
 * rdma_shared_find - find the device below the pod's interface: sets p->serving and p->chardevs.
 * rdma_shared_verify - wait until it has a RoCE v2 GID for each address of the pod, and set p->gid.
 * deadline_ms is a time of ctx_mono_ms(). ERR_STATE names the address that has none.
 */
int rdma_shared_find(struct rdma_pod *p, struct err *e) must_check;
int rdma_shared_verify(struct rdma_pod *p, int64_t deadline_ms, struct err *e) must_check;

/* ---- report.c ---- */

/* rdma_result - prevResult with a key "rdma" added, which describes the device. */
int rdma_result(const struct attach *a, struct cni_result *r, struct err *e) must_check;

#endif

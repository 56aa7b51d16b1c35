/* SPDX-License-Identifier: Apache-2.0 */
/* pod.h: one ADD or CHECK of the rdma plugin in progress. */
#ifndef RAILHEAD_RDMA_PLUGIN_POD_H
#define RAILHEAD_RDMA_PLUGIN_POD_H

#include "cni/engine/attach.h"
#include "rdma/device/gid.h"
#include "rdma/plugin/conf.h"
#include "rdma/plugin/restore.h"

#define RDMA_GIDS_MAX 16

/* The state of the plugin in a struct attach (attach.h), which a points back to. */
struct rdma_pod {
	struct attach *a;
	struct rdma_conf conf;
	struct nl *host_rdma, *pod_rdma;
	int node_lock;       /* of rdma_lock(), or -1 */
	enum rdma_mode mode; /* of the node */
	char *devinfo_was;   /* owned; the device-information file before; NULL: there was none */

	/* What was found, and is reported. */
	struct rdma_serving serving;
	char pod_name[RDMA_NAME_LEN]; /* the device's in the pod */
	struct rdma_chardevs chardevs;
	struct gid_entry gid[RDMA_GIDS_MAX];
	size_t n_gids;
};

static inline struct rdma_pod *rdma_pod(const struct attach *a)
{
	return (void *)(uintptr_t)a->state;
}

/* ---- pod.c ---- */

/*
 * rdma_pod_open - the sockets, and the node's mode; without a pod only the latter. ERR_STATE when
 * the configuration asks for the other mode. rdma_pod_init, rdma_pod_clear - of attach_type.
 */
void rdma_pod_init(void *state);
void rdma_pod_clear(void *state);
int rdma_pod_open(struct rdma_pod *p, struct err *e) must_check;

/* rdma_mode_check - whether a node in mode is can serve a configuration. ERR_STATE. Pure. */
int rdma_mode_check(enum rdma_mode mode, const struct rdma_conf *c, struct err *e) must_check;

struct rdma_view rdma_pod_view(const struct rdma_pod *p);

/* rdma_pod_is_own - whether the address is that of our interface, by prevResult. Pure. */
bool rdma_pod_is_own(const struct rdma_pod *p, const struct cni_ip *ip);

/* ---- exclusive.c ---- */

/*
 * rdma_exclusive_find - the device of the pod's interface, which is still on the host: p->serving,
 * p->chardevs. ERR_STATE for an interface that shares the device of its parent with others.
 * rdma_exclusive_move - into the pod; p->chardevs and p->pod_name are those there afterwards.
 * ERR_STATE when the character devices have got other numbers and the configuration calls that a
 * failure. The caller has rdma_lock(), has found the device under it, and has pushed the inverse.
 * rdma_exclusive_check - whether it is there as t says. ERR_STATE.
 */
int rdma_exclusive_find(struct rdma_pod *p, struct err *e) must_check;
int rdma_exclusive_move(struct rdma_pod *p, struct err *e) must_check;
int rdma_exclusive_check(struct rdma_pod *p, const struct rdma_taken *t, struct err *e) must_check;

/* ---- shared.c ---- */

/*
 * rdma_shared_find - the device below the pod's interface: p->serving, p->chardevs.
 * rdma_shared_verify - that it carries each of the pod's addresses as a RoCE v2 GID: p->gid; waits
 * until the deadline (of ctx_mono_ms()). ERR_STATE names the address, and what is there instead.
 */
int rdma_shared_find(struct rdma_pod *p, struct err *e) must_check;
int rdma_shared_verify(struct rdma_pod *p, int64_t deadline_ms, struct err *e) must_check;

/* ---- report.c ---- */

/* rdma_result - prevResult as it came, with what was found added, as its key "rdma". */
int rdma_result(const struct attach *a, struct cni_result *r, struct err *e) must_check;

#endif

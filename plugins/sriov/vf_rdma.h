/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vf_rdma.h: the RDMA device of a VF moves into the pod, in the plugin that moves the VF.
 *
 * The state of the VF names the device before it moves. So sriov_restore(), a later claim and
 * repair return it to the host before the interface. It is the same move as that of the plugin rdma
 * (lib/rdma/move.h), which records it elsewhere.
 */
#ifndef RAILHEAD_PLUGINS_SRIOV_VF_RDMA_H
#define RAILHEAD_PLUGINS_SRIOV_VF_RDMA_H

#include "lib/rdma/move.h"
#include "plugins/sriov/vf_attach.h"

/* The keys of a configuration that concern the move. */
struct vf_rdma_keys {
	const char *key; /* the one that asks for it, for messages: "rdma" */
	enum rdma_renumbered renumbered;
	int lock_ms; /* how long to wait for the lock of the node; 0: RDMA_LOCK_MS */
};

/*
 * vf_rdma_check_mode - for find: ERR_STATE if this node shares RDMA devices, so that none can move.
 * The message names the key.
 */
int vf_rdma_check_mode(const char *key, struct err *e) must_check;

/* A VF whose RDMA device moves, or gets new numbers. */
struct vf_rdma_move {
	struct attach *a;
	struct vf_attach *v;
	struct vf_rdma_keys keys;
	int vf_lock, node_lock;        /* descriptors, or -1 */
	struct vf_entry state;         /* read under the lock of the VF */
	struct nl *host_rdma;          /* NULL before vf_rdma_open */
	struct rdma_link link;         /* the device, as vf_rdma_find saw it */
	struct rdma_chardevs chardevs; /* those that the pod expects */
	char uid[CNI_POD_UID_LEN];     /* memory for vf_rdma_numbers */
};

/* vf_rdma_init - nothing is open yet. Borrows a and v. */
static inline struct vf_rdma_move vf_rdma_init(struct attach *a, struct vf_attach *v,
					       struct vf_rdma_keys keys)
{
	return (struct vf_rdma_move){
		.a = a, .v = v, .keys = keys, .vf_lock = -1, .node_lock = -1
	};
}

/*
 * vf_rdma_open - lock the VF, which the attachment owns, and then the node, until vf_rdma_close.
 * Meanwhile no other process moves RDMA devices or binds their drivers, and v->held is the state of
 * the VF. ERR_AGAIN: a lock was not free.
 */
int vf_rdma_open(struct vf_rdma_move *m, struct err *e) must_check;
void vf_rdma_close(struct vf_rdma_move *m);
#define auto_vf_rdma auto_clean(vf_rdma_close)

/*
 * vf_rdma_find - set m->link to the RDMA device of the VF, which must be on the host, and *out to
 * its character devices. ERR_NOTFOUND: the VF has none there.
 */
int vf_rdma_find(struct vf_rdma_move *m, struct rdma_chardevs *out, struct err *e) must_check;

/*
 * vf_rdma_expect - before any change: vf_rdma_find(), with m->chardevs as those that the pod
 * expects. ERR_STATE: the device does not have those of the first ADD of this pod any more.
 */
int vf_rdma_expect(struct vf_rdma_move *m, struct err *e) must_check;

/* vf_rdma_numbers - the device, for numbers.h. Borrows from m. */
struct rdma_numbers vf_rdma_numbers(struct vf_rdma_move *m);

/*
 * vf_rdma_move - record the device that vf_rdma_expect() found, and move it. Sets v->rdma to its
 * name and a->rdma for the result. After a failure sriov_restore() returns it.
 */
int vf_rdma_move(struct vf_rdma_move *m, struct err *e) must_check;

/* vf_rdma_check - for check: ERR_STATE unless the pod has the RDMA device that ADD moved. */
int vf_rdma_check(const struct attach *a, const struct vf_attach *v, const char *key,
		  struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vf_attach.h: what every plugin that moves a VF into a pod gives the attach engine: which VF, its
 * claim, its device information, the move, and what CHECK compares.
 *
 * The state of such a plugin holds a struct vf_attach. What only Ethernet (or InfiniBand) has is
 * the plugin's own, and it sets that between vf_attach_claim and vf_attach_move.
 */
#ifndef RAILHEAD_SRIOV_ATTACH_VF_ATTACH_H
#define RAILHEAD_SRIOV_ATTACH_VF_ATTACH_H

#include "cni/engine/attach.h"
#include "sriov/choose/near.h"
#include "sriov/take/tier.h"

#define VF_PFS_MAX 16

struct vf_attach {
	const char *device_id, *pci_bus_id; /* as given; NULL: not given */
	const struct json *resource, *near; /* undecoded; NULL: not given */
	char vf[PCI_STR_LEN];               /* the VF, "" until one is chosen from the resource */
	struct vf_place place;              /* of the VF, once it is found */
	struct affinity_result found;       /* why this VF, when it was chosen by near */
};

/* The keys, for the table of a state s with a struct vf_attach m. */
#define VF_ATTACH_FIELDS(s, m)                                                                     \
	{ .key = "deviceID", .kind = J_STRING, .offset = offsetof(s, m.device_id) },               \
		{ .key = "pciBusID", .kind = J_STRING, .offset = offsetof(s, m.pci_bus_id) },      \
		{ .key = "resource", .kind = J_OBJECT, .offset = offsetof(s, m.resource) },        \
	{                                                                                          \
		.key = "near", .kind = J_ANY, .offset = offsetof(s, m.near)                        \
	}

/* ---- keys.c: pure ---- */

/* vf_attach_check_keys - for validate: one VF, or a resource to choose from. ERR_CONFIG. */
int vf_attach_check_keys(const struct attach *a, struct vf_attach *v, struct err *e) must_check;

/* "resource": take a free VF of one of these. */
struct vf_resource {
	const char *pf[VF_PFS_MAX]; /* names or PCI addresses of PFs, in order of preference */
	size_t n;
};

/* vf_resource_decode - the key resource; ERR_CONFIG when it is malformed. */
int vf_resource_decode(const struct json *n, struct vf_resource *out, struct err *e) must_check;

/* ---- vf_attach.c: each for the hook of that name ---- */

/*
 * vf_attach_recall - CHECK: the record says which VF the attachment has: v->vf. ERR_STATE when
 * there is no record, and whose attachment it is when sriov-cni made it.
 */
int vf_attach_recall(const struct attach *a, struct vf_attach *v, struct record *r,
		     struct err *e) must_check;

/*
 * vf_attach_find - v->place of a VF that is named. ERR_CONFIG when neither a VF nor a resource is.
 * STATUS: whether a resource has VFs at all.
 */
int vf_attach_find(struct attach *a, struct vf_attach *v, struct err *e) must_check;

/*
 * vf_attach_claim - the VF, or a free one of the resource, becomes this attachment's; a->device,
 * pci_id and master are set. will_change: enum vf_attr, what the plugin is going to set. tier may
 * be NULL; it goes on record.
 */
int vf_attach_claim(struct attach *a, struct vf_attach *v, unsigned will_change,
		    const struct tier *tier, struct err *e) must_check;

/*
 * vf_attach_move - create: the device information is written, and the interface moves into the pod.
 * Of a VF without one (vfio-pci) a->link says what its PF knows.
 */
int vf_attach_move(struct attach *a, const struct vf_attach *v, struct err *e) must_check;

/* vf_attach_check - CHECK: the interface is this VF's, and has the MTU. ERR_STATE. */
int vf_attach_check(const struct attach *a, const struct vf_attach *v, struct err *e) must_check;

/* vf_attach_release - the release hook: without a record what the VFs' state and sriov-cni know. */
int vf_attach_release(const struct cni_call *call, const struct record *r,
		      struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vf_attach.h: hooks of the attach engine for every plugin that moves a VF into a pod: choose and
 * claim the VF, write its device information, move it, and check it.
 *
 * The state of such a plugin holds a struct vf_attach. The plugin itself sets what only Ethernet or
 * InfiniBand has, between vf_attach_claim and vf_attach_move.
 */
#ifndef RAILHEAD_PLUGINS_SRIOV_VF_ATTACH_H
#define RAILHEAD_PLUGINS_SRIOV_VF_ATTACH_H

#include "cni/engine/attach.h"
#include "sriov/choose/near.h"
#include "sriov/claim/tier.h"
#include "sriov/vf/vf.h"

#define VF_PFS_MAX 16

struct vf_attach {
	const char *device_id, *pci_bus_id; /* as given; NULL: not given */
	const struct json *resource, *near; /* undecoded; NULL: not given */
	bool near_only;
	char vf[PCI_STR_LEN];         /* the VF; "" until one is chosen from the resource */
	bool needs_rdma;              /* claim only a VF that has an RDMA device on the host */
	struct vf_entry *held;        /* its state while the plugin has its lock, else NULL */
	struct vf_place place;        /* of the VF; set by find or claim */
	struct affinity_result found; /* why near chose this VF, or how far the named one is */
	char rdma[PCI_RDMA_LEN];      /* its RDMA device, if the plugin moved it; "": it did not */
};

/* The keys, for the table of a state s with a struct vf_attach m. */
#define VF_ATTACH_FIELDS(s, m)                                                                     \
	{ "deviceID", J_STRING, J_AT(s, m.device_id) },                                            \
		{ "pciBusID", J_STRING, J_AT(s, m.pci_bus_id) },                                   \
		{ "resource", J_OBJECT, J_AT(s, m.resource) }, { "near", J_ANY, J_AT(s, m.near) }, \
	{                                                                                          \
		"nearOnly", J_BOOL, J_AT(s, m.near_only)                                           \
	}

/* ---- keys.c: pure ---- */

/*
 * The key "link_state": vf_attach_link_states has its words. vf_attach_want_link_state - add the
 * given one to want.
 */
#define VF_LINK_NOT_GIVEN (-1)
extern const struct json_enum vf_attach_link_states[];
void vf_attach_want_link_state(int given, struct vf_info *want);

/*
 * vf_attach_check_keys - for validate: the keys name one VF, or a resource, or neither; v->vf
 * becomes the named VF. ERR_CONFIG or ERR_DECODE with key and value.
 */
int vf_attach_check_keys(const struct attach *a, struct vf_attach *v, struct err *e) must_check;

/* The key "resource": PFs, of which a free VF is claimed. */
struct vf_resource {
	const char *pf[VF_PFS_MAX]; /* names or PCI addresses of PFs, in order of preference */
	size_t n;
};

/* vf_resource_decode - decode the key; ERR_CONFIG: it is malformed. *out borrows its strings from
 * n. */
int vf_resource_decode(const struct json *n, struct vf_resource *out, struct err *e) must_check;

/* ---- vf_attach.c: each for the hook of that name ---- */

/*
 * vf_attach_recall - CHECK: read the record of the attachment; v->vf becomes its VF. The caller
 * clears *r. ERR_STATE: there is no record; the message says so if sriov-cni made the attachment.
 */
int vf_attach_recall(const struct attach *a, struct vf_attach *v, struct record *r,
		     struct err *e) must_check;

/*
 * vf_attach_find - set v->place of a VF that is named. ERR_CONFIG: neither a VF nor a resource is
 * given. For STATUS: ERR_UNAVAILABLE if a resource has no VFs at all.
 */
int vf_attach_find(struct attach *a, struct vf_attach *v, struct err *e) must_check;

/*
 * vf_attach_claim - claim the named VF, or a free one of the resource, and set a->device, pci_id
 * and master. will_change: bits of enum vf_attr that the plugin is going to set. tier goes into the
 * record; it may be NULL. Errors as claim_vf and claim_any.
 */
int vf_attach_claim(struct attach *a, struct vf_attach *v, unsigned will_change,
		    const struct tier *tier, struct err *e) must_check;

/*
 * vf_attach_move - for create: write the device information, and move the interface into the pod. A
 * VF without an interface (vfio-pci) does not move; a->link gets MAC and MTU from its PF. If the
 * RDMA device moved before, the interface may be in the pod already, and is only renamed.
 */
int vf_attach_move(struct attach *a, const struct vf_attach *v, struct err *e) must_check;

/*
 * vf_attach_carrier_ms - for carrier_ms: no wait if the link is disabled, by want or otherwise, or
 * if it follows a PF without carrier.
 */
int vf_attach_carrier_ms(const struct attach *a, const struct vf_attach *v,
			 const struct vf_info *want);

/* vf_attach_check_pf_side - for check: ERR_STATE unless the PF shows what is wanted. */
int vf_attach_check_pf_side(const struct attach *a, const struct vf_attach *v,
			    const struct vf_info *want, struct err *e) must_check;

/* vf_attach_check - for check: ERR_STATE unless the interface belongs to the VF and has the MTU. */
int vf_attach_check(const struct attach *a, const struct vf_attach *v, struct err *e) must_check;

/*
 * vf_attach_release - for release: without a record r, restore the VF that a VF state or a file of
 * sriov-cni names for the attachment, or that its interface is.
 */
int vf_attach_release(const struct cni_call *call, const struct record *r,
		      struct err *e) must_check;

#endif

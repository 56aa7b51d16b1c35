/* SPDX-License-Identifier: Apache-2.0 */
/* taken.h: the VF in the record of an attachment. */
#ifndef RAILHEAD_SRIOV_CLAIM_TAKEN_H
#define RAILHEAD_SRIOV_CLAIM_TAKEN_H

#include "cni/record/record.h"
#include "sriov/claim/tier.h"
#include "sriov/vf/vf.h"

/*
 * sriov_device - the object "device" of a record. devinfo: path of the device-information file that
 * ADD wrote, or NULL; tier: its tier, or NULL. The caller frees the object. NULL: no memory.
 */
struct json *sriov_device(const struct vf_place *p, const char *devinfo, const struct tier *tier);

/* sriov_device_tier - the tier in a device object; ERR_NOTFOUND: it has none. */
int sriov_device_tier(const struct json *device, struct tier *out, struct err *e) must_check;

/* sriov_device_info - the path of the device-information file in it; NULL: none. Borrowed. */
const char *sriov_device_info(const struct json *device);

/* sriov_device_vf - the PCI address of the VF in a record; NULL: none. Borrowed. */
const char *sriov_device_vf(const struct record *r);

/*
 * taken_each - call fn for each interface in a record of this boot that is a VF, see part.h.
 * Return non-zero from fn to stop; the value is discarded.
 */
int taken_each(const struct ctx *ctx, record_fn fn, void *arg, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* taken.h: what the record of an attachment keeps of its VF. */
#ifndef RAILHEAD_SRIOV_TAKE_TAKEN_H
#define RAILHEAD_SRIOV_TAKE_TAKEN_H

#include "cni/record/record.h"
#include "sriov/take/tier.h"
#include "sriov/vf/vf.h"

/*
 * sriov_device - what the record of an attachment keeps of its VF; devinfo NULL: we made no such
 * file; tier NULL: it has none. NULL: no memory.
 */
struct json *sriov_device(const struct vf_place *p, const char *devinfo, const struct tier *tier);

/* sriov_device_tier - the tier in it; ERR_NOTFOUND when it has none. */
int sriov_device_tier(const struct json *device, struct tier *out, struct err *e) must_check;

/* sriov_device_info - the device-information file that it says we made; NULL: none. */
const char *sriov_device_info(const struct json *device);

/* sriov_device_vf - the PCI address in it; NULL when it has none. */
const char *sriov_device_vf(const struct record *r);

#endif

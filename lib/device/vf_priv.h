/* SPDX-License-Identifier: Apache-2.0 */
/* vf_priv.h: shared by lib/device/vf*.c and their tests only. */
#ifndef RAILHEAD_LIB_DEVICE_VF_PRIV_H
#define RAILHEAD_LIB_DEVICE_VF_PRIV_H

#include "lib/device/vf.h"

/* How long a driver may be busy with itself: ice, i40e and iavf reset in about a second. */
#define VF_PATIENCE_MS 2000

/* The clock of nl_vf_set; tests use one that does not wait. */
struct vf_clock {
	int64_t (*now_ms)(void *arg); /* monotonic */
	void (*nap)(void *arg, int64_t ms);
	void *arg;
};

struct vf_change {
	struct vf_ref vf;
	const struct vf_info *want;
	enum vf_attr one;
};
/* nl_vf_set_by - nl_vf_set() for one attribute, with the clock of a test. */
int nl_vf_set_by(struct nl *nl, const struct vf_change *c, const struct vf_clock *clock,
		 struct err *e) must_check;

#endif

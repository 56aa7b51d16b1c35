/* SPDX-License-Identifier: Apache-2.0 */
/* vf_priv.h: what the files of vf.h share among themselves. */
#ifndef RAILHEAD_SRIOV_VF_VF_PRIV_H
#define RAILHEAD_SRIOV_VF_VF_PRIV_H

#include "lib/net/link.h"
#include "sriov/vf/vf.h"

/* vf_restore_settings - those of the interface ifindex to the baseline's; refused: for each that
 * the kernel refuses. */
struct vf_settings_restore {
	struct nl *nl;
	int ifindex;
	const struct vf_baseline *base;
	void (*refused)(const char *what, const struct err *why, void *arg);
	void *arg;
};
void vf_restore_settings(const struct vf_settings_restore *m);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* vf_priv.h: what the files of vf.h share among themselves. */
#ifndef RAILHEAD_SRIOV_VF_VF_PRIV_H
#define RAILHEAD_SRIOV_VF_VF_PRIV_H

#include "lib/net/link.h"
#include "sriov/vf/vf.h"

/* The two MACs of a VF, and where they live. */
struct vf_macs {
	struct nl *nl;
	struct vf_ref vf;
	const struct vf_state *pf_side; /* its mac: the administrative one, at the PF */
	int ifindex;        /* of the interface; 0: it has none here, or keeps its own */
	const uint8_t *mac; /* of the interface */
};

/*
 * vf_set_macs - set both. Drivers couple them in different ways: mlx5 ignores the first for a bound
 * VF, ice and i40e reset the VF on it and let only that address through, igbvf refuses any change
 * of the second while the first is another (EADDRNOTAVAIL).
 */
int vf_set_macs(const struct vf_macs *m, struct err *e) must_check;

/* vf_mend_settings - those of the interface ifindex to the baseline's; refused: for each that the
 * kernel refuses. */
struct vf_mend {
	struct nl *nl;
	int ifindex;
	const struct vf_baseline *base;
	void (*refused)(const char *what, const struct err *why, void *arg);
	void *arg;
};
void vf_mend_settings(const struct vf_mend *m);

#endif

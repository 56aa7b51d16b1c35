/* SPDX-License-Identifier: Apache-2.0 */
/* ib.h: addresses of InfiniBand: a connection needs LIDs, and GIDs only between subnets. Pure. */
#ifndef RAILHEAD_RDMA_PROBE_IB_H
#define RAILHEAD_RDMA_PROBE_IB_H

#include "lib/base/base.h"

struct ib_path {
	const uint8_t *own, *peer; /* GIDs, 16 bytes each */
	bool required;             /* the port asks for global routing (virtual ports do) */
	bool asked;                /* the user chose a GID */
};

/* ib_needs_grh - whether packets need GIDs beside LIDs. */
bool ib_needs_grh(const struct ib_path *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* gid_priv.h: the search in any GID table, for rdma/device/gid*.c and their tests. */
#ifndef RAILHEAD_RDMA_DEVICE_GID_PRIV_H
#define RAILHEAD_RDMA_DEVICE_GID_PRIV_H

#include "rdma/device/gid.h"

enum gid_place { GID_TAKEN, GID_FREE, GID_END };

/* Where a table is read from. Both return 0 or -1 with the error set. */
struct gid_source {
	/* The GID at index i, and whether there is one. */
	int (*read)(void *arg, uint32_t i, struct gid *out, enum gid_place *place, struct err *e);
	/* Type and interface of the one at out->index. */
	int (*describe)(void *arg, struct gid_entry *out, struct err *e);
	void *arg;
};

/* gid_search - gid_find() in the table of s. */
int gid_search(const struct gid_source *s, const struct gid_want *want, struct gid_look *out,
	       struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* gid_verify.h: whether the RDMA port below a pod's interface carries the interface's addresses. */
#ifndef RAILHEAD_RDMA_DEVICE_GID_VERIFY_H
#define RAILHEAD_RDMA_DEVICE_GID_VERIFY_H

#include "lib/json/json.h"
#include "rdma/device/device.h"
#include "rdma/device/gid.h"

/* Borrowed: ctx->sysfs, the port, and the name of the interface in the pod. */
struct gid_carrier {
	const char *sysfs;
	const struct rdma_serving *serving;
	const char *ifname;
};

/* gid_follows_address - false: it is InfiniBand or iWARP, whose GIDs do not follow from addresses.
 * Pure. */
bool gid_follows_address(const struct rdma_serving *s);

/*
 * gid_verify - wait until the port has a RoCE v2 GID for the address, at most until deadline_ms of
 * ctx_mono_ms(). ERR_STATE names the address that has none.
 */
int gid_verify(const struct gid_carrier *at, struct ip addr, int64_t deadline_ms,
	       struct gid_entry *out, struct err *e) must_check;

/* gid_add_json - add {"index", "gid", "address", "type"} to a list. -1: no memory. */
int gid_add_json(struct json *list, const struct gid_entry *g) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taken.h: the part of a record in which the rdma plugin keeps what it took.
 *
 * In a chain, the plugin that made the interface has a record with the same network, container and
 * interface. So the records of this plugin are in another folder: <run_dir>/rdma.
 */
#ifndef RAILHEAD_PLUGINS_RDMA_TAKEN_H
#define RAILHEAD_PLUGINS_RDMA_TAKEN_H

#include "cni/record/record.h"
#include "rdma/device/device.h"

#define RDMA_RECORDS "rdma"

/* rdma_place - that folder, for a caller that reads the records of both plugins (record_place). */
int rdma_place(const struct ctx *ctx, struct record_place *out, struct err *e) must_check;

/* The content of that part. Strings are borrowed. */
struct rdma_taken {
	bool moved;      /* into the pod; else it was shared */
	const char *bus; /* its bus address; "" for none */
	uint32_t index, port;
	const char *name;        /* on the host, before */
	const char *pod_name;    /* in the pod; the same unless renamed */
	const char *uverbs;      /* "uverbs3 231:195", as before the move; "" none */
	const char *devinfo;     /* a device-information file that was changed; NULL: none */
	const char *devinfo_was; /* the text of that file before; NULL: there was none */
};

/* rdma_taken_json - for record.device, owned by the caller; NULL: no memory. Pure. */
struct json *rdma_taken_json(const struct rdma_taken *t);
/* rdma_taken_read - decode it from a record, and borrow from that. ERR_DECODE. Pure. */
int rdma_taken_read(const struct record *r, struct rdma_taken *out, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h: the rdma plugin's keys. Pure. */
#ifndef RAILHEAD_RDMA_PLUGIN_CONF_H
#define RAILHEAD_RDMA_PLUGIN_CONF_H

#include "cni/protocol/conf.h"
#include "rdma/device/device.h"

enum rdma_want { RDMA_WANT_AUTO, RDMA_WANT_EXCLUSIVE, RDMA_WANT_SHARED };
enum rdma_renumbered { RDMA_RENUMBERED_FAIL, RDMA_RENUMBERED_REPORT };

/* Strings are borrowed from the configuration. */
struct rdma_conf {
	int mode;            /* enum rdma_want */
	const char *device;  /* deviceID, at the top or in runtimeConfig; NULL: not given. A shared
				device plugin gives ids of its own, which are no bus addresses. */
	const char *name;    /* deviceName: the RDMA device's in the pod; NULL: it keeps its own */
	uint32_t timeout;    /* seconds, for GIDs to appear */
	int renumbered;      /* enum rdma_renumbered: when character devices get other numbers */
	bool debug;          /* args.cni.debug, as rdma-cni has it */
	const char *devinfo; /* the device-information file; NULL: none is wanted */
};

/*
 * rdma_conf_read - decode and check all that needs no system. A device that is no bus address is an
 * error where mode "exclusive" is asked for: ERR_CONFIG.
 */
int rdma_conf_read(const struct cni_conf *conf, struct rdma_conf *out, struct err *e) must_check;

/* rdma_conf_bus - c->device where it is a bus address, else NULL. */
const char *rdma_conf_bus(const struct rdma_conf *c);

#endif

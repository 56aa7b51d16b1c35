/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h: the rdma plugin's keys. Pure. */
#ifndef RAILHEAD_PLUGINS_RDMA_CONF_H
#define RAILHEAD_PLUGINS_RDMA_CONF_H

#include "cni/protocol/conf.h"
#include "lib/rdma/move.h"
#include "rdma/device/device.h"

enum rdma_want { RDMA_WANT_AUTO, RDMA_WANT_EXCLUSIVE, RDMA_WANT_SHARED };

/* Strings are borrowed from the configuration. */
struct rdma_conf {
	int mode;            /* enum rdma_want */
	const char *device;  /* deviceID, at the top or in runtimeConfig; NULL: not given. A shared
				device plugin gives its own ids, which are not bus addresses. */
	const char *name;    /* deviceName: name of the RDMA device in the pod; NULL: unchanged */
	uint32_t timeout;    /* seconds, for GIDs to appear */
	int renumbered;      /* enum rdma_renumbered: when character devices get other numbers */
	bool debug;          /* args.cni.debug, as rdma-cni has it */
	const char *devinfo; /* path of the device-information file; NULL: not configured */
};

/*
 * rdma_conf_read - decode the configuration, and check what can be checked without the system.
 * Mode "exclusive" with a device that is not a bus address is ERR_CONFIG.
 */
int rdma_conf_read(const struct cni_conf *conf, struct rdma_conf *out, struct err *e) must_check;

/* rdma_conf_bus - c->device if it is a bus address, else NULL. Borrowed. */
const char *rdma_conf_bus(const struct rdma_conf *c);

#endif

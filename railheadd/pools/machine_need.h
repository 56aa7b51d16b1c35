/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_need.h: an ADD that waits for the block of its pod. If the pod runs a virtual machine,
 * the block is that of the machine.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_MACHINE_NEED_H
#define RAILHEAD_RAILHEADD_POOLS_MACHINE_NEED_H

#include "railheadd/pools/driver.h"

struct machine_need;

/* identity: whose block it is, if that is not the pod's; else NULL. why: as of driver_need(). */
struct machine_need_end {
	void (*fn)(void *arg, const char *identity, const struct err *why);
	void *arg;
};

/* All borrowed. store: that of the driver; NULL: none. */
struct machine_need_at {
	struct event_base *base;
	struct driver *driver;
	struct cluster_store *store;
};

/*
 * machine_need - read the Pod, if the store has Pods and the name is that of a launcher, and then
 * as driver_need(). ask->identity is not NULL. fn is called once, from the loop. ERR_AGAIN also:
 * the Pod is not there, or cannot be read. NULL: no memory. machine_need_cancel - nothing is
 * reported any more.
 */
struct machine_need *machine_need(const struct machine_need_at *at,
				  const struct driver_need_ask *ask,
				  const struct machine_need_end *end);
void machine_need_cancel(struct machine_need *n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_monitor.h: waits until an RDMA device comes, goes, moves or is renamed. */
#ifndef RAILHEAD_LIB_DEVICE_RDMA_MONITOR_H
#define RAILHEAD_LIB_DEVICE_RDMA_MONITOR_H

#include "lib/base/err.h"

/*
 * A monitor listens in the network namespace of the caller at the time of the open. It has two
 * sources. Uevents report devices that appear, disappear and move between namespaces. RDMA
 * notifications (Linux 6.12) report names and interfaces. Open the monitor, then look for the
 * device, and wait only if it is not there.
 */
struct rdma_monitor;

/* nl_rdma_monitor_open - freed with nl_rdma_monitor_close(). Fails if uevents are not available. */
int nl_rdma_monitor_open(struct rdma_monitor **out, struct err *e) must_check;

/*
 * nl_rdma_monitor_wait - 1: something about RDMA devices has changed, look again; 0: the deadline
 * (of ctx_mono_ms()) has passed. The kind of change does not matter, so a dropped one does
 * no harm. ERR_KERNEL.
 */
int nl_rdma_monitor_wait(struct rdma_monitor *m, int64_t deadline_ms, struct err *e) must_check;

void nl_rdma_monitor_close(struct rdma_monitor *m);
static inline void nl_rdma_monitor_closep(struct rdma_monitor **m)
{
	nl_rdma_monitor_close(*m);
}
#define auto_rdma_monitor auto_clean(nl_rdma_monitor_closep)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma_compat.h: what the kernel's rdma/rdma_netlink.h has gained since Linux 6.1 (Debian 12).
 *
 * Enumerators cannot be asked for with #ifdef, so these have names of their own; the numbers are
 * part of the kernel's interface. Shared by lib/device/rdma*.c and their tests only.
 */
#ifndef RAILHEAD_LIB_DEVICE_RDMA_COMPAT_H
#define RAILHEAD_LIB_DEVICE_RDMA_COMPAT_H

#include <rdma/rdma_netlink.h>

/* ---- Linux 6.12 ---- */
#define COMPAT_RDMA_GROUP_NOTIFY     4   /* RDMA_NL_GROUP_NOTIFY */
#define COMPAT_RDMA_SYS_ATTR_MONITOR 103 /* RDMA_NLDEV_SYS_ATTR_MONITOR_MODE, u8 */

/* What of all attributes is looked at: the highest number. */
#define RDMA_ATTR_TOP COMPAT_RDMA_SYS_ATTR_MONITOR

#define RDMA_NLMSG(cmd) ((unsigned)RDMA_NL_NLDEV << 10 | (unsigned)(cmd))

#endif

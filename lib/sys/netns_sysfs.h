/* SPDX-License-Identifier: Apache-2.0 */
/* netns_sysfs.h: a sysfs as another network namespace sees it, without a mount that others see. */
#ifndef RAILHEAD_LIB_SYS_NETNS_SYSFS_H
#define RAILHEAD_LIB_SYS_NETNS_SYSFS_H

#include "lib/sys/netns.h"

/*
 * netns_sysfs - a sysfs of ns, read only; returns a descriptor of its root, which ends with it. The
 * interfaces and the RDMA devices in it are those of ns (sysfs takes the namespace of the task that
 * creates the file system: fs/sysfs/mount.c). The calling thread is in host when it returns. Both
 * are borrowed. ERR_NETNS: not root, or a kernel before 5.2.
 */
int netns_sysfs(const struct netns *ns, const struct netns *host, struct err *e) must_check;

#endif

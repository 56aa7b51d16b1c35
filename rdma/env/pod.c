/* SPDX-License-Identifier: Apache-2.0 */
/* pod.c: enter a network namespace with its sysfs, and read the RDMA devices there. */
#include "rdma/env/pod.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>

#include "rdma/inventory/netdev_port.h"

/*
 * A sysfs shows the network namespace from which it was mounted. No other process sees this mount,
 * and it ends with the process.
 */
static int mount_sysfs(const char *at, struct err *e)
{
	if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    /* EBUSY: the sysfs of this namespace is mounted there already. */
	    (mount("sysfs", at, "sysfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0 ||
	     errno == EBUSY))
		return 0;
	return err_set(e, ERR_NETNS, errno, "mount a sysfs of the network namespace");
}

int pod_enter(const struct ctx *ctx, const struct netns *ns, struct err *e)
{
	if (ns->fd < 0)
		return 0;
	return netns_enter(ns, e) || mount_sysfs(ctx->sysfs, e) ? -1 : 0;
}

/* Only the host sees which device is below an interface of a pod, so read that first. */
int pod_read(const struct ctx *ctx, const struct netns *ns, struct rdma_inventory *out,
	     struct err *e)
{
	auto_netdev_ports struct netdev_ports ports = { 0 };

	if ((ns->fd >= 0 && netdev_ports_read(ctx, ns, &ports, e)) || pod_enter(ctx, ns, e) ||
	    rdma_inventory_read(ctx, out, e))
		return -1;
	netdev_ports_apply(&ports, out);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod.c: enter the network namespace of --netns with its sysfs, and read the RDMA devices
 * there.
 */
#include "railctl/rdma/pod.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "rdma/inventory/owners.h"
#include "rdma/inventory/netdev_port.h"

int rdma_take_version(struct cmd_run *r, const char *option, struct lib_version *out, struct err *e)
{
	const char *text = opt_get(&r->opts, option);

	return text && lib_version_parse(text, out)
		       ? cmd_usage(r, e, "--%s \"%.64s\" is not a version such as 2.27 or 2.27.3",
				   option, text)
		       : 0;
}

/* 1234 for the path /proc/1234/ns/net; -1 for other paths. */
static int pid_of(const char *path)
{
	char digits[12];
	size_t n;
	uint64_t pid;

	if (strncmp(path, "/proc/", 6) != 0)
		return -1;
	n = strspn(path + 6, "0123456789");
	if (n == 0 || n >= sizeof(digits) || strcmp(path + 6 + n, "/ns/net") != 0)
		return -1;
	memcpy(digits, path + 6, n);
	digits[n] = '\0';
	return parse_u64(digits, 1, INT_MAX, &pid) ? -1 : (int)pid;
}

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
	err_set(e, ERR_NETNS, errno, "mount a sysfs of the network namespace");
	return err_hint(e, "--netns needs root");
}

/* Without --netns, *ns does not change. */
static int open_netns(struct cmd_run *r, int *pid, struct netns *ns, struct err *e)
{
	const char *path = opt_get(&r->opts, "netns");

	*pid = 0;
	if (!path)
		return 0;
	if (path[0] != '/')
		return cmd_usage(r, e, "--netns \"%.256s\" must be an absolute path", path);
	*pid = pid_of(path);
	return netns_open(path, ns, e);
}

static int enter_netns(struct cmd_run *r, const struct netns *ns, struct err *e)
{
	if (ns->fd < 0)
		return 0;
	if (netns_enter(ns, e))
		return e->errnum == EPERM ? err_hint(e, "--netns needs root") : -1;
	return mount_sysfs(r->ctx.sysfs, e);
}

int rdma_pod_host_sysfs(const struct cmd_run *r, int *fd, char out[RDMA_POD_SYSFS_LEN],
			struct err *e)
{
	*out = '\0';
	if (!opt_get(&r->opts, "netns"))
		return 0;
	*fd = open(r->ctx.sysfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0)
		return err_set(e, ERR_IO, errno, "open %s", r->ctx.sysfs);
	(void)snprintf(out, RDMA_POD_SYSFS_LEN, "/proc/self/fd/%d", *fd);
	return 0;
}

int rdma_pod_enter(struct cmd_run *r, int *pid, struct err *e)
{
	auto_netns struct netns ns = { .fd = -1 };

	return open_netns(r, pid, &ns, e) || enter_netns(r, &ns, e) ? -1 : 0;
}

/* Only the host sees which device is below an interface of a pod, so read that first. */
int rdma_pod_read(struct cmd_run *r, int *pid, struct rdma_inventory *out, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	auto_netns struct netns ns = { .fd = -1 };
	auto_netdev_ports struct netdev_ports ports = { 0 };

	if (open_netns(r, pid, &ns, e) ||
	    (ns.fd >= 0 && netdev_ports_read(&r->ctx, &ns, &ports, e)) || enter_netns(r, &ns, e) ||
	    rdma_inventory_read(&r->ctx, &v, e) || owners_name(&r->ctx, OWNERS_DIR, &v, e))
		return -1;
	netdev_ports_apply(&ports, &v);
	*out = v;
	v = (struct rdma_inventory){ 0 };
	return 0;
}

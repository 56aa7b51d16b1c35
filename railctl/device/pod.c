/* SPDX-License-Identifier: Apache-2.0 */
/* pod.c: the option --netns: enter that network namespace, and read the RDMA devices there. */
#include "railctl/device/pod.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "rdma/inventory/owners.h"
#include "rdma/env/pod.h"

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

static int hint_root(struct err *e)
{
	return e->errnum == EPERM ? err_hint(e, "--netns needs root") : -1;
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

	if (open_netns(r, pid, &ns, e))
		return -1;
	return pod_enter(&r->ctx, &ns, e) ? hint_root(e) : 0;
}

int rdma_pod_read(struct cmd_run *r, int *pid, struct rdma_inventory *out, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	auto_netns struct netns ns = { .fd = -1 };

	if (open_netns(r, pid, &ns, e))
		return -1;
	if (pod_read(&r->ctx, &ns, &v, e))
		return hint_root(e);
	if (owners_name(&r->ctx, OWNERS_DIR, &v, e))
		return -1;
	*out = v;
	v = (struct rdma_inventory){ 0 };
	return 0;
}

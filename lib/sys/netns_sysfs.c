/* SPDX-License-Identifier: Apache-2.0 */
/* netns_sysfs.c: a mount that is attached nowhere needs no folder and no mount namespace. */
#include "lib/sys/netns_sysfs.h"

#include <errno.h>
#include <sys/mount.h>

static int new_sysfs(struct err *e)
{
	const unsigned attrs =
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	auto_fd int fs = fsopen("sysfs", FSOPEN_CLOEXEC);
	int root = -1;

	if (fs >= 0 && fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		root = fsmount(fs, FSMOUNT_CLOEXEC, attrs);
	return root < 0 ? err_set(e, ERR_NETNS, errno, "make a sysfs of the network namespace")
			: root;
}

int netns_sysfs(const struct netns *ns, const struct netns *host, struct err *e)
{
	auto_fd int root = -1;
	struct err why;

	if (netns_enter(ns, e))
		return -1;
	root = new_sysfs(e);
	if (netns_enter(host, &why))
		return err_pass(e, &why);
	if (root < 0)
		return -1;
	return TAKE_FD(root);
}

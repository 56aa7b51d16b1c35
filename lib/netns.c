/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* A process that is gone, or just going, answers in several ways for its /proc/PID/ns/net. */
static int cannot_reach(const char *path, int errnum, struct err *e)
{
	if (errnum == ENOENT || errnum == ENOTDIR || errnum == ESRCH || errnum == EINVAL)
		errnum = ENOENT;
	return err_set(e, ERR_NETNS, errnum, "network namespace %s", path);
}

static int not_a_namespace(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st))
		return cannot_reach(path, errno, e);
	if (S_ISREG(st.st_mode)) {
		err_set(e, ERR_NETNS, 0, "%s is a plain file, not a network namespace", path);
		err_hint(e,
			 "the namespace that was mounted on it is gone (after a reboot, perhaps)");
		e->errnum = ENOENT;
		return -1;
	}
	err_set(e, ERR_NETNS, 0, "%s is not a network namespace", path);
	e->errnum = EINVAL;
	return -1;
}

static int open_nsfs(const char *path, struct netns *out, struct err *e)
{
	struct stat st;
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return cannot_reach(path, errno, e);

	int type = ioctl(fd, NS_GET_NSTYPE);

	/* Not an answer: a DEL must not take it for a namespace that has gone. */
	if (type < 0)
		return err_set(e, ERR_NETNS, errno, "type of the namespace %s", path);
	if (type != CLONE_NEWNET) {
		err_set(e, ERR_NETNS, 0, "%s is a namespace, but not a network namespace", path);
		e->errnum = EINVAL;
		return -1;
	}
	if (fstat(fd, &st))
		return err_set(e, ERR_NETNS, errno, "network namespace %s", path);
	out->id = (struct netns_id){ .dev = st.st_dev, .ino = st.st_ino };
	out->fd = TAKE_FD(fd);
	return 0;
}

/*
 * What is there is looked at before it is opened: opening a device or a FIFO can do things. Should
 * the path change in between, the ioctl answers for what was opened.
 */
int netns_open(const char *path, struct netns *out, struct err *e)
{
	struct statfs sfs;

	if (statfs(path, &sfs))
		return cannot_reach(path, errno, e);
	if (sfs.f_type != NSFS_MAGIC)
		return not_a_namespace(path, e);
	return open_nsfs(path, out, e);
}

/* Of the thread: a program may have threads elsewhere. */
int netns_open_self(struct netns *out, struct err *e)
{
	return open_nsfs("/proc/thread-self/ns/net", out, e);
}

bool netns_same(struct netns_id a, struct netns_id b)
{
	return a.dev == b.dev && a.ino == b.ino;
}

int netns_enter(const struct netns *ns, struct err *e)
{
	if (setns(ns->fd, CLONE_NEWNET))
		return err_set(e, ERR_NETNS, errno, "enter network namespace (inode %llu)",
			       (unsigned long long)ns->id.ino);
	return 0;
}

void netns_close(struct netns *ns)
{
	if (ns->fd >= 0)
		(void)close(ns->fd);
	ns->fd = -1;
}

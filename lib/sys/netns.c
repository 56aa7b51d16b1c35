/* SPDX-License-Identifier: Apache-2.0 */
/* netns.c: opens network namespaces, tells them apart, and enters them. */
#include "lib/sys/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Of the thread: a program may have threads elsewhere. */
#define SELF "/proc/thread-self/ns/net"

/* A number in JSON is exact up to here. The kernel counts cookies from 1. */
#define COOKIE_MAX (UINT64_C(1) << 53)

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
		err_hint(e, "a namespace that was mounted on it is gone (after a reboot, perhaps), "
			    "or is mounted there in another mount namespace only");
	} else {
		err_set(e, ERR_NETNS, 0, "%s is not a network namespace", path);
	}
	e->errnum = EINVAL;
	return -1;
}

/* ---- cookies ---- */

/* That of the namespace which the thread is in; any socket knows it. */
static int own_cookie(uint64_t *out, struct err *e)
{
	socklen_t len = sizeof(*out);
	auto_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_set(e, ERR_NETNS, errno, "socket for the cookie of a network namespace");
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, out, &len) == 0) {
		if (*out > COOKIE_MAX)
			*out = 0;
		return 0;
	}
	*out = 0;
	if (errno == ENOPROTOOPT) /* before Linux 5.14 */
		return 0;
	return err_set(e, ERR_NETNS, errno, "cookie of a network namespace");
}

/*
 * There is a namespace, but something failed: never one of the errnums by which callers know that
 * none is there.
 */
static int netns_is_there(int errnum, struct err *e)
{
	if (errnum == ENOENT || errnum == ENOTDIR || errnum == ESRCH || errnum == EINVAL)
		e->errnum = EIO;
	return -1;
}

static int cannot_tell(int errnum, const char *path, struct err *e)
{
	(void)err_set(e, ERR_NETNS, errnum, "network namespace %s cannot be looked at", path);
	return netns_is_there(errnum, e);
}

/* A caller without permission to enter the namespace gets no cookie. */
static int cookie_of(struct netns *ns, const char *path, struct err *e)
{
	auto_fd int host = open(SELF, O_RDONLY | O_CLOEXEC);
	struct err back;

	if (host < 0)
		return cannot_tell(errno, SELF, e);
	if (setns(ns->fd, CLONE_NEWNET))
		return errno == EPERM ? 0 : cannot_tell(errno, path, e);

	int rc = own_cookie(&ns->id.cookie, e) ? cannot_tell(e->errnum, path, e) : 0;

	if (setns(host, CLONE_NEWNET)) {
		int errnum = errno;

		err_set(&back, ERR_NETNS, errnum, "return from network namespace %s", path);
		*e = back;
		return netns_is_there(errnum, e);
	}
	return rc;
}

/* out->fd is set after success only. */
static int open_nsfs(const char *path, struct netns *out, struct err *e)
{
	struct stat st;
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return cannot_reach(path, errno, e);

	int type = ioctl(fd, NS_GET_NSTYPE);

	/* Not an answer: a DEL must not take it for a namespace that has gone. */
	if (type < 0)
		return cannot_tell(errno, path, e);
	if (type != CLONE_NEWNET) {
		err_set(e, ERR_NETNS, 0, "%s is a namespace, but not a network namespace", path);
		e->errnum = EINVAL;
		return -1;
	}
	if (fstat(fd, &st))
		return cannot_tell(errno, path, e);
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

	auto_netns struct netns ns = { .fd = -1 };

	if (open_nsfs(path, &ns, e) || cookie_of(&ns, path, e))
		return -1;
	*out = ns;
	ns.fd = -1;
	return 0;
}

int netns_open_self(struct netns *out, struct err *e)
{
	auto_netns struct netns ns = { .fd = -1 };

	if (open_nsfs(SELF, &ns, e) || own_cookie(&ns.id.cookie, e))
		return -1;
	*out = ns;
	ns.fd = -1;
	return 0;
}

static bool same_inode(struct netns_id a, struct netns_id b)
{
	return a.dev == b.dev && a.ino == b.ino;
}

static bool other_cookie(struct netns_id a, struct netns_id b)
{
	return a.cookie && b.cookie && a.cookie != b.cookie;
}

bool netns_same(struct netns_id a, struct netns_id b)
{
	return same_inode(a, b) && !other_cookie(a, b);
}

bool netns_reused(struct netns_id a, struct netns_id b)
{
	return same_inode(a, b) && other_cookie(a, b);
}

int netns_enter(const struct netns *ns, struct err *e)
{
	if (setns(ns->fd, CLONE_NEWNET))
		return err_set(e, ERR_NETNS, errno, "enter network namespace (inode %llu)",
			       (unsigned long long)ns->id.ino);
	return 0;
}

int netns_run(const struct netns *ns, const struct netns *home, netns_fn fn, void *arg,
	      struct err *e)
{
	struct err stuck;

	/* setns() needs rights, even into the namespace in which we are. */
	if (netns_same(ns->id, home->id))
		return fn(arg, e);
	if (netns_enter(ns, e))
		return -1;
	int rc = fn(arg, e);
	if (netns_enter(home, &stuck)) {
		if (rc >= 0)
			*e = stuck;
		return -1;
	}
	return rc;
}

void netns_close(struct netns *ns)
{
	if (ns->fd >= 0)
		(void)close(ns->fd);
	ns->fd = -1;
}

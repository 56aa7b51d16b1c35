/* SPDX-License-Identifier: Apache-2.0 */
/* netns.c: make, remove and enter named network namespaces, in the way of ip-netns(8). */
#include "conformance/harness/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "conformance/harness/text.h"

#define OWN "/proc/thread-self/ns/net"

/*
 * While an RDMA device of software goes with the namespace of its interface, the kernel makes no
 * network namespace: ENODEV, for a moment (conformance/vm/rxe.md).
 */
int netns_unshare(int flags)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	int rc = unshare(flags);

	for (int i = 0; rc && errno == ENODEV && i < 500; i++) {
		(void)nanosleep(&moment, NULL);
		rc = unshare(flags);
	}
	return rc;
}

static int open_own(void)
{
	int fd = open(OWN, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", OWN, strerror(errno));
	return fd;
}

static void return_to(int own)
{
	if (setns(own, CLONE_NEWNET))
		die("return to the own network namespace: %s", strerror(errno));
	(void)close(own);
}

void netns_make(const char *path)
{
	int own = open_own();
	int file = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

	if (file < 0 || netns_unshare(CLONE_NEWNET) || mount(OWN, path, "none", MS_BIND, NULL))
		die("make the network namespace %s: %s", path, strerror(errno));
	(void)close(file);
	return_to(own);
}

void netns_drop(const char *path)
{
	if (umount2(path, MNT_DETACH) || unlink(path))
		die("remove the network namespace %s: %s", path, strerror(errno));
}

int netns_enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);
	int errnum = errno;

	if (fd >= 0)
		(void)close(fd);
	errno = errnum;
	return rc;
}

int netns_call(const char *path, void (*fn)(void *arg), void *arg)
{
	int own = open_own();

	if (netns_enter(path)) {
		int errnum = errno;
		(void)close(own);
		errno = errnum;
		return -1;
	}
	fn(arg);
	return_to(own);
	return 0;
}

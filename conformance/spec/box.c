/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/spec/box.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "conformance/spec/observe.h"

void broken(const char *what)
{
	fprintf(stderr, "cni-conformance: %s: %s\n", what, strerror(errno));
	_exit(3);
}

double now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

int pidfd_of(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);

	if (fd >= 0)
		close(fd);
	return rc;
}

/*
 * While an RDMA device of software goes with the namespace of its interface, the kernel makes no
 * network namespace: ENODEV, for a moment (conformance/vm/rxe.md).
 */
static int apart(int flags)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	int rc = unshare(flags);

	for (int i = 0; rc && errno == ENODEV && i < 500; i++) {
		(void)nanosleep(&moment, NULL);
		rc = unshare(flags);
	}
	return rc;
}

void make_netns(const char *path)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int file = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

	if (home < 0 || file < 0 || apart(CLONE_NEWNET) ||
	    mount("/proc/self/ns/net", path, "none", MS_BIND, NULL) || setns(home, CLONE_NEWNET))
		broken(path);
	close(file);
	close(home);
}

void drop_netns(const char *path)
{
	if (umount2(path, MNT_DETACH) || unlink(path))
		broken(path);
}

void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	char buf[65536];
	ssize_t n = -1;

	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0) {
		if (write(out, buf, (size_t)n) != n)
			broken(to);
	}
	if (n < 0)
		broken(from);
	close(in);
	close(out);
}

void remove_file(const char *path)
{
	if (unlink(path) && errno != ENOENT)
		broken(path);
}

static void mount_over(const char *path)
{
	if (mount("cni-conformance", path, "tmpfs", 0, "mode=755"))
		broken(path);
}

static void mounts(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		broken("make mounts private");
	mount_over("/run");
	mount_over("/var/lib");
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		broken("/proc");
	/* Where it is not allowed, what was there stays: few plugins look at it. */
	(void)mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	if (mkdir("/run/netns", 0755) || mkdir(WORK, 0755) || mkdir(WORK "/bin", 0755))
		broken(WORK);
}

/* No link-local addresses: nothing of the host's own is on the wire. */
static const char links[] = "link set lo up\n"
			    "link add " MASTER " type veth peer name " WIRE "\n"
			    "link set " MASTER " addrgenmode none\n"
			    "link set " WIRE " addrgenmode none\n"
			    "link set " MASTER " up\n"
			    "link set " WIRE " up\n";

void run_shell(const char *netns, const char *command)
{
	pid_t pid = fork();
	int status;

	if (pid == 0 && netns && enter(netns))
		broken(netns);
	if (pid == 0) {
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		broken(command);
}

void box_furnish(const struct profile *p, const char *self)
{
	if (p->host_network)
		run_shell(NULL, p->prepare);
	else if (!write_file(WORK "/links", links) || !ip(NULL, "-batch " WORK "/links"))
		broken("make the master interface with ip(8)");
	copy_file(self, WORK "/bin/" FAKE);
	if (!write_file(WORK "/bin/" FAKE ".base", "pool"))
		broken(WORK);
}

static void first_process(void (*body)(void *arg, int fd), void *arg, int fd)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	mounts();
	body(arg, fd);
	_exit(0);
}

pid_t box_start(const struct profile *p, void (*body)(void *arg, int fd), void *arg, int fd)
{
	const int net = p->host_network ? 0 : CLONE_NEWNET;
	pid_t outer = fork();
	int status;

	if (outer)
		return outer;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (apart(CLONE_NEWNS | net | CLONE_NEWPID | CLONE_NEWIPC))
		broken("namespaces (root is needed)");
	pid_t inner = fork();
	if (inner < 0)
		broken("fork");
	if (inner == 0)
		first_process(body, arg, fd);
	close(fd);
	(void)waitpid(inner, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

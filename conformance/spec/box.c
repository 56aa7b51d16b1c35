/* SPDX-License-Identifier: Apache-2.0 */
/* box.c: namespaces, private folders and links of one item, and helpers for files and shells. */
#include "conformance/spec/box.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "conformance/spec/observe.h"

void broken(const char *what)
{
	fprintf(stderr, "cni-conformance: %s: %s\n", what, strerror(errno));
	_exit(3);
}

double now_ms(void)
{
	return (double)now_us() / 1e3;
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
	const char *const argv[] = { "sh", "-c", command, NULL };
	auto_exited e;

	program_run(netns, argv, &e);
	if (exited_well(&e))
		return;
	fprintf(stderr, "%s%s", e.out, e.err);
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

pid_t box_start(const struct profile *p, void (*body)(void *arg, int fd), void *arg, int fd)
{
	const int net = p->host_network ? 0 : CLONE_NEWNET;
	pid_t outer = fork();
	int status;

	if (outer)
		return outer;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (netns_unshare(CLONE_NEWNS | net | CLONE_NEWPID | CLONE_NEWIPC))
		broken("namespaces (root is needed)");
	pid_t inner = fork();
	if (inner < 0)
		broken("fork");
	if (inner == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		mounts();
		body(arg, fd);
		_exit(0);
	}
	close(fd);
	(void)waitpid(inner, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

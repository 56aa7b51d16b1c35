/* SPDX-License-Identifier: Apache-2.0 */
/* netns_test.c: shows which paths are network namespaces, and that namespaces are told apart. */
#include "lib/sys/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"

static void refused(const char *path, int errnum)
{
	struct netns ns = { .fd = -7 };
	struct err e = { 0 };

	ck_assert_msg(netns_open(path, &ns, &e) == -1, "%s was opened", path);
	ck_assert_int_eq(e.code, ERR_NETNS);
	ck_assert_msg(e.errnum == errnum, "%s: errnum %d: %s", path, e.errnum, e.msg);
	ck_assert_int_eq(ns.fd, -7);
}

START_TEST(opens_what_is_one)
{
	auto_netns struct netns a = { .fd = -1 }, b = { .fd = -1 }, c = { .fd = -1 };
	struct err e = { 0 };

	ck_assert_int_eq(netns_open("/proc/self/ns/net", &a, &e), 0);
	ck_assert_int_eq(netns_open_self(&b, &e), 0);
	ck_assert(netns_same(a.id, b.id));
	ck_assert(fcntl(a.fd, F_GETFD) & FD_CLOEXEC);
	net_enter_new();
	ck_assert_int_eq(netns_open_self(&c, &e), 0);
	ck_assert(!netns_same(a.id, c.id));
}
END_TEST

START_TEST(opens_a_name_that_a_namespace_is_mounted_on)
{
	auto_netns struct netns a = { .fd = -1 };
	struct err e = { 0 };

	ck_assert_ptr_nonnull(testing_dir());
	testing_file("/mnt/pod", 0600, "");
	ck_assert_int_eq(mount("/proc/self/ns/net", "/mnt/pod", NULL, MS_BIND, NULL), 0);
	ck_assert_int_eq(symlink("/mnt/pod", "/mnt/link"), 0);
	auto_netns struct netns self = net_self();

	ck_assert_int_eq(netns_open("/mnt/link", &a, &e), 0);
	ck_assert(netns_same(a.id, self.id));
	/* As after a reboot, or in another mount namespace: the file is there, the mount is not. */
	ck_assert_int_eq(umount2("/mnt/pod", MNT_DETACH), 0);
	refused("/mnt/pod", EINVAL);
	refused("/mnt/link", EINVAL);
}
END_TEST

START_TEST(a_path_that_is_gone_is_not_found)
{
	refused("", ENOENT);
	refused("/nonesuch/ns", ENOENT);
	refused("/etc/passwd/ns", ENOENT);
	refused("/proc/0/ns/net", ENOENT);
}
END_TEST

START_TEST(other_files_are_not_namespaces)
{
	ck_assert_ptr_nonnull(testing_dir());
	ck_assert_int_eq(mkfifo("/mnt/fifo", 0600), 0);
	ck_assert_int_eq(symlink("/mnt/loop", "/mnt/loop"), 0);
	refused("/mnt/fifo", EINVAL);
	refused("/mnt/loop", ELOOP);
	refused("/mnt", EINVAL);
	refused("/etc/passwd", EINVAL);
	refused("/dev/null", EINVAL);
	refused("/proc/self/ns/uts", EINVAL);
	refused("/proc/self/ns/mnt", EINVAL);
}
END_TEST

START_TEST(the_namespace_of_a_process_that_ends)
{
	char path[64];
	pid_t pid = fork();
	siginfo_t si;

	if (pid == 0)
		_exit(0);
	ck_assert_int_gt(pid, 0);
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
	refused(path, ENOENT); /* a zombie */
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	refused(path, ENOENT);
}
END_TEST

START_TEST(enters_and_closes)
{
	net_enter_new();

	struct netns host = net_self(), other = net_another(), now;
	struct err e = { 0 };

	ck_assert_int_eq(netns_enter(&other, &e), 0);
	now = net_self();
	ck_assert(netns_same(now.id, other.id));
	ck_assert_int_eq(netns_enter(&host, &e), 0);
	netns_close(&other);
	ck_assert_int_eq(other.fd, -1);
	netns_close(&other);
	ck_assert_int_eq(netns_enter(&other, &e), -1);
	ck_assert_int_eq(e.code, ERR_NETNS);
	ck_assert_int_eq(e.errnum, EBADF);
}
END_TEST

struct visit {
	struct netns_id seen;
	int rc;
};

static int look_around(void *arg, struct err *e)
{
	struct visit *v = arg;

	v->seen = net_self().id;
	return v->rc < 0 ? err_set(e, ERR_BUSY, 0, "inside") : v->rc;
}

START_TEST(runs_in_another_one_and_comes_back)
{
	net_enter_new();

	struct netns host = net_self(), other = net_another(), closed = { .fd = -1 };
	struct visit v = { .rc = 7 };
	struct err e = { 0 };

	ck_assert_int_eq(netns_run(&other, &host, look_around, &v, &e), 7);
	ck_assert(netns_same(v.seen, other.id) && netns_same(net_self().id, host.id));
	v.rc = -1;
	ck_assert_int_eq(netns_run(&other, &host, look_around, &v, &e), -1);
	ck_assert_str_eq(e.msg, "inside");
	ck_assert(netns_same(net_self().id, host.id));
	/* no way there: fn does not run */
	v = (struct visit){ .rc = 7 };
	ck_assert_int_eq(netns_run(&closed, &host, look_around, &v, &e), -1);
	ck_assert_uint_eq(v.seen.ino, 0);
	/* no way back: that is the error, unless fn has one */
	ck_assert_int_eq(netns_run(&other, &closed, look_around, &v, &e), -1);
	ck_assert_int_eq(e.code, ERR_NETNS);
	v.rc = -1;
	ck_assert_int_eq(netns_run(&other, &closed, look_around, &v, &e), -1);
	ck_assert_str_eq(e.msg, "inside");
}
END_TEST

/* The kernel gives out inodes again, and cookies never. */
START_TEST(a_cookie_tells_namespaces_apart)
{
	net_enter_new();

	struct netns a = net_another(), b = net_another();
	auto_netns struct netns again = { .fd = -1 };
	char path[64];
	struct err e = { 0 };

	ck_assert_uint_ne(a.id.cookie, 0);
	ck_assert_uint_ne(a.id.cookie, b.id.cookie);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", a.fd);
	ck_assert_int_eq(netns_open(path, &again, &e), 0);
	ck_assert_uint_eq(again.id.cookie, a.id.cookie);

	const struct netns_id id = { 4, 26, 7 }, later = { 4, 26, 8 }, old = { 4, 26, 0 };
	const struct netns_id other = { 4, 27, 7 };

	ck_assert(netns_same(id, id) && netns_same(id, old) && netns_same(old, id));
	ck_assert(!netns_same(id, later) && !netns_same(id, other));
	ck_assert(netns_reused(id, later));
	ck_assert(!netns_reused(id, id) && !netns_reused(id, old) && !netns_reused(id, other));
	netns_close(&a);
	netns_close(&b);
}
END_TEST

TEST_PROGRAM("netns", runs_in_another_one_and_comes_back, opens_what_is_one,
	     opens_a_name_that_a_namespace_is_mounted_on, a_path_that_is_gone_is_not_found,
	     other_files_are_not_namespaces, the_namespace_of_a_process_that_ends,
	     enters_and_closes, a_cookie_tells_namespaces_apart)

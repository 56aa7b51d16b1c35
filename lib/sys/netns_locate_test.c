/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netns_locate_test.c: shows what proves that a namespace lives or is gone, and what proves
 * nothing.
 */
#include "lib/sys/netns_locate.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"

#define PROC "/mnt/proc"

static struct ctx real(void)
{
	struct ctx ctx;

	ctx_init(&ctx, "test");
	return ctx;
}

/* As if it had been noted by this program, at a path that leads nowhere. */
static struct netns_on_record noted(const struct netns *ns)
{
	const struct ctx ctx = real();

	return (struct netns_on_record){ .path = "/mnt/none",
					 .id = ns->id,
					 .from = netns_view_self(&ctx) };
}

static void lives(const struct netns_on_record *what, const char *by)
{
	const struct ctx ctx = real();
	auto_netns struct netns ns = { .fd = -1 };
	char holder[NETNS_HOLDER_LEN] = "?";
	struct err e = { .msg = "" };

	ck_assert_msg(netns_locate(&ctx, what, &ns, holder, &e) == 1, "%s", e.msg);
	ck_assert(netns_same(ns.id, what->id));
	ck_assert_int_ge(ns.fd, 0);
	ck_assert_msg(strncmp(holder, by, strlen(by)) == 0 && (*by || !*holder), "%s", holder);
}

static int outcome(const struct ctx *ctx, const struct netns_on_record *what, struct err *e)
{
	struct netns ns = { .fd = -7 };
	char holder[NETNS_HOLDER_LEN];
	int rc = netns_locate(ctx, what, &ns, holder, e);

	ck_assert_int_eq(ns.fd, -7);
	return rc;
}

static void gone(const struct netns_on_record *what)
{
	const struct ctx ctx = real();
	struct err e = { .msg = "" };

	ck_assert_msg(outcome(&ctx, what, &e) == 0, "%s", e.msg);
}

static void unknown(const struct ctx *ctx, const struct netns_on_record *what, const char *why)
{
	struct err e;

	ck_assert_int_eq(outcome(ctx, what, &e), -1);
	ck_assert_int_eq(e.code, ERR_NETNS);
	ck_assert_msg(strstr(e.msg, why) || strstr(e.detail, why), "%s; %s", e.msg, e.detail);
}

/* A process that does what work says, and then waits to be killed; it ends with us. */
static pid_t helper(void (*work)(void *arg), void *arg)
{
	int ready[2], stay[2]; /* nothing is ever written to stay */
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(stay), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)close(stay[1]);
		work(arg);
		if (write(ready[1], "", 1) == 1)
			_exit((int)read(stay[0], &byte, 1));
		_exit(1);
	}
	ck_assert_int_eq(close(ready[1]), 0);
	ck_assert_msg(read(ready[0], &byte, 1) == 1, "the helper failed");
	ck_assert_int_eq(close(ready[0]), 0);
	return pid;
}

static void end(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void enter(void *arg)
{
	struct netns *ns = arg;
	struct err e;

	if (netns_enter(ns, &e))
		_exit(1);
	netns_close(ns);
}

static void keep_open(void *arg)
{
	(void)arg;
}

static void *enter_thread(void *arg)
{
	struct err e;

	if (netns_enter(arg, &e))
		_exit(1);
	netns_close(arg);
	return NULL;
}

static void *enter_and_wait(void *arg)
{
	void *const *both = arg;

	(void)enter_thread(both[0]);
	(void)pthread_barrier_wait(both[1]);
	while (pause())
		continue;
	return NULL;
}

static void enter_by_thread(void *arg)
{
	pthread_t thread;
	pthread_barrier_t entered;
	void *both[] = { arg, &entered };

	if (pthread_barrier_init(&entered, NULL, 2) ||
	    pthread_create(&thread, NULL, enter_and_wait, both))
		_exit(1);
	(void)pthread_barrier_wait(&entered);
}

/* The first thread goes; the second says that all is ready, and stays. */
static void *outlive(void *arg)
{
	const int *fds = arg;
	char state[256] = "";

	while (!strstr(state, ") Z ")) {
		auto_fd int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

		if (read(fd, state, sizeof(state) - 1) <= 0)
			_exit(1);
		(void)sched_yield();
	}
	if (write(fds[0], "", 1) == 1)
		_exit((int)read(fds[1], state, 1));
	_exit(1);
}

static pid_t helper_without_first_thread(void)
{
	static int fds[2]; /* the first thread's stack goes */
	int ready[2], stay[2];
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(stay), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		pthread_t thread;

		(void)close(stay[1]);
		fds[0] = ready[1];
		fds[1] = stay[0];
		if (pthread_create(&thread, NULL, outlive, fds))
			_exit(1);
		pthread_exit(NULL);
	}
	ck_assert_int_eq(close(ready[1]), 0);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(close(ready[0]), 0);
	return pid;
}

/* In a mount namespace of its own, at a path with a space. */
static void mount_elsewhere(void *arg)
{
	struct netns *ns = arg;
	char from[64];

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", ns->fd);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("pods", "/mnt", "tmpfs", 0, NULL) ||
	    close(open("/mnt/a pod", O_CREAT | O_RDONLY | O_CLOEXEC, 0600)) ||
	    mount(from, "/mnt/a pod", NULL, MS_BIND, NULL))
		_exit(1);
	netns_close(ns);
}

START_TEST(its_path_leads_there)
{
	net_enter_new();

	struct netns pod = net_another();
	struct netns_on_record what = noted(&pod);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", pod.fd);
	what.path = path;
	lives(&what, "");
	what.path = "/mnt/none";
	what.also = path;
	lives(&what, path);
	what.also = "";
	lives(&what, "a file that process");
	netns_close(&pod);
}
END_TEST

START_TEST(whatever_holds_it_is_found)
{
	static const struct {
		void (*work)(void *arg);
		const char *by;
	} each[] = {
		{ enter, "process" },
		{ enter_by_thread, "process" },
		{ keep_open, "a file that process" },
		{ mount_elsewhere, "mount /mnt/a pod" },
	};

	net_enter_new();
	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		struct netns pod = net_another();
		const struct netns_on_record what = noted(&pod);
		pid_t pid = helper(each[i].work, &pod);

		netns_close(&pod);
		lives(&what, each[i].by);
		end(pid);
		gone(&what);
	}
}
END_TEST

START_TEST(a_process_without_its_first_thread_holds_it)
{
	net_enter_new();

	struct netns pod = net_another();
	const struct netns_on_record what = noted(&pod);
	pid_t pid = helper_without_first_thread();

	netns_close(&pod);
	lives(&what, "a file that process");
	end(pid);
	gone(&what);
}
END_TEST

/* A plain file or a folder at its path proves nothing, and another namespace there neither. */
START_TEST(what_is_at_its_path_does_not_count)
{
	static const char *const paths[] = { "/mnt/file", "/mnt", "/proc/self/ns/net",
					     "/proc/self/ns/uts", "/dev/null" };

	ck_assert_ptr_nonnull(testing_dir());
	testing_file("/mnt/file", 0600, "");
	net_enter_new();
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct netns pod = net_another();
		struct netns_on_record what = noted(&pod);

		what.path = paths[i];
		lives(&what, "a file that process");
		netns_close(&pod);
		gone(&what);
	}
}
END_TEST

/* Then nobody needs to be asked, from wherever we look. */
START_TEST(another_one_with_its_inode_proves_it_gone)
{
	net_enter_new();

	struct netns pod = net_another();
	struct netns_on_record what = noted(&pod);
	char path[64];

	what.id.cookie += 1000;
	what.from = (struct netns_view){ 1, 2 };
	gone(&what);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", pod.fd);
	what.path = path;
	gone(&what);
	what.id.cookie = 0; /* of an earlier version, or of an old kernel */
	lives(&what, "");
	netns_close(&pod);
}
END_TEST

START_TEST(what_cannot_be_looked_at_is_unknown)
{
	const struct ctx ctx = real();

	net_enter_new();

	struct netns pod = net_another();
	struct netns_on_record what = noted(&pod);

	netns_close(&pod);
	ck_assert_ptr_nonnull(testing_dir());
	ck_assert_int_eq(symlink("/mnt/loop", "/mnt/loop"), 0);
	what.from = netns_view_self(&ctx);
	gone(&what);
	what.path = "/mnt/loop";
	unknown(&ctx, &what, "loop");
	what.path = "/none";
	what.id.ino = 0;
	unknown(&ctx, &what, "not known which");
	what.id = pod.id;
	ck_assert_int_eq(seteuid(65534), 0);
	unknown(&ctx, &what, "look at");
	ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* ---- from where it is looked ---- */

static void link_to(const char *path, const char *to)
{
	(void)unlink(path);
	ck_assert_int_eq(symlink(to, path), 0);
}

static void look_from(const char *pid, const char *mnt, const char *mnt_of_1)
{
	link_to(PROC "/self/ns/pid", pid);
	link_to(PROC "/1/ns/mnt", mnt_of_1);
	link_to(PROC "/self/ns/mnt", mnt);
}

/* A /proc in which nobody holds anything. */
static struct ctx empty_proc(void)
{
	static const char *const folders[] = { PROC, PROC "/1", PROC "/1/ns", PROC "/self",
					       PROC "/self/ns" };
	struct ctx ctx = real();

	ck_assert_ptr_nonnull(testing_dir());
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		ck_assert_int_eq(mkdir(folders[i], 0700), 0);
	ctx.proc = PROC;
	return ctx;
}

static void proved(const struct ctx *ctx, const struct netns_on_record *what)
{
	struct err e = { .msg = "" };

	ck_assert_msg(outcome(ctx, what, &e) == 0, "%s; %s", e.msg, e.detail);
}

START_TEST(who_does_not_see_the_host_proves_nothing)
{
	const struct ctx ctx = empty_proc();
	struct netns_on_record what = { .path = "/mnt/none",
					.id = { 4, 4026532000, 9 },
					.from = { 77, 5 } };

	look_from("pid:[77]", "mnt:[5]", "mnt:[5]");
	proved(&ctx, &what);
	look_from("pid:[77]", "mnt:[5]", "mnt:[6]"); /* a runtime with mounts of its own */
	proved(&ctx, &what);
	look_from("pid:[77]", "mnt:[6]", "mnt:[6]"); /* from the host, after such a runtime */
	proved(&ctx, &what);
	look_from("pid:[4026531836]", "mnt:[6]", "mnt:[6]");
	proved(&ctx, &what);
	look_from("pid:[77]", "mnt:[7]", "mnt:[6]");
	unknown(&ctx, &what, "mounts");
	look_from("pid:[78]", "mnt:[5]", "mnt:[5]"); /* a container's own process 1 */
	unknown(&ctx, &what, "processes");
	look_from("pid:[77]", "rubbish", "rubbish");
	unknown(&ctx, &what, "mounts");
}
END_TEST

/* The daemon of Multus after an update: its own mounts are new, and it sees those of process 1. */
START_TEST(mounts_of_process_1_may_be_read_from_elsewhere)
{
	const struct ctx ctx = empty_proc();
	struct netns_on_record what = { .path = "/mnt/none",
					.id = { 4, 4026532000, 9 },
					.from = { 77, 5 } };

	look_from("pid:[77]", "mnt:[7]", "mnt:[6]");
	link_to(PROC "/1/root", "/");
	unknown(&ctx, &what, "mounts");
	testing_file(PROC "/1/mountinfo", 0600, "");
	unknown(&ctx, &what, "mounts");
	testing_file(PROC "/1/mountinfo", 0600, "20 1 0:1 / / rw - tmpfs none rw\n");
	proved(&ctx, &what);
	what.from.pid_ns = 78;
	unknown(&ctx, &what, "processes");
	what.from.pid_ns = 77;
	link_to(PROC "/1/root", "/jail"); /* then there may be more */
	unknown(&ctx, &what, "mounts");
}
END_TEST

/* A record of an earlier version does not say from where: only who sees all processes knows. */
START_TEST(what_was_noted_by_an_earlier_version)
{
	const struct ctx ctx = empty_proc();
	const struct netns_on_record what = { .path = "/mnt/none", .id = { 4, 4026532000, 0 } };

	look_from("pid:[4026531836]", "mnt:[6]", "mnt:[6]");
	proved(&ctx, &what);
	look_from("pid:[4026531836]", "mnt:[5]", "mnt:[6]");
	unknown(&ctx, &what, "nsenter -t 1 -m");
	look_from("pid:[77]", "mnt:[6]", "mnt:[6]");
	unknown(&ctx, &what, "processes");
}
END_TEST

TEST_PROGRAM("netns_locate", its_path_leads_there, whatever_holds_it_is_found,
	     a_process_without_its_first_thread_holds_it, what_is_at_its_path_does_not_count,
	     another_one_with_its_inode_proves_it_gone, what_cannot_be_looked_at_is_unknown,
	     who_does_not_see_the_host_proves_nothing,
	     mounts_of_process_1_may_be_read_from_elsewhere, what_was_noted_by_an_earlier_version)

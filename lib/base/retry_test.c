/* SPDX-License-Identifier: Apache-2.0 */
/* retry_test.c: shows that a system call that answers the same error each time ends in an error. */
#include "lib/base/retry.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "lib/sys/exec.h"
#include "lib/sys/fs.h"
#include "lib/sys/lock.h"
#include "lib/base/log.h"
#include "lib/net/link.h"
#include "lib/net/monitor.h"
#include "lib/device/sysfs.h"
#include "lib/testing/testing.h"
#include "lib/testing/syscall.h"

#ifdef SYS_poll
#define POLL SYS_poll
#else
#define POLL SYS_ppoll
#endif

static int reads(struct err *e)
{
	char *text = NULL;

	return (int)fs_read_at(AT_FDCWD, "/proc/self/stat", 65536, &text, e);
}

static int writes(struct err *e)
{
	auto_fd int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	return fs_write_fd(fd, "x", 1, e);
}

static int logs(struct err *e)
{
	const struct log log = { .fd = STDERR_FILENO, .level = LOG_LEVEL_INFO, .tag = "t" };

	(void)e;
	log_info(&log, "a line");
	return -1;
}

static int reads_sysfs(struct err *e)
{
	char text[64];

	return sysfs_read("/proc", "sys/kernel/ostype", text, sizeof(text), e);
}

static int writes_sysfs(struct err *e)
{
	return sysfs_write("/dev", "null", "x", e);
}

static int opens_below(struct err *e)
{
	auto_fd int dir = open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd int fd = fs_openat2(dir, "null", O_RDONLY | O_CLOEXEC, 0);

	return fd < 0 ? err_set(e, ERR_IO, errno, "openat2") : 0;
}

static int locks(struct err *e)
{
	auto_fd int dir = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return lock_name(dir, "retry-test", true, 50, e);
}

static int runs(struct err *e)
{
	static char *const env[] = { NULL };
	const struct exec_req req = {
		.path = "/bin/true", .envp = env, .input = "", .timeout_ms = 20000
	};
	struct exec_child c = { .out_fd = -1 };
	struct exec_result res;

	return exec_start(&req, &c, e) || exec_finish(&c, &res, e) ? -1 : 0;
}

static int asks_netlink(struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct link_info link;

	return nl_open(&nl, e) || nl_link_by_name(nl, "lo", &link, e) ? -1 : 0;
}

static int monitors(struct err *e)
{
	auto_nl_monitor struct nl_monitor *mon = NULL;

	if (nl_monitor_open(NL_WATCH_LINKS, &mon, e))
		return 0;
	/* the deadline ends it, whatever poll() says */
	return nl_monitor_next(mon, 1, 0, e) ? 0 : -1;
}

START_TEST(interrupted_for_ever)
{
	static const struct {
		int nr;
		int (*fn)(struct err *e);
	} cases[] = {
		{ SYS_read, reads },          { SYS_write, writes },
		{ SYS_write, logs },          { SYS_read, reads_sysfs },
		{ SYS_write, writes_sysfs },  { SYS_openat2, opens_below },
		{ SYS_fcntl, locks },         { SYS_wait4, runs },
		{ SYS_read, runs },           { POLL, runs },
		{ SYS_sendto, asks_netlink }, { SYS_recvfrom, asks_netlink },
		{ POLL, monitors },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(!testing_fail_syscall(cases[i].nr, EINTR, cases[i].fn), "case %zu",
			      i);
}
END_TEST

START_TEST(other_errors_for_ever)
{
	ck_assert(!testing_fail_syscall(SYS_read, EAGAIN, runs));
	ck_assert(!testing_fail_syscall(SYS_openat2, EAGAIN, opens_below));
	ck_assert(!testing_fail_syscall(SYS_fcntl, EAGAIN, locks));
	ck_assert(!testing_fail_syscall(SYS_recvfrom, ENOBUFS, asks_netlink));
	ck_assert(!testing_fail_syscall(SYS_recvfrom, EAGAIN, asks_netlink));
}
END_TEST

START_TEST(a_few_interruptions_are_nothing)
{
	unsigned tries = 0;

	errno = EINTR;
	for (int i = 0; i < 100; i++)
		ck_assert(retry_interrupted(&tries));
	errno = EIO;
	ck_assert(!retry_interrupted(&tries));
}
END_TEST

TEST_PROGRAM("retry", interrupted_for_ever, other_errors_for_ever, a_few_interruptions_are_nothing)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netns_ioctl_test.c: shows that a failed call on a namespace is an error, and no proof that the
 * namespace is gone.
 */
#include "lib/sys/netns.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/testing/testing.h"

static void refuse(unsigned nr, unsigned errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_SIZE(code), code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

struct refusal {
	unsigned nr, errnum;
	int want;
};

/* In a process of its own: a filter stays for as long as a process lives. */
static bool answers(const struct refusal *x)
{
	struct netns ns = { .fd = -1 };
	struct err e = { .errnum = 0 };
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		refuse(x->nr, x->errnum);
		_exit(netns_open("/proc/self/ns/net", &ns, &e) == -1 && e.errnum == x->want &&
				      ns.fd == -1
			      ? 0
			      : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A DEL that took it for ENOENT or EINVAL would leave the interface behind. */
START_TEST(a_failing_call_is_not_a_missing_namespace)
{
	static const struct refusal cases[] = {
		{ SYS_ioctl, EPERM, EPERM },     { SYS_ioctl, EINVAL, EIO },
		{ SYS_ioctl, ENOENT, EIO },      { SYS_setns, EINVAL, EIO },
		{ SYS_setns, ESRCH, EIO },       { SYS_setns, EMFILE, EMFILE },
		{ SYS_getsockopt, EINVAL, EIO }, { SYS_socket, EINVAL, EIO },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(answers(&cases[i]), "case %zu", i);
}
END_TEST

/* setns(), but only with this descriptor. */
static void refuse_setns_to(unsigned fd, unsigned errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setns, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, fd, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_SIZE(code), code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* The thread is in the namespace then, so it exists. */
START_TEST(a_failed_return_is_not_a_missing_namespace)
{
	int status, next = dup(0);
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct netns ns = { .fd = -1 };
		struct err e = { .errnum = 0 };

		/* The namespace has the next free descriptor, the way back the one after it. */
		(void)close(next);
		refuse_setns_to((unsigned)next + 1, EINVAL);
		_exit(netns_open("/proc/self/ns/net", &ns, &e) == -1 && e.errnum == EIO &&
				      strstr(e.msg, "return")
			      ? 0
			      : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	(void)close(next);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

TEST_PROGRAM("netns_ioctl", a_failing_call_is_not_a_missing_namespace,
	     a_failed_return_is_not_a_missing_namespace)

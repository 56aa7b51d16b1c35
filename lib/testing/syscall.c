/* SPDX-License-Identifier: Apache-2.0 */
/* syscall.c: runs a function in a process where one system call always fails. */
#include "lib/testing/syscall.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"

static int filter(int nr, int errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { ARRAY_SIZE(code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

bool testing_fail_syscall(int nr, int errnum, int (*fn)(struct err *e))
{
	struct err e = { .msg = "" };
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)alarm(60);
		_exit(filter(nr, errnum) ? 2 : fn(&e) != 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "system call %d: signal %d", nr, WTERMSIG(status));
	ck_assert_int_ne(WEXITSTATUS(status), 2);
	return WEXITSTATUS(status) == 0;
}

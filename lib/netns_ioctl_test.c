/* SPDX-License-Identifier: Apache-2.0 */
/* netns_ioctl_test.c: ioctl() fails, as the kernel may: that says nothing about the namespace. */
#include "lib/netns.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/testing.h"

static void refuse_ioctl(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_SIZE(code), code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* A DEL that took it for ENOENT or EINVAL would leave the interface behind. */
START_TEST(a_failing_ioctl_is_not_a_missing_namespace)
{
	struct netns ns = { .fd = -1 };
	struct err e;

	refuse_ioctl();
	ck_assert_int_eq(netns_open("/proc/self/ns/net", &ns, &e), -1);
	ck_assert_int_eq(e.errnum, EPERM);
	ck_assert_int_eq(ns.fd, -1);
}
END_TEST

TEST_PROGRAM("netns_ioctl", a_failing_ioctl_is_not_a_missing_namespace)

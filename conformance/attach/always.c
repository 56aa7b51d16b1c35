/* SPDX-License-Identifier: Apache-2.0 */
/* always.c: always CALL ERRNO PROGRAM: run a program in which one system call fails every time. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name)                                                                                 \
	{                                                                                          \
#name, SYS_##name                                                                  \
	}

static const struct {
	const char *name;
	int number;
} calls[] = {
	CALL(read),     CALL(write),     CALL(fcntl),           CALL(sendto),
	CALL(recvfrom), CALL(wait4),     CALL(openat),          CALL(pread64),
	CALL(pwrite64), CALL(nanosleep), CALL(clock_nanosleep), CALL(fallocate),
#ifdef SYS_poll
	CALL(poll),
#else
	{ "poll", SYS_ppoll },
#endif
};

static int number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	}
	return -1;
}

static int filter(int number, int errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

int main(int argc, char **argv)
{
	int number = argc == 4 ? number_of(argv[1]) : -1;

	if (number < 0) {
		fprintf(stderr, "usage: always CALL EINTR|EAGAIN PROGRAM\n");
		return 2;
	}
	if (filter(number, strcmp(argv[2], "EINTR") == 0 ? EINTR : EAGAIN)) {
		perror("always");
		return 2;
	}
	execl(argv[3], argv[3], (char *)NULL);
	perror(argv[3]);
	return 2;
}

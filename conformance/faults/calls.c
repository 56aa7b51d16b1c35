/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c: the system calls of a run, and the plausible errnos of each. "" is a call that cannot
 * fail with the arguments that programs use: it is only a point for SIGKILL.
 *
 * A call that is not here makes the planning fail, so the table keeps up with the programs.
 */
#include "conformance/faults/faults.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#define PATH_ERRNOS "EACCES ENOMEM EIO"

struct known {
	long nr;
	const char *name, *errnos;
};
#define CALL(name, errnos)                                                                         \
	{                                                                                          \
		SYS_##name, #name, errnos                                                          \
	}

static const struct known known[] = {
	/* files */
	CALL(openat, "ENOENT EACCES EMFILE ENFILE EROFS ENOSPC EIO EINTR ENOMEM"),
	CALL(openat2, "ENOENT EACCES EMFILE ENFILE ENOSYS EIO EINTR ENOMEM"),
	CALL(close, "EIO EINTR"),
	CALL(close_range, "ENOSYS EPERM"),
	CALL(read, "EIO EINTR EAGAIN"),
	CALL(pread64, "EIO EINTR"),
	CALL(write, "ENOSPC EIO EINTR EDQUOT"),
	CALL(writev, "ENOSPC EIO EINTR EDQUOT"),
	CALL(pwrite64, "ENOSPC EIO EINTR EDQUOT"),
	CALL(pwritev, "ENOSPC EIO EINTR EDQUOT"),
	CALL(lseek, "EIO"),
	CALL(newfstatat, "ENOENT EACCES ENOMEM EIO"),
	CALL(fstat, "EIO ENOMEM"),
	CALL(statx, "ENOENT EACCES ENOMEM EIO"),
	CALL(statfs, "ENOENT " PATH_ERRNOS),
	CALL(fstatfs, "EIO ENOMEM"),
	CALL(fsync, "EIO ENOSPC EDQUOT"),
	CALL(fdatasync, "EIO ENOSPC EDQUOT"),
	CALL(msync, "EIO ENOMEM"),
	CALL(ftruncate, "ENOSPC EIO EINTR EFBIG"),
	CALL(fallocate, "ENOSPC EIO EINTR EOPNOTSUPP"),
	CALL(fchmod, "EPERM EROFS EIO"),
	CALL(mkdirat, "ENOSPC EROFS EDQUOT " PATH_ERRNOS),
	CALL(linkat, "ENOSPC EROFS EDQUOT EPERM ENOENT " PATH_ERRNOS),
	CALL(unlinkat, "EROFS EPERM EBUSY " PATH_ERRNOS),
	CALL(renameat, "ENOSPC EROFS EDQUOT " PATH_ERRNOS),
	CALL(renameat2, "ENOSPC EROFS EDQUOT EINVAL " PATH_ERRNOS),
	CALL(readlinkat, "ENOENT " PATH_ERRNOS),
	CALL(faccessat2, "ENOENT ENOSYS " PATH_ERRNOS),
	CALL(getdents64, "EIO ENOMEM ENOENT"),
	CALL(fcntl, "ENOLCK EAGAIN EINTR EMFILE"),
	CALL(ioctl, "ENOTTY EPERM EINTR"),
	CALL(memfd_create, "ENOMEM EMFILE ENFILE EINVAL EACCES"),
	CALL(pipe2, "EMFILE ENFILE"),
	CALL(dup3, "EMFILE EBUSY EINTR"),
	CALL(flock, "ENOLCK EINTR EAGAIN"),
	CALL(getcwd, "ENOENT"),
	/* the network */
	CALL(socket, "EMFILE ENFILE ENOBUFS ENOMEM EACCES EAFNOSUPPORT"),
	CALL(getsockopt, "ENOPROTOOPT ENOBUFS"),
	CALL(setsockopt, "ENOPROTOOPT ENOMEM EPERM"),
	CALL(bind, "ENOMEM EADDRINUSE EADDRNOTAVAIL"),
	CALL(connect, "ECONNREFUSED EINTR ENOENT"),
	CALL(getsockname, "ENOBUFS"),
	CALL(sendto, "ENOBUFS ENOMEM EINTR EPERM"),
	CALL(sendmsg, "ENOBUFS ENOMEM EINTR EPERM"),
	CALL(recvfrom, "ENOBUFS ENOMEM EINTR EAGAIN"),
	CALL(recvmsg, "ENOBUFS ENOMEM EINTR EAGAIN"),
	CALL(ppoll, "EINTR ENOMEM"),
	CALL(setns, "EPERM ENOMEM EINVAL"),
	/* memory */
	CALL(brk, "ENOMEM"),
	CALL(mmap, "ENOMEM EAGAIN ENFILE"),
	CALL(munmap, "ENOMEM"),
	CALL(mremap, "ENOMEM EAGAIN"),
	CALL(mprotect, "ENOMEM"),
	CALL(madvise, "ENOMEM EINVAL EAGAIN"),
	/* processes */
	CALL(clone, "EAGAIN ENOMEM"),
	CALL(clone3, "EAGAIN ENOMEM ENOSYS"),
	CALL(execve, "ENOENT EACCES ENOEXEC ENOMEM ETXTBSY EMFILE EIO"),
	CALL(wait4, "EINTR"),
	CALL(waitid, "EINTR"),
	CALL(pidfd_open, "ENOSYS EMFILE ENOMEM"),
	CALL(prctl, "EPERM EINVAL"),
	CALL(prlimit64, "EPERM"),
	CALL(kill, "EPERM"),
	CALL(setpgid, "EPERM"),
	CALL(getrandom, "EINTR EAGAIN ENOSYS"),
	CALL(set_robust_list, "ENOSYS"),
	CALL(rseq, "ENOSYS EPERM"),
	CALL(clock_nanosleep, "EINTR"),
	CALL(futex, "EINTR"),
	CALL(uname, ""),
	CALL(getpid, ""),
	CALL(gettid, ""),
	CALL(getppid, ""),
	CALL(geteuid, ""),
	CALL(getuid, ""),
	CALL(set_tid_address, ""),
	CALL(rt_sigaction, ""),
	CALL(rt_sigprocmask, ""),
	CALL(rt_sigreturn, ""),
	CALL(clock_gettime, ""),
	CALL(exit_group, ""),
	CALL(sched_yield, ""),
	CALL(setitimer, ""),
#ifdef __x86_64__
	CALL(arch_prctl, ""),
	CALL(alarm, ""),
	CALL(readlink, "ENOENT " PATH_ERRNOS),
	CALL(poll, "EINTR ENOMEM"),
	CALL(dup2, "EMFILE EBUSY EINTR"),
	CALL(vfork, "EAGAIN ENOMEM"),
	CALL(open, "ENOENT EACCES EMFILE ENFILE EROFS ENOSPC EIO EINTR"),
	CALL(access, "EACCES ENOENT"),
#endif
	{ CALL_MALLOC, "malloc", "ENOMEM" },
	{ CALL_CLOCK, "clock", "" },
};

static const struct known *find(long nr)
{
	for (size_t i = 0; i < COUNT(known); i++) {
		if (known[i].nr == nr)
			return &known[i];
	}
	return NULL;
}

const char *call_name(long nr)
{
	const struct known *k = find(nr);

	return k ? k->name : NULL;
}

const char *call_errnos(long nr)
{
	const struct known *k = find(nr);

	return k ? k->errnos : "";
}

long call_number(const char *name)
{
	for (size_t i = 0; i < COUNT(known); i++) {
		if (strcmp(known[i].name, name) == 0)
			return known[i].nr;
	}
	return -1;
}

int errno_number(const char *name)
{
	for (int n = 1; n < 200; n++) {
		const char *s = strerrorname_np(n);
		if (s && strcmp(s, name) == 0)
			return n;
	}
	return 0;
}

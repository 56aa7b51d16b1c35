/* SPDX-License-Identifier: Apache-2.0 */
/* registers.c: skip a stopped system call or replace its result, on x86-64 and on arm64. */
#include "conformance/faults/registers.h"

#include <elf.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#if defined(__x86_64__)

void registers_skip(pid_t pid)
{
	(void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), -1L);
}

void registers_return(pid_t pid, long value)
{
	(void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax), value);
}

#elif defined(__aarch64__)

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif

void registers_skip(pid_t pid)
{
	int none = -1;
	struct iovec v = { &none, sizeof(none) };

	(void)ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &v);
}

void registers_return(pid_t pid, long value)
{
	struct user_regs_struct r;
	struct iovec v = { &r, sizeof(r) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v))
		return;
	r.regs[0] = (unsigned long long)value;
	(void)ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &v);
}

#else
_Static_assert(0, "say here how a system call is skipped on this processor");
#endif

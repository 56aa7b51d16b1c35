/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.c: linked into the programs of build/faults/ only. Each allocation, and each read of the
 * wall clock, first makes a system call without a meaning. Without a tracer the kernel answers
 * EINVAL and nothing changes. A tracer replaces the answer: an allocation fails, or the clock is
 * wrong.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "conformance/faults/lane/wrap.h"

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
int __real_clock_gettime(clockid_t id, struct timespec *ts);

/* Allocations of the C library before main() are not part of the test. */
static int begun;

__attribute__((constructor)) static void begin(void)
{
	begun = 1;
}

static int refused(void)
{
	int errnum = errno;

	if (begun && syscall(SYS_getpriority, ASK_MALLOC, 0) < 0 && errno == ENOMEM)
		return 1;
	errno = errnum;
	return 0;
}

void *__wrap_malloc(size_t size)
{
	return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return refused() ? NULL : __real_realloc(p, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return refused() ? NULL : __real_reallocarray(p, n, size);
}

char *__wrap_strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = __wrap_malloc(len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *__wrap_strdup(const char *s)
{
	return __wrap_strndup(s, strlen(s));
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	int errnum = errno;
	int rc = __real_clock_gettime(id, ts);

	if (rc || id != CLOCK_REALTIME)
		return rc;
	long days = syscall(SYS_getpriority, ASK_CLOCK, 0);
	if (days >= 0)
		ts->tv_sec = (days - CLOCK_ZERO) * 86400L + (ts->tv_sec % 86400);
	errno = errnum;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.c: linked into the programs of build/faults/ alone: each allocation, and each look at the
 * wall clock, asks first, with a system call that means nothing. Without a tracer the kernel
 * answers EINVAL and all is as ever; a tracer answers for it and so fails one allocation or turns
 * the clock.
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

/* What the C library allocates before it calls us is its own matter. */
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

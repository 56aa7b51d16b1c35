/* SPDX-License-Identifier: Apache-2.0 */
/* time.c: replaces the clock and nanosleep(), so that a wait takes no time. */
#include "lib/testing/time.h"

#include <stdbool.h>
#include <time.h>

#include "lib/base/ctx.h"

int64_t __real_ctx_mono_ms(void);
int __real_nanosleep(const struct timespec *want, struct timespec *left);
int64_t __wrap_ctx_mono_ms(void);
int __wrap_nanosleep(const struct timespec *want, struct timespec *left);

/* What nanosleep() calls cannot be handed a context. */
static struct {
	bool on;
	int64_t ns;
	void (*fn)(int64_t ms);
} gone;

void faketime_begin(void (*fn)(int64_t ms))
{
	gone.ns = 0;
	gone.fn = fn;
	gone.on = true;
}

int64_t faketime_gone(void)
{
	return gone.ns / 1000000;
}

int64_t __wrap_ctx_mono_ms(void)
{
	return gone.on ? 1000000 + faketime_gone() : __real_ctx_mono_ms();
}

int __wrap_nanosleep(const struct timespec *want, struct timespec *left)
{
	if (!gone.on)
		return __real_nanosleep(want, left);
	gone.ns += want->tv_sec * 1000000000 + want->tv_nsec;
	if (gone.fn)
		gone.fn(faketime_gone());
	return 0;
}

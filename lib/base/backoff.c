/* SPDX-License-Identifier: Apache-2.0 */
/* backoff.c: pauses between questions. */
#include "lib/base/backoff.h"

#include <time.h>

#include "lib/base/ctx.h"

#define FIRST_MS 1
#define LAST_MS  32

struct backoff backoff_until(int64_t until_ms)
{
	return (struct backoff){ .until_ms = until_ms, .pause_ms = FIRST_MS };
}

struct backoff backoff_for(int64_t ms)
{
	return backoff_until(ctx_mono_ms() + ms);
}

bool backoff_pause(struct backoff *p)
{
	const int64_t left = p->until_ms - ctx_mono_ms();
	const int64_t pause = p->pause_ms < left ? p->pause_ms : left;

	if (left <= 0)
		return false;
	(void)nanosleep(&(struct timespec){ .tv_nsec = pause * 1000000 }, NULL);
	p->pause_ms = p->pause_ms < LAST_MS ? p->pause_ms * 2 : LAST_MS;
	return true;
}

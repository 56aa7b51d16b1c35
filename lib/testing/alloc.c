/* SPDX-License-Identifier: Apache-2.0 */
/* alloc.c: makes the n-th allocation fail, for every n in turn, and counts leaks. */
#include "lib/testing/alloc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIVE_MAX 65536 /* more at once is taken for a leak */
#define CALL_MAX 100000

/* The linker's --wrap sends malloc() to __wrap_malloc() and __real_malloc() to malloc(). */
void *__real_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t max);
void __wrap_free(void *p);

/* A function that malloc() calls cannot be handed a context. */
static struct {
	bool on, paused, failed;
	unsigned calls, fail_at;
	size_t live;
	uintptr_t blocks[LIVE_MAX];
} state;

void alloc_fail_begin(unsigned n)
{
	state.failed = false;
	state.calls = 0;
	state.fail_at = n;
	state.live = 0;
	state.on = true;
	state.paused = false;
}

void alloc_fail_pause(bool pause)
{
	state.paused = pause;
}

struct alloc_count alloc_fail_end(void)
{
	state.on = false;
	return (struct alloc_count){ state.calls, state.failed, state.live };
}

static bool refused(void)
{
	if (!state.on || state.paused || ++state.calls != state.fail_at)
		return false;
	state.failed = true;
	errno = ENOMEM;
	return true;
}

static void *note(void *p)
{
	if (state.on && !state.paused && p && state.live < LIVE_MAX)
		state.blocks[state.live++] = (uintptr_t)p;
	return p;
}

static void forget(uintptr_t p)
{
	for (size_t i = state.live; p && i-- > 0;) {
		if (state.blocks[i] != p)
			continue;
		state.blocks[i] = state.blocks[--state.live];
		return;
	}
}

void *__wrap_malloc(size_t size)
{
	return refused() ? NULL : note(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all) || refused())
		return NULL;
	void *p = note(__real_malloc(all));
	return p ? memset(p, 0, all) : NULL;
}

void *__wrap_realloc(void *p, size_t size)
{
	uintptr_t old = (uintptr_t)p;

	if (refused())
		return NULL;
	void *new = __real_realloc(p, size);
	if (new)
		forget(old);
	return note(new);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	size_t all;

	return __builtin_mul_overflow(n, size, &all) ? NULL : __wrap_realloc(p, all);
}

char *__wrap_strndup(const char *s, size_t max)
{
	size_t len = strnlen(s, max);
	char *p = __wrap_malloc(len + 1);

	if (!p)
		return NULL;
	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *__wrap_strdup(const char *s)
{
	return __wrap_strndup(s, strlen(s));
}

void __wrap_free(void *p)
{
	forget((uintptr_t)p);
	__real_free(p);
}

/* NULL when the call did as it must. */
static const char *judge(int rc, const struct err *e, struct alloc_count c)
{
	if (c.calls == 0)
		return "made no allocation that could be seen";
	if (rc == 0 && c.failed)
		return "succeeded although an allocation failed";
	if (rc != 0 && !c.failed)
		return "failed although all allocations succeeded";
	if (rc != 0 && e->msg[0] && e->code != ERR_NOMEM)
		return "did not say ERR_NOMEM";
	return c.live > 0 ? "leaked memory" : NULL;
}

const char *alloc_fail_each(int (*fn)(void *arg, struct err *e), void *arg)
{
	static char why[1024];
	struct alloc_count c = { .failed = true };
	struct err e;

	for (unsigned n = 1; c.failed && n < CALL_MAX; n++) {
		memset(&e, 0, sizeof(e));
		alloc_fail_begin(n);
		int rc = fn(arg, &e);
		c = alloc_fail_end();
		const char *wrong = judge(rc, &e, c);
		if (!wrong)
			continue;
		(void)snprintf(why, sizeof(why), "%s (failing allocation %u of %u; %zu live; %s)",
			       wrong, n, c.calls, c.live, e.msg);
		return why;
	}
	return "ok";
}

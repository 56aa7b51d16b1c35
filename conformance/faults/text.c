/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/faults/faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void die(const char *fmt, ...)
{
	va_list ap;

	(void)fputs("faults: ", stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	exit(2);
}

static void reserve(struct text *t, size_t more)
{
	if (t->p && t->len + more + 1 <= t->room)
		return;
	t->room = (t->len + more + 1) * 2;
	t->p = realloc(t->p, t->room);
	if (!t->p)
		die("out of memory");
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		die("vsnprintf");
	reserve(t, (size_t)n);
	(void)vsnprintf(t->p + t->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)n;
}

void text_free(struct text *t)
{
	free(t->p);
	*t = (struct text){ .p = NULL };
}

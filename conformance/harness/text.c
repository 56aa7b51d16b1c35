/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: text that grows, and the end of a program that cannot go on. */
#include "conformance/harness/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void die(const char *fmt, ...)
{
	va_list ap;

	(void)fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	exit(2);
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
	if (!t->p || t->len + (size_t)n + 1 > t->cap) {
		t->cap = (t->len + (size_t)n + 1) * 2;
		t->p = realloc(t->p, t->cap);
		if (!t->p)
			die("out of memory");
	}
	(void)vsnprintf(t->p + t->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)n;
}

void text_hex(struct text *t, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		text_add(t, "%02x", p[i]);
}

void text_free(struct text *t)
{
	free(t->p);
	*t = (struct text){ .p = NULL };
}

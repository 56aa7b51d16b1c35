/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: builds a string piece by piece, and remembers a failure until the end. */
#include "lib/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

/* Room for len more bytes and the NUL. */
static bool has_room(struct text *t, size_t len)
{
	struct err ignored; /* failed is all that a caller hears */
	size_t n = t->s ? t->len + 1 : 0, more = t->s ? len : len + 1;

	if (t->failed || len >= TEXT_MAX ||
	    ARRAY_GROW_BY(t->s, n, more, TEXT_MAX, "bytes of text", &ignored))
		t->failed = true;
	return !t->failed;
}

void text_add_len(struct text *t, const char *s, size_t len)
{
	if (!has_room(t, len))
		return;
	memcpy(t->s + t->len, s, len);
	t->len += len;
	t->s[t->len] = '\0';
}

void text_add(struct text *t, const char *s)
{
	if (s)
		text_add_len(t, s, strlen(s));
	else
		t->failed = true;
}

void text_addf(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		t->failed = true;
	if (len < 0 || !has_room(t, (size_t)len))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(t->s + t->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)len;
}

char *text_take(struct text *t)
{
	text_add(t, "");
	if (t->failed)
		return NULL;
	t->len = 0;
	return TAKE_PTR(t->s);
}

void text_clear(struct text *t)
{
	free(t->s);
	*t = (struct text){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h: text that grows.
 *
 * A failure is kept: nothing is added behind it, and one look at failed at the end is enough.
 */
#ifndef RAILHEAD_LIB_BASE_TEXT_H
#define RAILHEAD_LIB_BASE_TEXT_H

#include "lib/base/base.h"

#define TEXT_MAX ((size_t)64 << 20) /* bytes, with the NUL */

struct text {
	char *s;     /* owned; NULL: nothing was added, not even "" */
	size_t len;  /* without the NUL */
	bool failed; /* no memory, or more than TEXT_MAX */
};

/* text_add_len - add len bytes. text_add - a string; NULL is a failure, as of strdup(). */
void text_add_len(struct text *t, const char *s, size_t len);
void text_add(struct text *t, const char *s);

/* text_addf - add formatted text of any length. */
void text_addf(struct text *t, const char *fmt, ...) printf_like(2, 3);

/* text_take - hand over the string, "" when nothing was added; NULL after a failure. */
char *text_take(struct text *t);

void text_clear(struct text *t);
#define auto_text auto_clean(text_clear)

#endif

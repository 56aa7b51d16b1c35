/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"

static const char ellipsis[] = "...";

/* Text growing in a fixed buffer; what did not fit is remembered in cut. */
struct text {
	char *buf;
	size_t size, len;
	bool cut;
};

static void printf_like(2, 0) text_vadd(struct text *t, const char *fmt, va_list ap)
{
	size_t cap = t->size - t->len;
	int n = vsnprintf(t->buf + t->len, cap, fmt, ap);

	if (n < 0) {
		t->buf[t->len] = '\0';
		t->cut = true;
	} else if ((size_t)n >= cap) {
		t->len = t->size - 1;
		t->cut = true;
	} else {
		t->len += (size_t)n;
	}
}

static void printf_like(2, 3) text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_vadd(t, fmt, ap);
	va_end(ap);
}

/*
 * Errors are printed as JSON and logged as one line, whatever bytes a file name or an environment
 * variable brought into them.
 */
static void text_tidy(char *s, size_t len, bool multi_line)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if ((c < 0x20 || c == 0x7f) && !(multi_line && c == '\n'))
			s[i] = '?';
	}
	for (size_t i = 0; (i += utf8_prefix(s + i, len - i)) < len; i++)
		s[i] = '?';
}

static void text_end(struct text *t, bool multi_line)
{
	if (t->cut) {
		size_t cap = t->size - sizeof(ellipsis);
		size_t at = t->len < cap ? t->len : cap;

		/* not between the bytes of one character, of which there are four at most */
		for (int i = 0; i < 3 && at > 0 && (t->buf[at] & 0xc0) == 0x80; i++)
			at--;
		memcpy(t->buf + at, ellipsis, sizeof(ellipsis));
		t->len = at + sizeof(ellipsis) - 1;
	}
	text_tidy(t->buf, t->len, multi_line);
}

/* The new text is made aside, because arguments may point into the old one. */
int err_set(struct err *e, enum err_code code, int errnum, const char *fmt, ...)
{
	char buf[sizeof(e->msg)] = "";
	struct text t = { .buf = buf, .size = sizeof(buf) };
	va_list ap;

	va_start(ap, fmt);
	text_vadd(&t, fmt, ap);
	va_end(ap);
	if (errnum) {
		char reason[128];

		text_add(&t, ": %s", strerror_r(errnum, reason, sizeof(reason)));
	}
	text_end(&t, false);

	e->code = code;
	e->errnum = errnum;
	memcpy(e->msg, buf, t.len + 1);
	e->detail[0] = '\0';
	return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char buf[sizeof(e->msg)] = "";
	struct text t = { .buf = buf, .size = sizeof(buf) };
	va_list ap;

	va_start(ap, fmt);
	text_vadd(&t, fmt, ap);
	va_end(ap);
	if (e->msg[0])
		text_add(&t, ": %s", e->msg);
	text_end(&t, false);
	memcpy(e->msg, buf, t.len + 1);
	return -1;
}

int err_hint(struct err *e, const char *fmt, ...)
{
	char buf[sizeof(e->detail)] = "";
	struct text t = { .buf = buf, .size = sizeof(buf) };
	va_list ap;

	if (e->detail[0])
		text_add(&t, "%s\n", e->detail);
	va_start(ap, fmt);
	text_vadd(&t, fmt, ap);
	va_end(ap);
	text_end(&t, true);
	memcpy(e->detail, buf, t.len + 1);
	return -1;
}

int err_nomem(struct err *e)
{
	static const char text[] = "out of memory";

	e->code = ERR_NOMEM;
	e->errnum = ENOMEM;
	memcpy(e->msg, text, sizeof(text));
	e->detail[0] = '\0';
	return -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* err.c: error texts in buffers of fixed size. Nothing here allocates memory. */
#include "lib/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"

static const char ellipsis[] = "...";

/* Text growing in a fixed buffer; what did not fit is remembered in cut. */
struct err_text {
	char *buf;
	size_t size, len;
	bool cut;
};

static void printf_like(2, 0) err_text_vadd(struct err_text *t, const char *fmt, va_list ap)
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

static void printf_like(2, 3) err_text_add(struct err_text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_text_vadd(t, fmt, ap);
	va_end(ap);
}

/*
 * Errors are printed as JSON and logged as one line. So control characters and bytes that are not
 * UTF-8, which a file name or an environment variable may contain, become '?'.
 */
static void err_text_end(struct err_text *t, bool multi_line)
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
	for (size_t i = 0; i < t->len; i++) {
		unsigned char c = (unsigned char)t->buf[i];

		if ((c < 0x20 || c == 0x7f) && !(multi_line && c == '\n'))
			t->buf[i] = '?';
	}
	for (size_t i = 0; (i += utf8_prefix(t->buf + i, t->len - i)) < t->len; i++)
		t->buf[i] = '?';
}

/* The new text is made aside, because arguments may point into the old one. */
int err_set(struct err *e, enum err_code code, int errnum, const char *fmt, ...)
{
	char buf[sizeof(e->msg)] = "";
	struct err_text t = { .buf = buf, .size = sizeof(buf) };
	va_list ap;

	va_start(ap, fmt);
	err_text_vadd(&t, fmt, ap);
	va_end(ap);
	if (errnum) {
		char reason[128];

		err_text_add(&t, ": %s", strerror_r(errnum, reason, sizeof(reason)));
	}
	err_text_end(&t, false);

	e->code = code;
	e->errnum = errnum;
	memcpy(e->msg, buf, t.len + 1);
	e->detail[0] = '\0';
	return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char buf[sizeof(e->msg)] = "";
	struct err_text t = { .buf = buf, .size = sizeof(buf) };
	va_list ap;

	va_start(ap, fmt);
	err_text_vadd(&t, fmt, ap);
	va_end(ap);
	if (e->msg[0])
		err_text_add(&t, ": %s", e->msg);
	err_text_end(&t, false);
	memcpy(e->msg, buf, t.len + 1);
	return -1;
}

int err_hint(struct err *e, const char *fmt, ...)
{
	char buf[sizeof(e->detail)] = "";
	struct err_text t = { .buf = buf, .size = sizeof(buf) };
	va_list ap;

	if (e->detail[0])
		err_text_add(&t, "%s\n", e->detail);
	va_start(ap, fmt);
	err_text_vadd(&t, fmt, ap);
	va_end(ap);
	err_text_end(&t, true);
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

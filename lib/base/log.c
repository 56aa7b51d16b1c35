/* SPDX-License-Identifier: Apache-2.0 */
/* log.c: writes one line of fields for each message, in one write. */
#include "lib/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/base/retry.h"

/* A pipe takes a write of this size whole, so lines of parallel programs do not mix (pipe(7)). */
#define LINE_MAX_BYTES 4096
/* Ends a line that was cut; there is always memory for it. */
#define LINE_TAIL "...\"\n"

struct line {
	char buf[LINE_MAX_BYTES];
	size_t len;
	bool cut;
};

static const char *const level_names[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARN] = "warn",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};

static void line_put(struct line *l, const char *s, size_t len)
{
	if (l->cut || len > sizeof(l->buf) - sizeof(LINE_TAIL) - l->len) {
		l->cut = true;
		return;
	}
	memcpy(l->buf + l->len, s, len);
	l->len += len;
}

/* Add the character at s, escaped where need be; returns how many bytes it has. */
static size_t line_put_char(struct line *l, const char *s, size_t len, bool quoted)
{
	bool control = (unsigned char)*s < 0x20 || *s == 0x7f;
	size_t n = control ? 0 : utf8_char(s, len);
	char text[5];

	if (n == 0) {
		(void)snprintf(text, sizeof(text), "\\x%02x", (unsigned char)*s);
		line_put(l, text, 4);
		return 1;
	}
	if (quoted && (*s == '"' || *s == '\\')) {
		(void)snprintf(text, sizeof(text), "\\%c", *s);
		line_put(l, text, 2);
		return 1;
	}
	line_put(l, s, n);
	return n;
}

static void line_put_text(struct line *l, const char *s, bool quoted)
{
	size_t len = strlen(s);

	for (size_t i = 0; i < len && !l->cut;)
		i += line_put_char(l, s + i, len - i, quoted);
}

static void line_put_pair(struct line *l, const char *key, const char *value)
{
	line_put(l, key, strlen(key));
	line_put_text(l, value, false);
	line_put(l, " ", 1);
}

static void line_write(struct line *l, int fd)
{
	const char *tail = l->cut ? LINE_TAIL : "\"\n";
	size_t len = strlen(tail);
	unsigned tries = 0;
	ssize_t n;

	memcpy(l->buf + l->len, tail, len);
	do {
		n = write(fd, l->buf, l->len + len);
	} while (n < 0 && retry_interrupted(&tries));
}

void log_msg(const struct log *log, enum log_level level, const char *fmt, ...)
{
	int saved = errno;
	struct line l = { .len = 0 };
	char text[LINE_MAX_BYTES];
	va_list ap;
	int n;

	if (log->fd < 0 || level > log->level)
		return;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0)
		text[0] = '\0';
	line_put_pair(&l, "level=", level_names[level]);
	line_put_pair(&l, "program=", log->tag);
	if (log->context && log->context[0])
		line_put_pair(&l, "", log->context);
	line_put(&l, "msg=\"", 5);
	line_put_text(&l, text, true);
	line_write(&l, log->fd);
	errno = saved;
}

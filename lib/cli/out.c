/* SPDX-License-Identifier: Apache-2.0 */
/* out.c: prints tables that fit the terminal, JSON documents and errors. */
#include "lib/cli/out.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/base/array.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"

#define USUAL_WIDTH 80
#define PAIR_WIDTH  16

#define CUT_MARK      ".." /* ends what was cut */
#define CUT_MARK_SIZE 2

/* ---- where it goes ---- */

static unsigned terminal_width(int fd)
{
	struct winsize size = { 0 };
	const char *text = getenv("COLUMNS");
	uint64_t n;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	if (text && parse_u64(text, 20, 10000, &n) == 0)
		return (unsigned)n;
	return USUAL_WIDTH;
}

void out_init(struct out *o, FILE *to, bool json, bool no_color)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	*o = (struct out){ .to = to, .json = json, .terminal = isatty(fileno(to)) };
	if (o->terminal)
		o->width = terminal_width(fileno(to));
	o->color = o->terminal && !no_color && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

static const char *const style_codes[] = {
	[OUT_PLAIN] = "",       [OUT_GOOD] = "\033[32m", [OUT_WARN] = "\033[33m",
	[OUT_BAD] = "\033[31m", [OUT_FAINT] = "\033[2m", [OUT_HEAD] = "\033[1m",
};

static void set_style(const struct out *o, enum out_style style, bool on)
{
	if (o->color && style != OUT_PLAIN)
		fputs(on ? style_codes[style] : "\033[0m", o->to);
}

/* Without memory the text is missing, and out_finish() reports it. */
static void printf_like(2, 0) put_text(const struct out *o, const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	auto_free char *clean = text ? out_clean(text) : NULL;
	free(text);
	fputs(clean ? clean : "(out of memory)", o->to);
	if (!clean && o->lost)
		*o->lost = true;
}

void out_line(const struct out *o, enum out_style style, const char *fmt, ...)
{
	va_list ap;

	set_style(o, style, true);
	va_start(ap, fmt);
	put_text(o, fmt, ap);
	va_end(ap);
	set_style(o, style, false);
	fputc('\n', o->to);
}

void out_pair(const struct out *o, const char *name, const char *fmt, ...)
{
	va_list ap;

	set_style(o, OUT_HEAD, true);
	fprintf(o->to, "%s:", name);
	set_style(o, OUT_HEAD, false);
	fprintf(o->to, "%*s", (int)(PAIR_WIDTH - strlen(name) - 1), "");
	va_start(ap, fmt);
	put_text(o, fmt, ap);
	va_end(ap);
	fputc('\n', o->to);
}

char *out_id(const struct out *o, const char *id, char buf[OUT_ID_LEN])
{
	bool cut = o->terminal && strlen(id) > OUT_ID_SHORT;

	(void)snprintf(buf, OUT_ID_LEN, "%.*s%s",
		       cut ? OUT_ID_SHORT - CUT_MARK_SIZE : OUT_ID_LEN - 1, id,
		       cut ? CUT_MARK : "");
	return buf;
}

void out_none(const struct out *o, const char *what, const char *dir, const char *sub)
{
	auto_text struct text folder = { 0 };

	text_addf(&folder, "%s%s%s", dir, sub ? "/" : "", sub ? sub : "");
	if (!folder.failed && access(folder.s, F_OK) && errno == ENOENT)
		out_line(o, OUT_WARN,
			 "%s: there is no %s here. In a container, mount that of the node.", what,
			 folder.s);
	else
		out_line(o, OUT_PLAIN, "%s.", what);
}

int out_json(const struct out *o, const struct json *n, struct err *e)
{
	auto_free char *text = n ? json_print(n, true) : NULL;

	if (!text)
		return err_nomem(e);
	fprintf(o->to, "%s\n", text);
	return 0;
}

int out_finish(const struct out *o, struct err *e)
{
	struct pollfd reader = { .fd = fileno(o->to), .events = POLLOUT };

	errno = 0;
	if (fflush(o->to) == 0 && !ferror(o->to))
		return o->lost && *o->lost ? err_nomem(e) : 0;
	/* errno of an earlier write may be lost. poll() still reports a pipe without reader. */
	if (!errno && poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR))
		errno = EPIPE;
	return err_set(e, ERR_IO, errno ? errno : EIO, "write to standard output");
}

/* ---- tables ---- */

#define GAP         2 /* between columns */
#define SHORTEST    6 /* a column is not cut below this */
#define HIDDEN      SIZE_MAX
#define COLUMNS_MAX 12
#define CELLS_MAX   (1u << 28)

int out_row(struct out_table *t, const struct out_cell *cells, struct err *e)
{
	size_t at = t->n_rows * t->n_columns;

	if (ARRAY_GROW_BY(t->cells, at, t->n_columns, CELLS_MAX, "cells of a table", e))
		return -1;
	for (size_t i = 0; i < t->n_columns; i++) {
		const char *text = cells[i].text && *cells[i].text ? cells[i].text : "-";
		t->cells[at + i].text = out_clean(text);
		t->cells[at + i].style = cells[i].style;
		if (!t->cells[at + i].text) {
			while (i--)
				free(t->cells[at + i].text);
			return err_nomem(e);
		}
	}
	t->n_rows++;
	return 0;
}

void out_table_clear(struct out_table *t)
{
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++)
		free(t->cells[i].text);
	free(t->cells);
	t->cells = NULL;
	t->n_rows = 0;
}

static void measure_columns(const struct out_table *t, size_t widths[COLUMNS_MAX])
{
	for (size_t i = 0; i < t->n_columns; i++)
		widths[i] = strlen(t->columns[i].title);
	for (size_t row = 0; row < t->n_rows; row++) {
		for (size_t i = 0; i < t->n_columns; i++) {
			size_t n = out_columns(t->cells[row * t->n_columns + i].text);
			if (n > widths[i])
				widths[i] = n;
		}
	}
}

static size_t total_width(const struct out_table *t, const size_t widths[COLUMNS_MAX])
{
	size_t total = 0;

	for (size_t i = 0; i < t->n_columns; i++) {
		if (widths[i] != HIDDEN)
			total += widths[i] + (total ? GAP : 0);
	}
	return total;
}

static bool shrink_widest(const struct out_table *t, size_t widths[COLUMNS_MAX])
{
	size_t *widest = NULL;

	for (size_t i = 0; i < t->n_columns; i++) {
		if (!(t->columns[i].flags & OUT_SHRINK) || widths[i] == HIDDEN)
			continue;
		if ((t->columns[i].flags & OUT_ID) && widths[i] > OUT_ID_SHORT) {
			--widths[i];
			return true;
		}
		if (widths[i] > SHORTEST && (!widest || widths[i] > *widest))
			widest = &widths[i];
	}
	if (widest)
		--*widest;
	return widest;
}

static bool hide_spare(const struct out_table *t, size_t widths[COLUMNS_MAX])
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if ((t->columns[i].flags & OUT_SPARE) && widths[i] != HIDDEN) {
			widths[i] = HIDDEN;
			return true;
		}
	}
	return false;
}

/* Bytes of the first n characters. */
static size_t bytes_of(const char *text, size_t n)
{
	size_t i = 0;

	while (text[i] && n--) {
		do {
			i++;
		} while (((unsigned char)text[i] & 0xc0) == 0x80);
	}
	return i;
}

struct fitted {
	const char *text;
	size_t width;
	unsigned flags;
	enum out_style style;
	bool last;
};

static void put_cell(const struct out *o, const struct fitted *c)
{
	size_t n = out_columns(c->text), shown = n;
	bool cut = n > c->width;

	if (c->width == HIDDEN)
		return;
	if (cut)
		shown = c->width - CUT_MARK_SIZE;
	size_t pad = cut ? 0 : c->width - n;
	if (c->flags & OUT_RIGHT)
		fprintf(o->to, "%*s", (int)pad, "");
	set_style(o, c->style, true);
	fprintf(o->to, "%.*s%s", (int)bytes_of(c->text, shown), c->text, cut ? CUT_MARK : "");
	set_style(o, c->style, false);
	if (!c->last)
		fprintf(o->to, "%*s", (int)((c->flags & OUT_RIGHT ? 0 : pad) + GAP), "");
}

void out_table(const struct out *o, const struct out_table *t)
{
	size_t widths[COLUMNS_MAX], n = t->n_columns;

	measure_columns(t, widths);
	/* Columns lose one character at a time, then whole columns go, until the line fits. */
	while (o->width && total_width(t, widths) > o->width) {
		if (!shrink_widest(t, widths) && !hide_spare(t, widths))
			break;
	}
	for (size_t i = 0; i < n; i++) {
		const struct fitted title = { t->columns[i].title, widths[i], t->columns[i].flags,
					      OUT_HEAD, i + 1 == n };
		put_cell(o, &title);
	}
	fputc('\n', o->to);
	for (size_t row = 0; row < t->n_rows; row++) {
		for (size_t i = 0; i < n; i++) {
			const struct fitted cell = { t->cells[row * n + i].text, widths[i],
						     t->columns[i].flags,
						     t->cells[row * n + i].style, i + 1 == n };
			put_cell(o, &cell);
		}
		fputc('\n', o->to);
	}
}

char *out_error(const struct err *e, char buf[OUT_ERROR_LEN])
{
	size_t n = (size_t)snprintf(buf, OUT_ERROR_LEN, "%s", e->msg);

	for (const char *rest = e->detail; *rest;) {
		size_t len = strcspn(rest, "\n");
		n += (size_t)snprintf(buf + n, OUT_ERROR_LEN - n, "; %.*s", (int)len, rest);
		rest += len + (rest[len] == '\n');
	}
	return buf;
}

void out_complain(const char *program, const struct err *e)
{
	char line[OUT_ERROR_LEN];
	auto_free char *clean = out_clean(out_error(e, line));

	fprintf(stderr, "%s: %s\n", program, clean ? clean : "out of memory");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h: what commands print on standard output: aligned tables for people, JSON for programs.
 *
 * On a terminal a table is fitted to its width and colours mark states; elsewhere nothing is cut
 * and nothing coloured. Text from files is shown with control characters escaped: a name in a
 * damaged file cannot steer the terminal.
 */
#ifndef RAILHEAD_LIB_CLI_OUT_H
#define RAILHEAD_LIB_CLI_OUT_H

#include <stdio.h>

#include "lib/json/json.h"

enum out_style { OUT_PLAIN, OUT_GOOD, OUT_WARN, OUT_BAD, OUT_FAINT, OUT_HEAD };

struct out {
	FILE *to; /* borrowed */
	bool json;
	bool terminal;
	bool color;
	unsigned width; /* columns; 0: no limit */
	bool *lost;     /* borrowed, may be NULL: set when a text is missing for lack of memory */
};

/*
 * out_init - output to `to`. On a terminal, tables are fitted to its width and colours are used,
 * unless no_color, the variable NO_COLOR or TERM=dumb forbids them. Sets o->lost to NULL.
 */
void out_init(struct out *o, FILE *to, bool json, bool no_color);

/*
 * out_line - one line of text, not fitted. Without memory the line is "(out of memory)", and
 * *o->lost is set.
 */
void out_line(const struct out *o, enum out_style style, const char *fmt, ...) printf_like(3, 4);

/*
 * out_none - "No pools.", for an empty list. The line says so if the folder that has them is
 * absent, as in a container without the folders of the node. sub: a folder in dir; NULL: none.
 */
void out_none(const struct out *o, const char *what, const char *dir, const char *sub);

/* out_json - one document, indented, and a newline. */
int out_json(const struct out *o, const struct json *n, struct err *e) must_check;

/*
 * out_finish - flush. ERR_IO when anything could not be written; ERR_NOMEM when a text of
 * out_line() or out_pair() is missing.
 */
int out_finish(const struct out *o, struct err *e) must_check;

/* out_error - an error on one line, the lines of its detail behind the message. Returns buf. */
#define OUT_ERROR_LEN (sizeof(((struct err *)0)->msg) + 2 * sizeof(((struct err *)0)->detail))
char *out_error(const struct err *e, char buf[OUT_ERROR_LEN]);

/* out_complain - "program: message; line of the detail; ..." on standard error, in one line. */
void out_complain(const char *program, const struct err *e);

/* ---- tables ---- */

#define OUT_RIGHT  1u /* numbers */
#define OUT_SHRINK 2u /* may be cut to fit the terminal; the widest such column gives way first */
#define OUT_SPARE  4u /* left out when cutting is not enough; the first such column goes first */
#define OUT_ID     8u /* cut before other columns: the beginning of an id is enough */

struct out_column {
	const char *title;
	unsigned flags;
};

struct out_cell {
	const char *text; /* NULL: "-" */
	enum out_style style;
};

struct out_table {
	const struct out_column *columns; /* borrowed */
	size_t n_columns;
	struct {
		char *text;
		enum out_style style;
	} * cells; /* row by row */
	size_t n_rows;
};

/* out_row - add a row of t->n_columns cells; the texts are copied. An empty one becomes "-". */
int out_row(struct out_table *t, const struct out_cell *cells, struct err *e) must_check;

/* out_table - titles and rows; rows are cut at the right edge rather than wrapped. */
void out_table(const struct out *o, const struct out_table *t);

void out_table_clear(struct out_table *t);
#define auto_table auto_clean(out_table_clear)

/* out_pair - "Name:     value" with names padded to a common width; for `show`. See out_line(). */
void out_pair(const struct out *o, const char *name, const char *fmt, ...) printf_like(3, 4);

/* ---- values: pure ---- */

/* out_clean - copy with control characters and bytes that are not UTF-8 as \xNN. NULL: no memory.
 */
char *out_clean(const char *text);

/* out_columns - how many characters well-formed text has (each counts as one column). */
size_t out_columns(const char *text);

/* out_id - an id as a line shows it: short on a terminal, where its beginning will do. */
#define OUT_ID_SHORT 14
#define OUT_ID_LEN   256
char *out_id(const struct out *o, const char *id, char buf[OUT_ID_LEN]);

#define OUT_TIME_LEN 24
/* out_age - how long ago, in its largest unit: "7s", "12m", "5h", "3d". */
char *out_age(int64_t ns, char buf[OUT_TIME_LEN]);
/* out_time - UTC as RFC 3339 with seconds: "2026-01-31T12:00:00Z". */
char *out_time(int64_t ns, char buf[OUT_TIME_LEN]);

/* out_amount - whole digits up to 2^53, "~2^64" beyond (one decimal when it is not near a power).
 */
char *out_amount(double n, char *buf, size_t size);

/* out_percent - "0%", "<1%", "37%", ">99%", "100%": the ends only for nothing and everything. */
char *out_percent(double share, char *buf, size_t size);

#define OUT_BAR_MAX 64
/*
 * out_bar - "[####......]", width characters in all (at most OUT_BAR_MAX - 1, at least 3). Anything
 * above nothing shows at least one mark, anything below everything at least one gap.
 */
char *out_bar(double share, unsigned width, char buf[OUT_BAR_MAX]);

#endif

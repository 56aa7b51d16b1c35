/* SPDX-License-Identifier: Apache-2.0 */
/* list.h: a table of JSON objects, with a row for each. */
#ifndef RAILHEAD_LIB_CLI_LIST_H
#define RAILHEAD_LIB_CLI_LIST_H

#include "lib/cli/cmd.h"

#define LIST_COLUMNS_MAX 12
#define LIST_TEXT_LEN    512 /* bytes for the text of a cell */

struct list_column {
	const char *title; /* NULL ends the columns */
	unsigned flags;    /* OUT_RIGHT and the like */
	const char *key;   /* a member, or one of a member: "slice.number"; NULL: the row */
	enum out_style style;
	const char *other; /* the key of a member for rows where this one is absent or "" */
	/* The cell for the member n, which may be NULL; by default a string, number, yes or no. */
	struct out_cell (*word)(const struct json *n);
	struct out_cell (*cell)(const struct cmd_run *r, const struct json *n,
				char buf[LIST_TEXT_LEN]);
};

/* list_age - how long ago a time such as "2026-11-22T10:00:00Z" was: "3d"; a cell. */
struct out_cell list_age(const struct cmd_run *r, const struct json *time, char buf[LIST_TEXT_LEN]);

/* list_print - titles and rows; titles alone if there are no rows. */
int list_print(const struct cmd_run *r, const struct list_column *columns, const struct json *rows,
	       struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h: the lines of a stream that comes in pieces. Pure.
 */
#ifndef RAILHEAD_CLUSTER_HTTP_LINES_H
#define RAILHEAD_CLUSTER_HTTP_LINES_H

#include "lib/base/parse.h"
#include "lib/base/text.h"

struct http_lines {
	size_t max; /* bytes without a line break that are kept; set by the user */
	struct text text;
	size_t at;      /* of text: where the first line begins that was not taken */
	size_t scanned; /* bytes behind it that are known to have no line break */
};

/*
 * http_lines_add - add a piece. -1: more than max bytes behind the last line break, or no memory
 * (text.failed).
 */
int http_lines_add(struct http_lines *l, const char *data, size_t len) must_check;

/*
 * http_lines_next - the next whole line without its line break; empty lines are skipped. It is
 * valid until the next call. false: there is none yet.
 */
bool http_lines_next(struct http_lines *l, struct slice *line);

/* http_lines_waiting - bytes that were added and not taken. */
size_t http_lines_waiting(const struct http_lines *l);

void http_lines_clear(struct http_lines *l);

#endif

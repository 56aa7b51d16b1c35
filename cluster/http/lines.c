/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.c: the buffer is moved to its start only when all whole lines were taken, so that each
 * byte is moved once. A byte is searched once as well: a line of 8 MiB comes in 500 pieces.
 */
#include "cluster/http/lines.h"

#include <string.h>

size_t http_lines_waiting(const struct http_lines *l)
{
	return l->text.len - l->at;
}

int http_lines_add(struct http_lines *l, const char *data, size_t len)
{
	const char *piece = memrchr(data, '\n', len), *last = NULL;
	size_t open = http_lines_waiting(l);

	if (piece)
		open = (size_t)(data + len - piece) - 1;
	else if (open > l->scanned &&
		 (last = memrchr(l->text.s + l->at + l->scanned, '\n', open - l->scanned)))
		open = (size_t)(l->text.s + l->text.len - last) - 1 + len;
	else
		open += len;
	if (open > l->max)
		return -1;
	text_add_len(&l->text, data, len);
	return l->text.failed ? -1 : 0;
}

bool http_lines_next(struct http_lines *l, struct slice *line)
{
	while (l->text.s) {
		const char *at = l->text.s + l->at;
		size_t left = l->text.len - l->at;
		const char *end = memchr(at + l->scanned, '\n', left - l->scanned);

		if (!end) {
			if (l->at)
				memmove(l->text.s, at, left + 1);
			l->text.len = left;
			l->at = 0;
			l->scanned = left;
			return false;
		}
		l->at += (size_t)(end - at) + 1;
		l->scanned = 0;
		if (end == at)
			continue;
		*line = (struct slice){ at, (size_t)(end - at) };
		return true;
	}
	return false;
}

void http_lines_clear(struct http_lines *l)
{
	text_clear(&l->text);
	l->at = l->scanned = 0;
}

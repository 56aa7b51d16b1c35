/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_fuzz.c: the first byte cuts the rest into pieces; the lines are those of the whole,
 * whatever the pieces.
 */
#include "cluster/http/lines.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	struct http_lines l = { .max = size };
	struct slice line, all = { (const char *)data + 1, size ? size - 1 : 0 }, want;
	size_t piece = size ? data[0] % 16 + 1U : 1;

	for (size_t at = 1, n; at < size; at += n) {
		n = size - at < piece ? size - at : piece;
		MUST(!http_lines_add(&l, (const char *)data + at, n));
		while (http_lines_next(&l, &line)) {
			do
				MUST(slice_next(&all, '\n', &want));
			while (!want.len);
			MUST(line.len == want.len && !memcmp(line.p, want.p, want.len));
		}
	}
	http_lines_clear(&l);
	return 0;
}

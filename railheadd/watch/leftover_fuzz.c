/* SPDX-License-Identifier: Apache-2.0 */
/* leftover_fuzz.c: a leftover that is read is written and read again. */
#include "railheadd/watch/leftover.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL, *again = NULL;
	struct leftover a, b;
	struct err e;

	if (leftover_parse((const char *)data, size, &tree, &a, &e))
		return 0;
	auto_free char *line = leftover_print(&a);
	MUST(line && strchr(line, '\n') == line + strlen(line) - 1);
	MUST(leftover_parse(line, strlen(line) - 1, &again, &b, &e) == 0);
	MUST(a.kind == b.kind && a.outcome == b.outcome && strcmp(a.why, b.why) == 0);
	return 0;
}

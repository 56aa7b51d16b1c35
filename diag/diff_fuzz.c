/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds two documents with a line break between them: differences have texts, and a document does
 * not differ from itself. */
#include "lib/testing/fuzz.h"
#include "diag/diff.h"

static void compare(const struct json *a, const struct json *b)
{
	auto_findings struct findings all = { 0 };
	FUZZ_OUT(struct err, e);

	if (topo_diff(a, b, TOPO_DIFF_ALL, &all, &e))
		return;
	for (size_t i = 0; i < all.n; i++)
		MUST(a != b && all.item[i].value && all.item[i].reason && all.item[i].remedy);
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *first = fuzz_cut(&data, &size), *second = fuzz_text(data, size);
	auto_json struct json *a = NULL, *b = NULL;
	struct err e;

	if (!json_parse(first, strlen(first), "first", &a, &e) &&
	    !json_parse(second, size, "second", &b, &e)) {
		compare(a, a);
		compare(a, b);
	}
	return 0;
}

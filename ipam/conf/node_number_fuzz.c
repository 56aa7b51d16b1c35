/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_number_fuzz.c: feeds node.json to node_number_decode and labels_check, and its pattern to
 * host names. A file that has only labels returns 1.
 */
#include "ipam/conf/node_number.h"

#include <string.h>

#include "ipam/conf/labels.h"
#include "lib/testing/fuzz.h"

static void check_labels(const struct json *labels)
{
	FUZZ_OUT(struct err, why);

	if (fuzz_ok(labels_check(labels, "labels", &why), &why, NULL, 0))
		(void)selector_matches(labels, labels);
}

FUZZ(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "gpu-17", "rack3-gpu017.example.org", "", "42" };
	auto_json struct json *tree = NULL;
	struct err e;

	if (json_parse((const char *)data, size, "node.json", &tree, &e))
		return 0;
	check_labels(json_get(tree, "labels"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		FUZZ_OUT(struct node_number, n);
		FUZZ_OUT(struct err, why);

		int rc = node_number_decode(tree, names[i], &n, &why);

		MUST(rc != 1 ||
		     (fuzz_untouched(&n, sizeof(n)) && fuzz_untouched(&why, sizeof(why))));
		if (rc != 1 && fuzz_ok(rc, &why, &n, sizeof(n)))
			MUST(!n.pattern || (strlen(n.pattern) <= NODE_PATTERN_MAX && *names[i]));
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* node_number_fuzz.c: feeds node.json to node_number_decode, and its pattern to host names. */
#include "ipam/node/node_number.h"

#include <string.h>

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "gpu-17", "rack3-gpu017.example.org", "", "42" };
	auto_json struct json *tree = NULL;
	struct err e;

	if (json_parse((const char *)data, size, "node.json", &tree, &e))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		FUZZ_OUT(struct node_number, n);
		FUZZ_OUT(struct err, why);

		if (!fuzz_ok(node_number_decode(tree, names[i], &n, &why), &why, &n, sizeof(n)))
			continue;
		MUST(!n.pattern || (strlen(n.pattern) <= NODE_PATTERN_MAX && *names[i]));
	}
	return 0;
}

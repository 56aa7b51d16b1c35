/* SPDX-License-Identifier: Apache-2.0 */
/* object_json_node_fuzz.c: feeds values of nodes; what is read is written and read as the same. */
#include "ipam/block/object_json.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL, *again = NULL;
	struct cluster_node a, b;
	struct err e;

	if (json_parse((const char *)data, size, "value", &tree, &e) ||
	    node_from_json(tree, "node", &a, &e))
		return 0;
	again = node_to_json(&a);
	MUST(again && node_from_json(again, "node", &b, &e) == 0);
	MUST(strcmp(a.holder, b.holder) == 0 && strcmp(a.boot, b.boot) == 0);
	MUST(strcmp(a.machine, b.machine) == 0 && strcmp(a.version, b.version) == 0);
	MUST(a.forgotten == b.forgotten && strcmp(a.evidence.uid, b.evidence.uid) == 0);
	MUST(strcmp(a.evidence.version, b.evidence.version) == 0);
	return 0;
}

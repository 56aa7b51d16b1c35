/* SPDX-License-Identifier: Apache-2.0 */
/* node_pools_fuzz.c: feeds values of nodes; a report that is read is written and read as the same.
 */
#include "ipam/block/object_json.h"

#include "lib/json/json.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL, *again = json_new_object();
	struct node_pool a, b;
	struct err e;

	if (json_parse((const char *)data, size, "value", &tree, &e))
		return 0;
	if (node_reserved_find(tree, &a)) {
		MUST(node_reserved_put(again, &a) == 0);
		MUST(node_reserved_find(again, &b));
		MUST(strcmp(a.uid, b.uid) == 0 && a.generation == b.generation);
	}
	if (!node_pool_find(tree, "rail0", &a))
		return 0;
	MUST(node_pool_add(json_add_array(again, "pools"), &a) == 0);
	MUST(node_pool_find(again, "rail0", &b));
	MUST(strcmp(a.uid, b.uid) == 0 && strcmp(a.waits, b.waits) == 0);
	MUST(a.generation == b.generation);
	return 0;
}

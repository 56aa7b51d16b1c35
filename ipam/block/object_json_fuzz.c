/* SPDX-License-Identifier: Apache-2.0 */
/* object_json_fuzz.c: feeds values of blocks; what is read is written and read as the same block.
 */
#include "ipam/block/object_json.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL, *again = NULL;
	struct block a, b;
	struct err e;

	if (json_parse((const char *)data, size, "value", &tree, &e) ||
	    block_from_json(tree, "block", &a, &e))
		return 0;
	again = block_to_json(&a);
	MUST(again && block_from_json(again, "block", &b, &e) == 0);
	MUST(strcmp(a.owner.node, b.owner.node) == 0 && strcmp(a.pool_uid, b.pool_uid) == 0);
	MUST(a.touched == b.touched && a.used == b.used && a.probe == b.probe);
	MUST(strcmp(a.identity, b.identity) == 0);
	if (*a.owner.node)
		MUST(party_equal(&a.owner, &b.owner));
	if (*a.asker.node)
		MUST(party_equal(&a.asker, &b.asker) && a.kept == b.kept &&
		     a.migrates == b.migrates);
	return 0;
}

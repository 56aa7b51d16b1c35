/* SPDX-License-Identifier: Apache-2.0 */
/* pools_fuzz.c: any YAML as objects of other IPAMs; each pool has a name, a subnet and blocks.
 */
#include "ipam/peers/pools.h"
#include "lib/json/yaml.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_peer_pools struct peer_pools p = { .block = 16 };
	auto_json struct json *docs = NULL;
	struct err e;

	if (yaml_json_read((const char *)data, size, &docs, &e))
		return 0;
	json_each (doc, docs) {
		if (peer_pools_add(&p, doc, &e))
			return 0;
	}
	MUST(peer_pools_finish(&p, &e) == 0);
	json_each (pool, p.pools) {
		const char *name = json_str(json_get(pool, "name"));

		MUST(name && *name && strlen(name) <= PEER_POOLS_NAME_MAX);
		MUST(json_str(json_get(pool, "subnet")) && json_get(pool, "blockSize"));
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_fuzz.c: any bytes below a key: an object that is read from them is written and read
 * back as the same.
 */
#include "cluster/etcd/value.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	struct etcd_kv kv = { "/railhead/pools/p1", (char *)(uintptr_t)data, size, 7, 5, 3 };
	struct json *tree = FUZZ_PTR;
	auto_json struct json *tree2 = NULL;
	auto_free char *text = NULL;
	struct cluster_object o2;
	FUZZ_OUT(struct err, e);
	FUZZ_OUT(struct cluster_object, o);

	if (!fuzz_ok(etcd_value_read(&kv, CLUSTER_POOL, &o, &tree, &e), &e, &o, sizeof(o)))
		return 0;
	MUST(!strcmp(o.name, "p1") && *o.at.uid && *o.at.version);
	if (!etcd_value_text(&o, o.at.uid, &text, &e)) {
		kv.bytes = text;
		kv.len = strlen(text);
		MUST(!etcd_value_read(&kv, CLUSTER_POOL, &o2, &tree2, &e));
		MUST(!strcmp(o.at.uid, o2.at.uid) && !strcmp(o.node, o2.node));
	}
	json_free(tree);
	return 0;
}

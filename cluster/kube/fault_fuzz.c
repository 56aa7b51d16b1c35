/* SPDX-License-Identifier: Apache-2.0 */
/* fault_fuzz.c: any JSON as the answer of an API server that refuses; it becomes a message. */
#include "cluster/kube/fault.h"
#include "lib/json/long.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	static const int codes[] = { 400, 401, 403, 404, 409, 410, 422, 429, 500, 503 };
	const struct kube_asked asked = { "get", kube_resource(CLUSTER_BLOCK), "b" };
	auto_json struct json *tree = NULL;
	struct kube_status s;
	struct err e;

	if (!size || json_parse_long((const char *)data + 1, size - 1, "answer", &tree, &e))
		return 0;
	bool read = kube_status_read(tree, &s);
	(void)kube_fault(codes[data[0] % ARRAY_SIZE(codes)], read ? &s : NULL, &asked, &e);
	fuzz_error_is_good(&e);
	return 0;
}

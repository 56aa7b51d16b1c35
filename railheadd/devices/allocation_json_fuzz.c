/* SPDX-License-Identifier: Apache-2.0 */
/* allocation_json_fuzz.c: what is accepted as an answer is accepted again after it was printed. */
#include "lib/testing/fuzz.h"
#include "railheadd/devices/allocate.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL, *again = NULL;
	auto_resource_allocation struct resource_allocation second = { .n_env = 0 };
	FUZZ_OUT(struct resource_allocation, a);
	FUZZ_OUT(struct err, e);

	if (json_parse((const char *)data, size, "pipe", &tree, &e))
		return 0;
	if (!fuzz_ok(resource_allocation_from_json(tree, &a, &e), &e, &a, sizeof(a)))
		return 0;
	again = resource_allocation_to_json(&a);
	MUST(again && resource_allocation_from_json(again, &second, &e) == 0);
	MUST(second.n_nodes == a.n_nodes && second.n_mounts == a.n_mounts);
	MUST(second.n_cdi == a.n_cdi && second.n_env <= a.n_env);
	resource_allocation_clear(&a);
	return 0;
}

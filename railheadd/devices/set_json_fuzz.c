/* SPDX-License-Identifier: Apache-2.0 */
/* set_json_fuzz.c: what is accepted as a configuration is accepted again after it was printed. */
#include "lib/testing/fuzz.h"
#include "railheadd/devices/resources.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL, *again = NULL;
	auto_resource_set struct resource_set *s = NULL, *second = NULL;
	FUZZ_OUT(struct err, e);

	if (json_parse((const char *)data, size, "pipe", &tree, &e) ||
	    !fuzz_ok(resource_set_from_json(tree, &s, &e), &e, NULL, 0))
		return 0;
	MUST(resource_count(s) <= RESOURCES_MAX);
	again = resource_set_to_json(s);
	MUST(again && resource_set_from_json(again, &second, &e) == 0);
	MUST(resource_count(s) == resource_count(second));
	for (size_t i = 0; i < resource_count(s); i++)
		MUST(strcmp(resource_name(s, i), resource_name(second, i)) == 0);
	return 0;
}

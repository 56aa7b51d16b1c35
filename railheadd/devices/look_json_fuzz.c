/* SPDX-License-Identifier: Apache-2.0 */
/* look_json_fuzz.c: what is accepted as a look is accepted again after it was printed. */
#include "lib/testing/fuzz.h"
#include "railheadd/devices/resources.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL, *again = NULL;
	auto_resource_look struct resource_look second = { 0 };
	FUZZ_OUT(struct resource_look, l);
	FUZZ_OUT(struct err, e);

	if (json_parse((const char *)data, size, "pipe", &tree, &e))
		return 0;
	size_t n = json_len(json_get(tree, "resources"));
	if (!fuzz_ok(resource_look_from_json(tree, n, &l, &e), &e, &l, sizeof(l)))
		return 0;
	again = resource_look_to_json(&l);
	MUST(again && resource_look_from_json(again, n, &second, &e) == 0 && second.n == n);
	for (size_t i = 0; i < n; i++)
		MUST(resource_devices_same(&l.of[i], &second.of[i]));
	resource_look_clear(&l);
	return 0;
}

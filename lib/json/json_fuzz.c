/* SPDX-License-Identifier: Apache-2.0 */
/* json_fuzz.c: feeds any text to the parser; printed text parses to the same tree. */
#include "lib/json/json.h"
#include "lib/testing/fuzz.h"

/* What is printed, pretty or not, reads back as the same and is printed as the same. */
FUZZ(const uint8_t *data, size_t size)
{
	struct json *tree = FUZZ_PTR, *again = FUZZ_PTR;
	char shown[JSON_SHOW_LEN];
	FUZZ_OUT(struct err, e);

	if (!fuzz_ok(json_parse((const char *)data, size, "text", &tree, &e), &e, &tree,
		     sizeof(tree)))
		return 0;
	auto_free char *pretty = json_print(tree, true), *plain = json_print(tree, false);

	MUST(pretty && plain && utf8_valid(pretty, strlen(pretty)));
	MUST(utf8_valid(json_show(tree, shown), strlen(shown)) && strlen(shown) < JSON_SHOW_LEN);
	MUST(!json_parse(pretty, strlen(pretty), "text", &again, &e));
	auto_free char *plain2 = json_print(again, false);

	MUST(!strcmp(plain, plain2) && json_len(tree) == json_len(again));
	json_each (it, tree)
		MUST(!json_key(it) || !json_get(tree, json_key(it)) ||
		     json_get(again, json_key(it)));
	json_free(tree);
	json_free(again);
	return 0;
}

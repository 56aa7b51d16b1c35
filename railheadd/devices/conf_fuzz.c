/* SPDX-License-Identifier: Apache-2.0 */
/* conf_fuzz.c: feeds a file of resources to conf_add; what it accepts must be consistent. */
#include "lib/testing/fuzz.h"
#include "railheadd/devices/conf.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_resource_set struct resource_set *s = calloc(1, sizeof(*s));
	auto_json struct json *tree = NULL;
	const struct select_subject nothing = { .vf = 1 };
	FUZZ_OUT(struct err, e);
	bool sure;

	if (!s || json_parse((const char *)data, size, "resources", &tree, &e) ||
	    !fuzz_ok(conf_add(s, tree, "a.json", &e), &e, NULL, 0))
		return 0;
	MUST(resource_count(s) <= RESOURCES_MAX && resources_interval(s));
	for (size_t i = 0; i < s->n; i++) {
		MUST(strchr(s->conf[i].name, '/') && s->conf[i].copies <= RESOURCE_IDS_MAX);
		MUST(s->conf[i].shared || !s->conf[i].copies);
		MUST(s->conf[i].n_selectors || !s->conf[i].shared);
		MUST(!conf_selector_of(&s->conf[i], &nothing, &sure) || sure);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* resolv_fuzz.c: feeds text to resolv_parse; its result has the right types and can be parsed. */
#include "plugins/ipam/resolv.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	struct json *dns = FUZZ_PTR;
	FUZZ_OUT(struct err, e);

	if (!fuzz_ok(resolv_parse((const char *)data, size, &dns, &e), &e, &dns, sizeof(dns)))
		return 0;
	auto_free char *text = json_print(dns, false);
	struct json *again = NULL;

	MUST(text && !json_parse(text, strlen(text), "dns", &again, &e) && json_len(dns) <= 4);
	json_each (member, dns)
		MUST(json_type(member) ==
		     (strcmp(json_key(member), "domain") ? JSON_ARRAY : JSON_STRING));
	json_free(again);
	json_free(dns);
	return 0;
}

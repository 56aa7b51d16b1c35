/* SPDX-License-Identifier: Apache-2.0 */
/* cnicache_fuzz.c: feeds text to cnicache_parse; names that it accepts are valid. The same text to
 * cnicache_config. */
#include "ipam/peers/cnicache.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size);
	FUZZ_OUT(struct cnicache_entry, x);

	if (fuzz_ok(cnicache_parse(text, size, &x), NULL, &x, sizeof(x))) {
		MUST(id_valid(x.network) && id_valid(x.container) && !ifname_problem(x.ifname));
		MUST(memchr(x.ns, 0, sizeof(x.ns)) && memchr(x.pod, 0, sizeof(x.pod)));
		MUST(memchr(x.uid, 0, sizeof(x.uid)) && fuzz_untouched(x.file, sizeof(x.file)));
	}
	auto_json struct json *config = NULL;
	FUZZ_OUT(struct err, e);

	if (cnicache_config(text, size, &config, &e) == 0)
		MUST(json_type(config) == JSON_OBJECT);
	return 0;
}

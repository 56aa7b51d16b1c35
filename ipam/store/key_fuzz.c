/* SPDX-License-Identifier: Apache-2.0 */
/* key_fuzz.c: feeds text to the parsers of keys with addresses. A key built from the parts must be
 * the same. */
#include "ipam/store/key.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *s = fuzz_text(data, size);
	FUZZ_OUT(struct key_address, a);
	char source[KEY_ID_LEN + 1], label[64], scope[KEY_SCOPE_MAX];
	struct key_free f;
	struct key k;
	int64_t since;

	if (fuzz_ok(key_parse_address(s, &a), NULL, &a, sizeof(a))) {
		key_of_address(&k, a.scope, a.ip);
		MUST(*key_scope_label(a.scope, label, sizeof(label)));
	} else if (fuzz_ok(key_parse_block(s, &a), NULL, &a, sizeof(a))) {
		key_of_block(&k, a.scope, a.ip);
	} else if (!key_parse_free(s, scope, &f)) {
		key_of_free(&k, scope, &f);
	} else if (!key_parse_rest(s, &a, source, &since)) {
		key_of_rest(&k, a.scope, source, since, &a.ip);
	} else {
		return 0;
	}
	MUST(!strcmp(k.s, s));
	return 0;
}

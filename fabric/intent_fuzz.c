/* SPDX-License-Identifier: Apache-2.0 */
/* intent_fuzz.c: any file; names are printable, and no interface has two cables. */
#include "fabric/intent.h"

#include "lib/testing/fuzz.h"

static void is_name(const char s[INTENT_TEXT_MAX], bool may_be_empty)
{
	size_t len = strnlen(s, INTENT_TEXT_MAX);

	MUST(len < INTENT_TEXT_MAX && (len || may_be_empty));
	for (size_t i = 0; i < len; i++)
		MUST(s[i] >= 0x20 && s[i] < 0x7f);
}

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct intent, t);
	FUZZ_OUT(struct err, e);

	if (!fuzz_ok(intent_read((const char *)data, size, &t, &e), &e, &t, sizeof(t)))
		return 0;
	MUST(t.n);
	for (size_t i = 0; i < t.n; i++) {
		is_name(t.cable[i].node, false);
		is_name(t.cable[i].interface, false);
		is_name(t.cable[i].leaf, false);
		is_name(t.cable[i].port, true);
		MUST(!i || strcmp(t.cable[i - 1].node, t.cable[i].node) != 0 ||
		     strcmp(t.cable[i - 1].interface, t.cable[i].interface) < 0);
	}
	intent_clear(&t);
	return 0;
}

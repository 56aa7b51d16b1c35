/* SPDX-License-Identifier: Apache-2.0 */
/* message_fuzz.c: a message that is read is printed for each of its GUIDs, and read again. */
#include "fabric/message.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct sm_message, a);
	FUZZ_OUT(struct err, e);

	if (!fuzz_ok(sm_message_parse((const char *)data, size, &a, &e), &e, &a, sizeof(a)))
		return 0;
	MUST(a.n >= 1 && a.n <= SM_MESSAGE_GUIDS && pkey_is_valid(a.pkey));
	for (size_t i = 0; i < a.n; i++) {
		const struct sm_member m = { a.pkey, a.guid[i], a.who };
		auto_free char *text = sm_message_print(a.action, &m, a.node);
		auto_sm_message struct sm_message b = { .n = 0 };

		MUST(text && sm_message_parse(text, strlen(text), &b, &e) == 0);
		MUST(b.n == 1 && b.pkey == a.pkey && guid_equal(b.guid[0], a.guid[i]));
	}
	sm_message_clear(&a);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* chain_text_fuzz.c: a text with the entry is JSON, and without it again the text of before. */
#include "install/chain_text.h"

#include <string.h>

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = calloc(1, size + 1), *with = NULL, *again = NULL;
	enum chain_kind kind;
	struct err e = { .msg = "" };

	MUST(text);
	memcpy(text, data, size);
	if (chain_edit(text, true, &kind, &with, &e) || !with)
		return 0;
	MUST(kind == CHAIN_LIST || kind == CHAIN_COPY);
	MUST(chain_edit(with, true, &kind, &again, &e) == 0 && !again);
	MUST(chain_edit(with, false, &kind, &again, &e) == 0);
	MUST(again && strcmp(again, text) == 0);
	return 0;
}

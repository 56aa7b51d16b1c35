/* SPDX-License-Identifier: Apache-2.0 */
/* partitions_fuzz.c: in any file a membership comes and goes, and the rest stays. */
#include "fabric/partitions.h"

#include "lib/testing/fuzz.h"

/* The file after the message; NULL: refused. */
static char *edit(const char *text, struct sm_message *m, enum sm_action action)
{
	struct partitions_edited out = { .text = NULL };
	struct err e;

	m->action = action;
	MUST(partitions_edit(text, m, true, &out, &e) == 0 || !out.text);
	MUST(out.kept == 0 || action == SM_REMOVE);
	return out.text;
}

FUZZ(const uint8_t *data, size_t size)
{
	struct sm_message m = { .pkey = 0x8001, .guid = { { { 2 } } }, .n = 1, .node = "n" };
	auto_free char *text = fuzz_text(data, size), *with = edit(text, &m, SM_ADD);

	if (!with)
		return 0;
	auto_free char *again = edit(with, &m, SM_ADD), *without = edit(with, &m, SM_REMOVE);
	auto_free char *same = without ? edit(without, &m, SM_REMOVE) : NULL;
	MUST(again && strcmp(with, again) == 0);
	MUST(same && strcmp(without, same) == 0);
	MUST(partitions_are_ruled(text) == partitions_are_ruled(without));
	return 0;
}

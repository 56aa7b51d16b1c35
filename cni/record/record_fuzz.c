/* SPDX-License-Identifier: Apache-2.0 */
/* record_fuzz.c: feeds any text to record_decode(); the printed record decodes to the same one. */
#include "cni/record/record.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct record, r);
	FUZZ_OUT(struct err, e);
	struct record r2 = { 0 };

	if (!fuzz_ok(record_decode((const char *)data, size, &r, &e), &e, &r, sizeof(r)))
		return 0;
	MUST(r.key.network && r.key.container && r.key.ifname && r.plugin && r.kind && r.netns);
	MUST(r.master && r.cni_path && r.args && strlen(r.boot) <= CTX_BOOT_ID_LEN &&
	     r.created >= 0);
	auto_free char *text = record_print(&r);

	MUST(text && !record_decode(text, strlen(text), &r2, &e));
	auto_free char *text2 = record_print(&r2);

	MUST(text2 && !strcmp(text, text2) && netns_same(r.netns_id, r2.netns_id));
	record_clear(&r);
	record_clear(&r2);
	return 0;
}

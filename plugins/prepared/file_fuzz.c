/* SPDX-License-Identifier: Apache-2.0 */
/* file_fuzz.c: any text as the file of a prepared claim, or of a refusal; what is read is written
 * and read the same.
 */
#include "lib/testing/fuzz.h"
#include "plugins/prepared/prepared_priv.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_prepared struct prepared again = { .networks = NULL };
	struct err e;
	char uid[64];
	FUZZ_OUT(struct prepared, p);

	FUZZ_OUT(struct prepared_refusal, r);

	memset(&e, FUZZ_FILL, sizeof(e));
	if (fuzz_ok(prepared_refusal_decode((const char *)data, size, &r, &e), &e, &r, sizeof(r)))
		json_free(r.tree);
	memset(&e, FUZZ_FILL, sizeof(e));
	if (!fuzz_ok(prepared_decode((const char *)data, size, &p, &e), &e, &p, sizeof(p)))
		return 0;
	MUST(id_valid(p.pod.uid) && id_valid(p.claim.uid) && prepared_check(&p, &e) == 0);
	auto_free char *text = prepared_print(&p);
	MUST(text && prepared_decode(text, strlen(text), &again, &e) == 0);
	MUST(json_same(p.networks, again.networks) && !strcmp(p.claim.name, again.claim.name));
	prepared_clear(&p);
	auto_free char *name = fuzz_text(data, size);
	MUST(!prepared_uid_of(name, PREPARED_CLAIM, uid) || id_valid(uid));
	return 0;
}

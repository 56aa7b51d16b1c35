/* SPDX-License-Identifier: Apache-2.0 */
/* lease_fuzz.c: feeds text to lease_parse; a lease that it accepts survives a round trip. */
#include "ipam/lease/lease.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *s = fuzz_text(data, size), *text = NULL, *text2 = NULL;
	FUZZ_OUT(struct lease, l);
	FUZZ_OUT(struct err, e);
	struct lease l2 = { 0 };

	if (!fuzz_ok(lease_parse(s, "a/p/x", &l, &e), &e, &l, sizeof(l))) {
		MUST(e.code == ERR_STORE);
		return 0;
	}
	MUST((text = lease_print(&l)) && !lease_parse(text, "again", &l2, &e));
	MUST((text2 = lease_print(&l2)) && !strcmp(text, text2) && l.since == l2.since);
	MUST(owner_same(&l.owner, &l2.owner) && l.state == l2.state && !strcmp(l.boot, l2.boot) &&
	     l.probe == l2.probe);
	lease_clear(&l);
	lease_clear(&l2);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* manager_pf_state_fuzz.c: feeds text to pf_state_decode; what it accepts survives a round trip. */
#include "lib/testing/fuzz.h"
#include "sriov/admin/manager_priv.h"

FUZZ(const uint8_t *data, size_t size)
{
	static const char pf[] = "0000:3b:00.0";
	FUZZ_OUT(struct pf_state, b);
	FUZZ_OUT(struct err, e);
	struct pf_state c = { 0 };

	if (!fuzz_ok(pf_state_decode((const char *)data, size, pf, &b, &e), &e, &b, sizeof(b)))
		return 0;
	MUST(!strcmp(b.pf, pf) && b.n <= UINT16_MAX);
	MUST(strlen(b.boot) == (b.making ? CTX_BOOT_ID_LEN : 0) && (b.making || !b.autoprobe));
	auto_free char *text = pf_state_print(&b);
	MUST(text && !pf_state_decode(text, strlen(text), pf, &c, &e));
	MUST(b.n == c.n && (!b.n || !memcmp(b.mac, c.mac, b.n * sizeof(*b.mac))));
	MUST(!memcmp(b.pf_mac, c.pf_mac, MAC_LEN) && b.making == c.making);
	MUST(b.autoprobe == c.autoprobe && !strcmp(b.boot, c.boot));
	pf_state_clear(&b);
	pf_state_clear(&c);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* key_owner_fuzz.c: feeds text to the parser of an owner's key. Long names become a hash. */
#include "ipam/store/key.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *s = fuzz_text(data, size);
	FUZZ_OUT(struct key_owner, o);
	struct key_owner o2;
	struct key k;

	if (!fuzz_ok(key_parse_owner(s, &o), NULL, &o, sizeof(o)))
		return 0;
	key_of_owner(&k, o.container, o.ifname, o.network);
	if (k.s[2] == '#')
		return 0;
	MUST(!key_parse_owner(k.s, &o2) && !strcmp(o.ifname, o2.ifname));
	MUST(!strcmp(o.container, o2.container) && !strcmp(o.network, o2.network));
	return 0;
}

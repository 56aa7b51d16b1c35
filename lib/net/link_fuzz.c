/* SPDX-License-Identifier: Apache-2.0 */
/* link_fuzz.c: feeds any answer of a kernel to nl_link_by_name(). */
#include "lib/net/link.h"
#include "lib/testing/fuzz_nl.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data, size);
	FUZZ_OUT(struct link_info, li);
	FUZZ_OUT(struct err, e);

	if (fuzz_ok(nl_link_by_name(k.nl, "eth0", &li, &e), &e, &li, sizeof(li)))
		MUST(strnlen(li.name, IFNAME_LEN) < IFNAME_LEN &&
		     strnlen(li.kind, IFNAME_LEN) < IFNAME_LEN &&
		     strnlen(li.alias, LINK_ALIAS_LEN) < LINK_ALIAS_LEN);
	return 0;
}

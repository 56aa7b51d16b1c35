/* SPDX-License-Identifier: Apache-2.0 */
/* neigh_fuzz.c: feeds any answer of a kernel to nl_neigh_list(). */
#include "lib/net/neigh.h"
#include "lib/testing/fuzz_nl.h"

static int see(const struct neigh_info *n, void *arg)
{
	MUST(n->ifindex == 1 && (n->addr.family == IP_V4 || n->addr.family == IP_V6));
	MUST(n->hw.len <= HW_ADDR_MAX && (!n->hw.len || n->state == NEIGH_KNOWN));
	MUST(*neigh_state_name(n->state));
	++*(unsigned *)arg;
	return 0;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data, size);
	FUZZ_OUT(struct err, e);
	unsigned seen = 0;

	if (!fuzz_ok(nl_neigh_list(k.nl, 1, see, &seen, &e), &e, NULL, 0))
		MUST(seen == 0);
	return 0;
}

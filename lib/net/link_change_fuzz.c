/* SPDX-License-Identifier: Apache-2.0 */
/* link_change_fuzz.c: feeds any answer of a kernel to nl_link_altnames(). */
#include "lib/net/link.h"
#include "lib/testing/fuzz_nl.h"

static int see(const char *name, void *arg)
{
	MUST(strlen(name) < 128);
	++*(unsigned *)arg;
	return 0;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data, size);
	FUZZ_OUT(struct err, e);
	unsigned seen = 0;

	if (!fuzz_ok(nl_link_altnames(k.nl, 5, see, &seen, &e), &e, NULL, 0))
		MUST(seen == 0);
	return 0;
}

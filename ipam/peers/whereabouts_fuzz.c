/* SPDX-License-Identifier: Apache-2.0 */
/* whereabouts_fuzz.c: feeds text to whereabouts_each; each lease that it reports is valid. */
#include "ipam/peers/whereabouts.h"
#include "lib/testing/fuzz.h"

static int see(const struct whereabouts_lease *l, void *arg, struct err *e)
{
	(void)e;
	MUST(id_valid(l->container) && (!*l->ifname || !ifname_problem(l->ifname)));
	MUST(!*l->ns == !*l->pod && ip_network((struct ip_prefix){ l->ip, 0 }).family);
	return ++*(unsigned *)arg == 1000;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size);
	FUZZ_OUT(struct err, e);
	unsigned n = 0;
	int rc = whereabouts_each(text, size, see, &n, &e);

	if (rc <= 0)
		(void)fuzz_ok(rc, &e, NULL, 0);
	return 0;
}

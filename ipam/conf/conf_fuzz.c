/* SPDX-License-Identifier: Apache-2.0 */
/* conf_fuzz.c: feeds a network configuration to ipam_conf_decode; its ranges must be consistent. */
#include "ipam/conf/conf.h"
#include "lib/testing/fuzz.h"

static void check_source(const struct source *s)
{
	MUST(s->usable.n && s->usable.n <= RANGES_MAX && !ranges_contain(&s->usable, s->gateway));
	for (size_t i = 0; i < s->usable.n; i++) {
		MUST(ip_cmp(s->usable.items[i].first, s->usable.items[i].last) <= 0);
		MUST(ip_in_prefix(s->subnet, s->usable.items[i].first));
		MUST(ip_in_prefix(s->subnet, s->usable.items[i].last));
	}
}

FUZZ(const uint8_t *data, size_t size)
{
	struct cni_conf c;
	FUZZ_OUT(struct ipam_conf, x);
	FUZZ_OUT(struct err, e);

	if (!cni_conf_parse(fuzz_text(data, size), size, CNI_ADD, &c, &e) &&
	    fuzz_ok(ipam_conf_decode(&c, &x, &e), &e, &x, sizeof(x))) {
		for (size_t i = 0; i < x.fixed.n; i++)
			for (size_t j = 0; j < x.fixed.sets[i].n; j++)
				check_source(&x.fixed.sets[i].items[j]);
		MUST(x.fixed.n > 0 ? !x.n_pools : x.n_pools || x.guid_pool);
		ipam_conf_clear(&x);
	}
	cni_conf_clear(&c);
	return 0;
}

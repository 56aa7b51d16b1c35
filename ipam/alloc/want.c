/* SPDX-License-Identifier: Apache-2.0 */
/* want.c: which set of sources has which requested address. */
#include "ipam/alloc/priv.h"

static int refuse_want(const struct source_sets *sets, struct ip ip, struct err *e)
{
	char text[IP_STR_LEN];

	ip_format(ip, text);
	for (size_t i = 0; i < sets->n; i++) {
		for (size_t j = 0; j < sets->sets[i].n; j++) {
			const struct source *s = &sets->sets[i].items[j];
			if (ip_equal(s->gateway, ip))
				return err_set(e, ERR_CONFIG, 0,
					       "requested address %s is the gateway of %s", text,
					       s->label);
			if (ip_in_prefix(s->subnet, ip))
				return err_set(e, ERR_CONFIG, 0,
					       "requested address %s is in the subnet of %s but "
					       "not among its addresses",
					       text, s->label);
		}
	}
	err_set(e, ERR_CONFIG, 0, "requested address %s is in none of the configured ranges", text);
	return sets->n ? err_hint(e, "ask for an address of %s, or for none",
				  sets->sets[0].items[0].label)
		       : -1;
}

int alloc_match_wanted(const struct source_sets *sets, const struct request *r, struct ip *want,
		       struct err *e)
{
	char a[IP_STR_LEN], b[IP_STR_LEN];

	for (size_t k = 0; k < r->n_want; k++) {
		const struct ip *rival = NULL;
		size_t i = 0;

		for (; i < sets->n; i++) {
			if (!sources_find(&sets->sets[i], r->want[k]))
				continue;
			if (!want[i].family)
				break;
			rival = &want[i];
		}
		if (i == sets->n && rival)
			return err_set(e, ERR_CONFIG, 0,
				       "requested addresses %s and %s are of one range, which "
				       "gives one address",
				       ip_format(*rival, a), ip_format(r->want[k], b));
		if (i == sets->n)
			return refuse_want(sets, r->want[k], e);
		want[i] = r->want[k];
	}
	return 0;
}

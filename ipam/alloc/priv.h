/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h: the parts of an ADD, for ipam/alloc only. */
#ifndef RAILHEAD_IPAM_ALLOC_PRIV_H
#define RAILHEAD_IPAM_ALLOC_PRIV_H

#include "ipam/alloc/alloc.h"

/* ---- ADD again, see held.c ---- */

struct alloc_held {
	struct key_address items[LEASE_KEYS_MAX];
	size_t n;
};

/*
 * alloc_load_held - the addresses of an owner. Each one must have a lease of that owner: ERR_STORE.
 * alloc_return_held - give them to the owner again. ERR_BUSY: they do not fit the configuration.
 */
int alloc_load_held(struct lease_db *l, const struct owner *o, struct alloc_held *out,
		    struct err *e) must_check;
int alloc_return_held(const struct source_sets *sets, const struct request *r,
		      const struct alloc_held *h, struct alloc_result *out,
		      struct err *e) must_check;

/* ---- requested addresses, see want.c ---- */

/*
 * alloc_match_wanted - want[i] becomes the requested address for set i, or has family IP_NONE.
 * ERR_CONFIG: no set has the address, or a set has two of them.
 */
int alloc_match_wanted(const struct source_sets *sets, const struct request *r, struct ip *want,
		       struct err *e) must_check;

#endif

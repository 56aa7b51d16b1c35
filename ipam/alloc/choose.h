/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.h: which address is next. Reads only, and never more of the leases than the few that it
 * meets on its way.
 *
 * Of each source in turn: the sticky address of the pod; that of its earlier sandbox; one never
 * used; the one that rested longest. When no source has any: the one that has cooled down longest,
 * unless strictCooldown forbids it.
 */
#ifndef RAILHEAD_IPAM_ALLOC_CHOOSE_H
#define RAILHEAD_IPAM_ALLOC_CHOOSE_H

#include "ipam/alloc/overlap.h"

#define ALLOC_AVOID_MAX 256

struct addr_request {
	const struct owner *owner;
	/* addresses that the container has already, through whatever network */
	struct ip avoid[ALLOC_AVOID_MAX];
	size_t n_avoid;
	struct ip want; /* for alloc_choose_exactly */
	struct ip own;  /* free, and given up by an earlier sandbox of the pod; IP_NONE: none */
	struct overlap *overlap; /* NULL: nobody else has addresses */
};

/* choose - an address of the source. 1 with *out filled, 0 when it has none, -1 on error. */
int alloc_choose(struct lease_db *l, const struct source *s, const struct addr_request *request,
		 struct addr_choice *out, struct err *e) must_check;

/* alloc_choose_cooling - the same for addresses that were released less than the cooldown ago. */
int alloc_choose_cooling(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out,
			 struct err *e) must_check;

/*
 * alloc_choose_exactly - ask->want, which the source contains. ERR_BUSY naming who has it, also
 * when that is another interface of the same container, or strictCooldown keeps it back.
 */
int alloc_choose_exactly(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out,
			 struct err *e) must_check;

#endif

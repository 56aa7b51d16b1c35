/* SPDX-License-Identifier: Apache-2.0 */
/* resting.h: the addresses that a request may not get, and the queue of resting addresses. */
#ifndef RAILHEAD_IPAM_ALLOC_RESTING_H
#define RAILHEAD_IPAM_ALLOC_RESTING_H

#include "ipam/alloc/overlap.h"

#define ALLOC_AVOID_MAX 256

struct addr_request {
	const struct owner *owner;
	/* addresses that the container has already, in any network */
	struct ip avoid[ALLOC_AVOID_MAX];
	size_t n_avoid;
	struct ip want;          /* for alloc_choose_exactly */
	struct ip own;           /* just released by an earlier sandbox of the pod; IP_NONE: none */
	struct overlap *overlap; /* NULL: do not look for overlaps */
};

/*
 * request_owns - the container has the address already. request_avoids - that, or an overlapping
 * range has the address.
 */
bool request_owns(const struct addr_request *request, struct ip ip);
bool request_avoids(const struct addr_request *request, const struct source *s, struct ip ip);

/* resting_future - times of release after this one mean that the clock was set back since. */
int64_t resting_future(const struct lease_db *l, const struct source *s);

struct rest_queue {
	const struct addr_request *request;
	const struct source *s;
	struct ip ip; /* IP_NONE: nothing found */
	int64_t since;
};

/*
 * resting_first - the first resting address of source `id` that was released at `from` or later and
 * is usable in q->s. resting_rested - of q->s itself, the one that has rested longest, if its
 * cooldown is over.
 */
int resting_first(struct lease_db *l, struct rest_queue *q, const char *id, int64_t from,
		  struct err *e) must_check;
int resting_rested(struct lease_db *l, struct rest_queue *q, struct err *e) must_check;

#endif

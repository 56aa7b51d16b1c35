/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.h: a set of addresses as sorted ranges that neither overlap nor touch. Pure.
 *
 * A search in a set costs the logarithm of the number of its ranges. The number of addresses does
 * not matter, so an IPv6 /64 is as cheap as an IPv4 /29.
 */
#ifndef RAILHEAD_IPAM_CONF_RANGES_H
#define RAILHEAD_IPAM_CONF_RANGES_H

#include "lib/base/err.h"
#include "lib/base/ip.h"

#define RANGES_MAX 1024 /* ranges of one set: more is a mistake, or an attack */

struct ranges {
	struct ip_range *items; /* owned */
	size_t n;
};

/* ranges_add, ranges_remove - ERR_CONFIG when the set would have more than RANGES_MAX pieces. */
int ranges_add(struct ranges *s, struct ip_range r, struct err *e) must_check;
int ranges_remove(struct ranges *s, struct ip_range r, struct err *e) must_check;

bool ranges_contain(const struct ranges *s, struct ip a);

/* ranges_next - the first member at or after from (IPv4 sorts before IPv6). False when there is
 * none. */
bool ranges_next(const struct ranges *s, struct ip from, struct ip *out);

/* ranges_after - the first member after a. */
bool ranges_after(const struct ranges *s, struct ip a, struct ip *out);

/* ranges_capacity - how many addresses; the full IPv6 space counts as 2^128 - 1. */
u128 ranges_capacity(const struct ranges *s);

/* ranges_overlap - whether two sets share an address; *where is a shared piece. */
bool ranges_overlap(const struct ranges *a, const struct ranges *b, struct ip_range *where);

void ranges_clear(struct ranges *s);
#define auto_ranges auto_clean(ranges_clear)

#endif

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

/*
 * ranges_add, ranges_remove - add or remove the addresses of r. ERR_CONFIG: the set would have more
 * than RANGES_MAX ranges; then it is unchanged.
 */
int ranges_add(struct ranges *s, struct ip_range r, struct err *e) must_check;
int ranges_remove(struct ranges *s, struct ip_range r, struct err *e) must_check;

/*
 * ranges_copy - add the ranges of a set to another. ranges_copy_in - only the addresses that r has
 * of them. As ranges_add.
 */
int ranges_copy(const struct ranges *from, struct ranges *to, struct err *e) must_check;
int ranges_copy_in(const struct ranges *from, struct ip_range r, struct ranges *to,
		   struct err *e) must_check;

/* ranges_same - whether both have the same addresses. */
bool ranges_same(const struct ranges *a, const struct ranges *b);

/* ranges_contain - whether a is in the set. */
bool ranges_contain(const struct ranges *s, struct ip a);

/* ranges_cover - whether all addresses of r are in the set. */
bool ranges_cover(const struct ranges *s, struct ip_range r);

/* ranges_next - the first member at or after from; IPv4 sorts before IPv6. False: there is none. */
bool ranges_next(const struct ranges *s, struct ip from, struct ip *out);

/* ranges_after - the first member after a. False: there is none. */
bool ranges_after(const struct ranges *s, struct ip a, struct ip *out);

/* ranges_capacity - the number of addresses; 2^128 - 1 for the full IPv6 space. */
u128 ranges_capacity(const struct ranges *s);

/* ranges_capacity_in - the number of addresses that r has of the set. */
u128 ranges_capacity_in(const struct ranges *s, struct ip_range r);

/* ranges_overlap - whether two sets share an address; *where becomes the first shared range. */
bool ranges_overlap(const struct ranges *a, const struct ranges *b, struct ip_range *where);

/* ranges_clear - free what s owns; s becomes empty. */
void ranges_clear(struct ranges *s);
#define auto_ranges auto_clean(ranges_clear)

#endif

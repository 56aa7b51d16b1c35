/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.c: sets of addresses as a sorted array of ranges, searched by bisection. Pure. */
#include "ipam/conf/ranges.h"

#include <string.h>

#include "lib/base/array.h"

static const u128 u128_max = ~(u128)0;

static bool touches(struct ip a_last, struct ip b_first)
{
	return a_last.family == b_first.family && a_last.v != u128_max && a_last.v + 1 == b_first.v;
}

/* Index of the first range that ends at or after a. */
static size_t find_range(const struct ranges *s, struct ip a)
{
	return ARRAY_PLACE(i, s->n, ip_cmp(s->items[i].last, a) < 0);
}

struct span {
	size_t from, to; /* to: one past the last */
};

/* Replace the ranges of a span by n others. */
static int splice(struct ranges *s, struct span at, const struct ip_range *with, size_t n,
		  struct err *e)
{
	size_t tail = s->n - at.to, total = at.from + n + tail;

	if (total > RANGES_MAX)
		return err_set(e, ERR_CONFIG, 0,
			       "more than %d ranges and excludes; join neighbouring ones",
			       RANGES_MAX);
	if (total > s->n && ARRAY_GROW_BY(s->items, s->n, total - s->n, RANGES_MAX, "ranges", e))
		return -1;
	if (tail)
		memmove(s->items + at.from + n, s->items + at.to, tail * sizeof(*s->items));
	if (n)
		memcpy(s->items + at.from, with, n * sizeof(*with));
	s->n = total;
	return 0;
}

int ranges_add(struct ranges *s, struct ip_range r, struct err *e)
{
	size_t from = find_range(s, r.first), to;

	if (from > 0 && touches(s->items[from - 1].last, r.first))
		from--;
	for (to = from; to < s->n; to++) {
		const struct ip_range *x = &s->items[to];

		if (ip_cmp(x->first, r.last) > 0 && !touches(r.last, x->first))
			break;
		if (ip_cmp(x->first, r.first) < 0)
			r.first = x->first;
		if (ip_cmp(x->last, r.last) > 0)
			r.last = x->last;
	}
	return splice(s, (struct span){ from, to }, &r, 1, e);
}

int ranges_remove(struct ranges *s, struct ip_range r, struct err *e)
{
	struct ip_range left[2];
	size_t from = find_range(s, r.first), to = from, n = 0;

	while (to < s->n && ip_cmp(s->items[to].first, r.last) <= 0)
		to++;
	if (to == from)
		return 0;
	struct ip_range head = s->items[from], tail = s->items[to - 1];
	if (ip_cmp(head.first, r.first) < 0) {
		head.last = (struct ip){ r.first.family, r.first.v - 1 };
		left[n++] = head;
	}
	if (ip_cmp(tail.last, r.last) > 0) {
		tail.first = (struct ip){ r.last.family, r.last.v + 1 };
		left[n++] = tail;
	}
	return splice(s, (struct span){ from, to }, left, n, e);
}

bool ranges_next(const struct ranges *s, struct ip from, struct ip *out)
{
	size_t i = find_range(s, from);

	if (i == s->n)
		return false;
	*out = ip_cmp(s->items[i].first, from) > 0 ? s->items[i].first : from;
	return true;
}

bool ranges_after(const struct ranges *s, struct ip a, struct ip *out)
{
	if (a.v == u128_max)
		return false;
	a.v++;
	return ranges_next(s, a, out);
}

int ranges_copy(const struct ranges *from, struct ranges *to, struct err *e)
{
	for (size_t i = 0; i < from->n; i++) {
		if (ranges_add(to, from->items[i], e))
			return -1;
	}
	return 0;
}

bool ranges_same(const struct ranges *a, const struct ranges *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = ip_equal(a->items[i].first, b->items[i].first) &&
		       ip_equal(a->items[i].last, b->items[i].last);
	return same;
}

bool ranges_contain(const struct ranges *s, struct ip a)
{
	size_t i = find_range(s, a);

	return i < s->n && ip_cmp(s->items[i].first, a) <= 0;
}

bool ranges_cover(const struct ranges *s, struct ip_range r)
{
	size_t i = find_range(s, r.first);

	return i < s->n && ip_cmp(s->items[i].first, r.first) <= 0 &&
	       ip_cmp(s->items[i].last, r.last) >= 0;
}

u128 ranges_capacity(const struct ranges *s)
{
	u128 sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		u128 size = s->items[i].last.v - s->items[i].first.v;

		/* size is one less than the number of addresses: the full space would wrap to 0. */
		if (u128_max - sum <= size)
			return u128_max;
		sum += size + 1;
	}
	return sum;
}

/* The addresses that r has of range number i. False: none, nor of those after it. */
static bool clip(const struct ranges *s, size_t i, struct ip_range r, struct ip_range *out)
{
	if (i == s->n || ip_cmp(s->items[i].first, r.last) > 0)
		return false;
	*out = s->items[i];
	if (ip_cmp(out->first, r.first) < 0)
		out->first = r.first;
	if (ip_cmp(out->last, r.last) > 0)
		out->last = r.last;
	return true;
}

int ranges_copy_in(const struct ranges *from, struct ip_range r, struct ranges *to, struct err *e)
{
	struct ip_range x;

	for (size_t i = find_range(from, r.first); clip(from, i, r, &x); i++) {
		if (ranges_add(to, x, e))
			return -1;
	}
	return 0;
}

u128 ranges_capacity_in(const struct ranges *s, struct ip_range r)
{
	struct ip_range x;
	u128 sum = 0;

	for (size_t i = find_range(s, r.first); clip(s, i, r, &x); i++) {
		if (u128_max - sum <= x.last.v - x.first.v)
			return u128_max;
		sum += x.last.v - x.first.v + 1;
	}
	return sum;
}

bool ranges_overlap(const struct ranges *a, const struct ranges *b, struct ip_range *where)
{
	for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
		const struct ip_range *x = &a->items[i], *y = &b->items[j];

		if (ip_cmp(x->last, y->first) < 0) {
			i++;
		} else if (ip_cmp(y->last, x->first) < 0) {
			j++;
		} else {
			where->first = ip_cmp(x->first, y->first) > 0 ? x->first : y->first;
			where->last = ip_cmp(x->last, y->last) < 0 ? x->last : y->last;
			return true;
		}
	}
	return false;
}

void ranges_clear(struct ranges *s)
{
	free(s->items);
	*s = (struct ranges){ 0 };
}

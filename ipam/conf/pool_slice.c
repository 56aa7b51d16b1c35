/* SPDX-License-Identifier: Apache-2.0 */
/* pool_slice.c: the grid of slices in a subnet, and the part of a pool that one slice leaves. Pure.
 */
#include "ipam/conf/pool_slice.h"

#include <stdio.h>
#include <string.h>

#define COUNT_MAX (UINT64_C(1) << 32)

struct raw {
	const char *start;
	int64_t size;
	uint32_t prefix;
};

static const struct json_field fields[] = {
	{ "prefix", J_U32, J_AT(struct raw, prefix), .max = 128 },
	{ "size", J_I64, J_AT(struct raw, size), .min = 1, .max = POOL_SLICE_SIZE_MAX },
	{ "start", J_STRING, J_AT(struct raw, start) },
	{ 0 },
};

/* Addresses behind a, up to the end of the subnet; a itself is not counted. */
static u128 pool_slice_behind(struct ip_prefix subnet, struct ip a)
{
	return ip_last(subnet).v - a.v;
}

/* The size as a number of addresses; 2^128 of a /0 is cut by one, which no slice misses. */
static u128 size_of_prefix(enum ip_family f, uint32_t len)
{
	unsigned host = ip_bits(f) - len;

	return host == 128 ? ~(u128)0 : (u128)1 << host;
}

static int decode_size(const struct json *n, const struct raw *r, struct ip_prefix subnet,
		       struct pool_slice *out, struct err *e)
{
	unsigned bits = ip_bits(subnet.addr.family);

	if (!json_get(n, "prefix") == !json_get(n, "size"))
		return err_set(
			e, ERR_CONFIG, 0,
			"slice: needs one of \"prefix\" and \"size\", as in {\"prefix\": 28}");
	if (!json_get(n, "prefix")) {
		out->size = (u128)r->size;
		return 0;
	}
	if (r->prefix < subnet.len || r->prefix > bits)
		return err_set(e, ERR_CONFIG, 0,
			       "slice.prefix: %u is not from %u, the subnet's length, to %u",
			       r->prefix, subnet.len, bits);
	out->size = size_of_prefix(subnet.addr.family, r->prefix);
	return 0;
}

static int decode_start(const struct raw *r, struct ip_prefix subnet, struct pool_slice *out,
			struct err *e)
{
	out->start = ip_network(subnet);
	if (!r->start)
		return 0;
	if (ip_parse(r->start, &out->start) || !ip_in_prefix(subnet, out->start))
		return err_set(e, ERR_CONFIG, 0,
			       "slice.start: \"%.64s\" is not an address of the subnet", r->start);
	struct ip_prefix own = { out->start, (uint8_t)r->prefix };
	if (r->prefix && !ip_equal(ip_network(own), out->start))
		return err_set(e, ERR_CONFIG, 0, "slice.start: %.64s does not begin a /%u",
			       r->start, r->prefix);
	return 0;
}

int pool_slice_decode(const struct json *n, struct ip_prefix subnet, struct pool_slice *out,
		      struct err *e)
{
	struct pool_slice s = { .size = 0 };
	struct raw r = { .size = 0 };

	if (json_decode_known(n, "slice", fields, &r, e) || decode_size(n, &r, subnet, &s, e) ||
	    decode_start(&r, subnet, &s, e))
		return -1;
	if (s.size - 1 > pool_slice_behind(subnet, s.start)) {
		err_set(e, ERR_CONFIG, 0,
			"slice: there is no room for one slice between its start and the end of "
			"the subnet");
		return err_hint(e, "choose a smaller slice");
	}
	*out = s;
	return 0;
}

uint64_t pool_slice_count(const struct pool_slice *s, struct ip_prefix subnet)
{
	/* One address less than there are: the whole IPv6 space would wrap to 0. */
	u128 left = pool_slice_behind(subnet, s->start), n = left / s->size;

	if (left % s->size == s->size - 1)
		n++;
	return n < COUNT_MAX ? (uint64_t)n : COUNT_MAX;
}

struct ip_range pool_slice_range(const struct pool_slice *s, uint32_t number)
{
	struct ip first = { s->start.family, s->start.v + s->size * number };

	return (struct ip_range){ first, { first.family, first.v + (s->size - 1) } };
}

bool pool_slice_of(const struct source *pool, struct ip a, uint64_t *number)
{
	const struct pool_slice *s = &pool->slice;

	if (!s->size || !ip_in_prefix(pool->subnet, a) || a.v < s->start.v)
		return false;
	u128 n = (a.v - s->start.v) / s->size;
	if (n >= pool_slice_count(s, pool->subnet))
		return false;
	*number = (uint64_t)n;
	return true;
}

static int refuse_number(const struct source *s, uint32_t number, struct err *e)
{
	uint64_t count = pool_slice_count(&s->slice, s->subnet);
	char net[PREFIX_STR_LEN];

	err_set(e, ERR_CONFIG, 0,
		"%s: the node's number %u is outside of the pool: subnet %s has %lu slice%s, and "
		"the highest number that fits is %lu",
		s->label, number, ip_format_prefix(s->subnet, net), (unsigned long)count,
		count == 1 ? "" : "s", (unsigned long)(count - 1));
	return err_hint(e, "give the node a lower number with `railctl ipam node set`, or the pool "
			   "smaller slices or a larger subnet");
}

/* The ranges of a pool can leave slices at both ends empty. used: its first and last address. */
static int refuse_empty(const struct source *s, struct ip_range used, uint32_t number,
			struct err *e)
{
	struct ip_range r = pool_slice_range(&s->slice, number);
	char a[IP_STR_LEN], b[IP_STR_LEN];
	uint64_t low, high;

	err_set(e, ERR_CONFIG, 0,
		"%s: slice %u (%s-%s) has no address: ranges, excludes, gateway, network and "
		"broadcast leave none",
		s->label, number, ip_format(r.first, a), ip_format(r.last, b));
	if (pool_slice_of(s, used.first, &low) && pool_slice_of(s, used.last, &high))
		err_hint(e, "slices with addresses have numbers from %lu to %lu",
			 (unsigned long)low, (unsigned long)high);
	return -1;
}

/* Remove everything of `from` that is not in r. */
static int keep_range(struct ranges *from, struct ip_range r, struct err *e)
{
	const struct ip_range *head = &from->items[0], *tail = &from->items[from->n - 1];
	struct ip_range below = { head->first, { r.first.family, r.first.v - 1 } };
	struct ip_range above = { { r.last.family, r.last.v + 1 }, tail->last };

	if (ip_cmp(below.first, r.first) < 0 && ranges_remove(from, below, e))
		return -1;
	return ip_cmp(above.last, r.last) > 0 ? ranges_remove(from, above, e) : 0;
}

int pool_slice_cut(struct source *s, uint32_t number, struct err *e)
{
	if (!s->slice.size)
		return 0;
	if (number >= pool_slice_count(&s->slice, s->subnet))
		return refuse_number(s, number, e);
	if (!s->usable.n)
		return err_set(e, ERR_CONFIG, 0, "%s: the cluster reserves all of its addresses",
			       s->label);
	struct ip_range used = { s->usable.items[0].first, s->usable.items[s->usable.n - 1].last };
	if (keep_range(&s->usable, pool_slice_range(&s->slice, number), e))
		return -1;
	if (!s->usable.n)
		return refuse_empty(s, used, number, e);
	(void)snprintf(s->label + strlen(s->label), sizeof(s->label) - strlen(s->label),
		       ", slice %u", number);
	source_identify(s);
	return 0;
}

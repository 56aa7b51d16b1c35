/* SPDX-License-Identifier: Apache-2.0 */
/* grid.c: arithmetic on the blocks of a pool; nothing here depends on how many blocks there are. */
#include "ipam/block/grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/hash.h"

/* Products of two numbers below this fit into 128 bits. A pool with more blocks uses so many. */
#define COUNT_MAX ((u128)1 << 63)

static u128 block_number(const struct grid *g, struct ip ip)
{
	return ip.v >> g->bits;
}

static struct ip start_of(const struct grid *g, u128 number)
{
	return (struct ip){ .family = g->subnet.addr.family, .v = number << g->bits };
}

struct ip grid_start(const struct grid *g, struct ip ip)
{
	return start_of(g, block_number(g, ip));
}

/*
 * The blocks of range number `at` that the range before it does not have already: two ranges may
 * share a block.
 */
static u128 blocks_of(const struct grid *g, size_t at, u128 *first)
{
	const struct ip_range *r = &g->usable->items[at];
	u128 last = block_number(g, r->last);

	*first = block_number(g, r->first);
	if (at > 0 && block_number(g, r[-1].last) == *first)
		++*first;
	return last + 1 - *first;
}

u128 grid_count(const struct grid *g)
{
	u128 count = 0, first;

	for (size_t i = 0; i < g->usable->n && count < COUNT_MAX; i++)
		count += blocks_of(g, i, &first);
	return count < COUNT_MAX ? count : COUNT_MAX;
}

struct ip grid_nth(const struct grid *g, u128 i)
{
	u128 first = 0;

	for (size_t at = 0; at < g->usable->n; at++) {
		u128 n = blocks_of(g, at, &first);

		if (i < n)
			break;
		i -= n;
	}
	return start_of(g, first + i);
}

u128 grid_usable(const struct grid *g, struct ip start)
{
	struct ip last = start;

	last.v += ((u128)1 << g->bits) - 1;
	return ranges_capacity_in(g->usable, (struct ip_range){ start, last });
}

bool grid_has(const struct grid *g, struct ip start)
{
	struct ip usable;

	if (start.family != g->subnet.addr.family || grid_start(g, start).v != start.v)
		return false;
	return ranges_next(g->usable, start, &usable) && grid_start(g, usable).v == start.v;
}

char *grid_name(const char *pool, struct ip start, char out[GRID_NAME_LEN])
{
	(void)snprintf(out, GRID_NAME_LEN, "%.*s-%016" PRIx64 "%016" PRIx64, GRID_POOL_MAX, pool,
		       (uint64_t)(start.v >> 64), (uint64_t)start.v);
	return out;
}

int grid_parse(const char *name, enum ip_family family, char pool[GRID_POOL_MAX + 1],
	       struct ip *start)
{
	const char *dash = strrchr(name, '-'), *digits = "0123456789abcdef";
	u128 v = 0;

	if (!dash || dash == name || dash - name > GRID_POOL_MAX ||
	    strspn(dash + 1, digits) != 32 || dash[33])
		return -1;
	for (const char *p = dash + 1; *p; p++)
		v = v << 4 | (unsigned)(strchr(digits, *p) - digits);
	if (family == IP_V4 && v > UINT32_MAX)
		return -1;
	(void)snprintf(pool, GRID_POOL_MAX + 1, "%.*s", (int)(dash - name), name);
	*start = (struct ip){ .family = family, .v = v };
	return 0;
}

/* ---- the order ---- */

/* The finaliser of splitmix64: neighbours become strangers. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t grid_hash(const char *a, const char *b)
{
	/* The NUL of a counts, so that two texts are not one. */
	return mix(hash_add_text(hash_add(HASH_START, a, strlen(a) + 1), b));
}

static u128 common_divisor(u128 a, u128 b)
{
	while (b) {
		u128 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

struct grid_order grid_order(u128 n, uint64_t seed)
{
	struct grid_order o = { .n = n };

	if (n == 0)
		return o;
	o.first = mix(seed) % n;
	o.step = mix(seed + 1) % n;
	/* A step without a common divisor with n visits each number once. */
	while (common_divisor(o.step, n) != 1)
		o.step = (o.step + 1) % n;
	return o;
}

u128 grid_order_at(const struct grid_order *o, u128 i)
{
	return (o->first + i % o->n * o->step) % o->n;
}

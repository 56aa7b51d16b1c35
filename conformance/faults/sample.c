/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/faults/sample.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/faults/faults.h"

void cases_add(struct cases *c, const char *text)
{
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 4096;
		c->list = realloc(c->list, c->room * sizeof(*c->list));
		if (!c->list)
			die("out of memory");
	}
	c->list[c->n] = strdup(text);
	if (!c->list[c->n++])
		die("out of memory");
}

/* "add macvlan openat:EIO:12 del" is one of the kind "openat:EIO". */
static size_t kind_of(const char *text, const char **kind)
{
	const char *fault = strchr(strchr(text, ' ') + 1, ' ') + 1;

	*kind = fault;
	return (size_t)(strrchr(fault, ':') - fault);
}

static bool same_kind(const char *a, const char *b)
{
	const char *ka, *kb;
	size_t na = kind_of(a, &ka), nb = kind_of(b, &kb);

	return na == nb && memcmp(ka, kb, na) == 0;
}

static unsigned hash(const char *text)
{
	unsigned h = 5381;

	for (; *text; text++)
		h = h * 33 + (unsigned char)*text;
	return h >> 4;
}

/* Of all cases of the kind of the i-th, one: which, is spread by a hash. */
static void pick_one(const struct cases *c, size_t i, unsigned seed, bool *seen, bool *chosen)
{
	size_t same = 0;

	for (size_t k = i; k < c->n; k++)
		same += same_kind(c->list[i], c->list[k]);
	size_t want = same ? (hash(c->list[i]) + seed) % same : 0;
	for (size_t k = i; k < c->n; k++) {
		if (!same_kind(c->list[i], c->list[k]))
			continue;
		seen[k] = true;
		if (want-- == 0)
			chosen[k] = true;
	}
}

/* Of those that are chosen, every so many-th, so that n are left. */
static void thin_out(bool *chosen, size_t all, size_t have, size_t n, unsigned seed)
{
	size_t at = 0;

	for (size_t i = 0; i < all; i++) {
		if (!chosen[i])
			continue;
		size_t turn = (at++ + seed) % have;
		chosen[i] = turn * n / have != (turn + 1) * n / have;
	}
}

static void keep_chosen(struct cases *c, const bool *chosen)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (chosen[i])
			c->list[kept++] = c->list[i];
		else
			free(c->list[i]);
	}
	c->n = kept;
}

void cases_sample(struct cases *c, size_t n, unsigned seed)
{
	bool *seen = calloc(c->n + 1, sizeof(*seen)), *chosen = calloc(c->n + 1, sizeof(*chosen));
	size_t have = 0;

	if (!seen || !chosen)
		die("out of memory");
	for (size_t i = 0; i < c->n; i++) {
		if (!seen[i])
			pick_one(c, i, seed, seen, chosen);
	}
	for (size_t i = 0; i < c->n; i++)
		have += chosen[i];
	if (have > n)
		thin_out(chosen, c->n, have, n, seed);
	for (size_t i = 0; c->n && have < n && i < n - have; i++)
		chosen[(i * c->n / (n - have) + seed) % c->n] = true;
	keep_chosen(c, chosen);
	free(seen);
	free(chosen);
}

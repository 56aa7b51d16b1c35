/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c: the groups of leaves by name, and the switches that join them. */
#include "fabric/blocks.h"

#include <stdlib.h>
#include <string.h>

/* Beside the index of a group; FABRIC_NO_GROUP: it is neither. */
#define IS_NODE (SIZE_MAX - 1)
#define IS_TWO  (SIZE_MAX - 2)

struct named {
	const char *name;
	size_t of;
};

static int compare_hosts(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const size_t n = strcspn(x->name, "."), m = strcspn(y->name, ".");
	const int rc = memcmp(x->name, y->name, n < m ? n : m);

	return rc ? rc : (n > m) - (n < m);
}

static size_t what_is(const struct named *list, size_t n, const char *name)
{
	const struct named key = { name, 0 };
	const struct named *x = bsearch(&key, list, n, sizeof(key), compare_hosts);

	if (!x)
		return FABRIC_NO_GROUP;
	for (const struct named *y = x; y > list && !compare_hosts(x, y - 1); y--)
		if (y[-1].of != x->of)
			return IS_TWO;
	for (const struct named *y = x; y < list + n && !compare_hosts(x, y); y++)
		if (y->of != x->of)
			return IS_TWO;
	return x->of;
}

static size_t root_of(const size_t *block, size_t i)
{
	while (block[i] != i)
		i = block[i];
	return i;
}

int fabric_blocks(const struct fabric_groups *g, const struct fabric_node *node, size_t n_nodes,
		  const struct intent *t, size_t *block)
{
	auto_free struct named *name =
		calloc(n_nodes + 2 * g->n * FABRIC_PORTS_MAX + 1, sizeof(*name));
	auto_free struct named *above = calloc(2 * t->n + 1, sizeof(*above));
	auto_free bool *known = calloc(g->n + 1, sizeof(*known));
	size_t n = 0, n_above = 0;
	bool all = g->n > 0;

	if (!name || !above || !known)
		return -1;
	for (; n < n_nodes; n++)
		name[n] = (struct named){ node[n].name, IS_NODE };
	for (size_t i = 0; i < g->n; i++)
		for (const struct fabric_place *p = g->group[i].place;
		     p < g->group[i].place + g->group[i].n_places; p++)
			for (size_t k = 0; p->leaf && k < 2; k++)
				name[n++] = (struct named){ k ? p->leaf : p->system, i };
	qsort(name, n, sizeof(*name), compare_hosts);
	for (size_t i = 0; i < 2 * t->n; i++) {
		const struct intent_cable *c = &t->cable[i / 2];
		const char *a = i % 2 ? c->leaf : c->node, *b = i % 2 ? c->node : c->leaf;
		const size_t of = what_is(name, n, a);

		if ((of < g->n || of == IS_NODE) && what_is(name, n, b) == FABRIC_NO_GROUP)
			above[n_above++] = (struct named){ b, of };
	}
	qsort(above, n_above, sizeof(*above), compare_hosts);
	for (size_t i = 0; i < g->n; i++)
		block[i] = i;
	/* The cables of one switch after the other. */
	for (size_t i = 0, end; i < n_above; i = end) {
		bool has_node = false;

		for (end = i; end < n_above && !compare_hosts(&above[i], &above[end]); end++)
			has_node |= above[end].of == IS_NODE;
		for (const struct named *x = above + i; x < above + end && !has_node; x++) {
			const size_t a = root_of(block, above[i].of), b = root_of(block, x->of);

			block[a > b ? a : b] = a < b ? a : b;
			known[x->of] = true;
		}
	}
	for (size_t i = 0; i < g->n; i++)
		all = all && known[i];
	for (size_t i = 0; i < g->n; i++)
		block[i] = all ? root_of(block, i) : FABRIC_NO_GROUP;
	return 0;
}

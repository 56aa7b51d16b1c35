/* SPDX-License-Identifier: Apache-2.0 */
/* node_ranges.c: one row for each node that has addresses in pools. */
#include "railheadd/reserved/node_ranges.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

static void drop(struct node_ranges *t, size_t i)
{
	ranges_clear(&t->items[i].ranges);
	t->items[i] = t->items[--t->n];
}

void node_ranges_begun(struct node_ranges *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->items[i].listed = false;
}

void node_ranges_listed(struct node_ranges *t)
{
	for (size_t i = t->n; i--;) {
		if (!t->items[i].listed)
			drop(t, i);
	}
}

void node_ranges_gone(struct node_ranges *t, const char *node)
{
	for (size_t i = t->n; i--;) {
		if (strcmp(t->items[i].node, node) == 0)
			drop(t, i);
	}
}

void node_ranges_clear(struct node_ranges *t)
{
	while (t->n)
		drop(t, t->n - 1);
	free(t->items);
	t->items = NULL;
}

int node_ranges_see(struct node_ranges *t, const struct cluster_object *o, struct err *e)
{
	struct node_range row = { .listed = true };

	node_ranges_gone(t, o->name);
	if (cluster_reserved_decode(o->value, &row.ranges, e))
		return -1;
	if (ranges_capacity(&row.ranges) > NODE_RANGES_EACH || strlen(o->name) >= NODE_NAME_LEN) {
		ranges_clear(&row.ranges);
		return err_set(e, ERR_CONFIG, 0, "ranges: more than %d addresses of one node",
			       NODE_RANGES_EACH);
	}
	if (ARRAY_GROW(t->items, t->n, NODE_RANGES_MAX, "nodes", e)) {
		ranges_clear(&row.ranges);
		return -1;
	}
	(void)snprintf(row.node, sizeof(row.node), "%.*s", NODE_NAME_LEN - 1, o->name);
	t->items[t->n++] = row;
	return 0;
}

size_t node_ranges_add(const struct node_ranges *t, struct ranges *all)
{
	size_t left = 0;
	struct err e;

	for (size_t i = 0; i < t->n; i++) {
		const struct ranges *of = &t->items[i].ranges;

		left += all->n + of->n > NODE_RANGES_ALL || ranges_copy(of, all, &e);
	}
	return left;
}

const char *node_ranges_who(const struct node_ranges *t, struct ip ip)
{
	for (size_t i = 0; i < t->n; i++) {
		if (ranges_contain(&t->items[i].ranges, ip))
			return t->items[i].node;
	}
	return NULL;
}

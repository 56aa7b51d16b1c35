/* SPDX-License-Identifier: Apache-2.0 */
/* node_ranges.c: one row for each node that has addresses in pools. */
#include "railheadd/pools/node_ranges.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

static void node_ranges_drop(struct node_ranges *t, size_t i)
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
			node_ranges_drop(t, i);
	}
}

void node_ranges_gone(struct node_ranges *t, const char *node)
{
	for (size_t i = t->n; i--;) {
		if (strcmp(t->items[i].node, node) == 0)
			node_ranges_drop(t, i);
	}
}

void node_ranges_clear(struct node_ranges *t)
{
	while (t->n)
		node_ranges_drop(t, t->n - 1);
	free(t->items);
	t->items = NULL;
}

int node_ranges_see(struct node_ranges *t, const struct cluster_object *o, struct err *e)
{
	struct node_range row = { .listed = true };

	/* An object that cannot be read is not gone. */
	for (size_t i = 0; i < t->n; i++)
		t->items[i].listed |= strcmp(t->items[i].node, o->name) == 0;
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
	node_ranges_gone(t, o->name);
	(void)snprintf(row.node, sizeof(row.node), "%.*s", NODE_NAME_LEN - 1, o->name);
	t->items[t->n++] = row;
	return 0;
}

static int compare_ips(const void *a, const void *b)
{
	return ip_cmp(*(const struct ip *)a, *(const struct ip *)b);
}

/* The addresses of s, one by one. */
static size_t spread(const struct ranges *s, struct ip *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct ip_range r = s->items[i];

		for (u128 k = 0; k <= r.last.v - r.first.v; k++)
			out[n++] = (struct ip){ r.first.family, r.first.v + k };
	}
	return n;
}

/* All addresses of nodes in their order; some may come twice. NULL: no memory. */
static struct ip *sorted(const struct node_ranges *t, const struct ranges *own, size_t *n)
{
	size_t max = (size_t)ranges_capacity(own);

	for (size_t i = 0; i < t->n; i++)
		max += (size_t)ranges_capacity(&t->items[i].ranges);

	struct ip *ips = calloc(max ? max : 1, sizeof(*ips));

	if (!ips)
		return NULL;
	*n = spread(own, ips);
	for (size_t i = 0; i < t->n; i++)
		*n += spread(&t->items[i].ranges, ips + *n);
	qsort(ips, *n, sizeof(*ips), compare_ips);
	return ips;
}

int node_ranges_add(const struct node_ranges *t, const struct ranges *own, struct ranges *all,
		    size_t *left, struct err *e)
{
	bool full = false;
	size_t n = 0;
	auto_free struct ip *ips = sorted(t, own, &n);

	if (!ips)
		return err_nomem(e);
	*left = 0;
	for (size_t i = 0; i < n; i++) {
		const struct ip_range r = { ips[i], ips[i] };

		if ((i && ip_equal(ips[i - 1], ips[i])) || ranges_contain(all, ips[i]))
			continue;
		if (!full && ranges_add(all, r, e))
			return -1;
		if (!full && all->n > NODE_RANGES_ALL) {
			full = true;
			if (ranges_remove(all, r, e))
				return -1;
		}
		*left += full && !ranges_contain(own, ips[i]);
	}
	return ranges_copy(own, all, e);
}

const char *node_ranges_who(const struct node_ranges *t, struct ip ip)
{
	for (size_t i = 0; i < t->n; i++) {
		if (ranges_contain(&t->items[i].ranges, ip))
			return t->items[i].node;
	}
	return NULL;
}

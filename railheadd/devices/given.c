/* SPDX-License-Identifier: Apache-2.0 */
/* given.c: an array of ids that is sorted after each change. */
#include "railheadd/devices/given.h"

#include <string.h>

#include "lib/base/array.h"

void given_clear(struct given *g)
{
	free(g->id);
	*g = (struct given){ .n = 0 };
}

static int devices_given_add(struct given *g, const char *id, struct given_id new, struct err *e)
{
	size_t len = strlen(id);

	if (!len || len >= RESOURCE_ID_LEN)
		return 0;
	if (ARRAY_GROW(g->id, g->n, 2 * RESOURCE_IDS_MAX, "devices of pods", e))
		return -1;
	memcpy(new.id, id, len + 1);
	g->id[g->n++] = new;
	return 0;
}

int given_add(struct given *g, const char *id, int64_t at, struct err *e)
{
	return devices_given_add(g, id, (struct given_id){ .at = at }, e);
}

int given_list(struct given *g, const char *id, int64_t at, struct err *e)
{
	return devices_given_add(g, id, (struct given_id){ .at = at, .listed = true }, e);
}

/* The latest of an id comes first, and an Allocate before a list of the same time. */
static int by_id(const void *a, const void *b)
{
	const struct given_id *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	if (!order)
		order = (x->at < y->at) - (x->at > y->at);
	return order ? order : x->listed - y->listed;
}

static int compare_id(const void *id, const void *x)
{
	return strcmp(id, ((const struct given_id *)x)->id);
}

void given_in_use(struct given *g, const char *id, int64_t at)
{
	struct given_id *x = g->n ? bsearch(id, g->id, g->n, sizeof(*x), compare_id) : NULL;

	if (x && !x->listed && x->at < at)
		x->at = at;
}

void given_settle(struct given *g, int64_t since)
{
	size_t n = 0;

	if (g->n)
		qsort(g->id, g->n, sizeof(*g->id), by_id);
	for (size_t i = 0; i < g->n; i++) {
		if (g->id[i].at < since || (n && strcmp(g->id[n - 1].id, g->id[i].id) == 0))
			continue;
		g->id[n++] = g->id[i];
	}
	g->n = n;
}

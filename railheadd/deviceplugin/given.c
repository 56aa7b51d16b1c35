/* SPDX-License-Identifier: Apache-2.0 */
/* given.c: an array of ids that is sorted after each change. */
#include "railheadd/deviceplugin/given.h"

#include <string.h>

#include "lib/base/array.h"

void given_clear(struct given *g)
{
	free(g->id);
	*g = (struct given){ .n = 0 };
}

int given_add(struct given *g, const char *id, int64_t at, struct err *e)
{
	size_t len = strlen(id);

	if (!len || len >= RESOURCE_ID_LEN)
		return 0;
	if (ARRAY_GROW(g->id, g->n, 2 * RESOURCE_IDS_MAX, "devices of pods", e))
		return -1;
	memcpy(g->id[g->n].id, id, len + 1);
	g->id[g->n++].at = at;
	return 0;
}

/* The latest of an id comes first. */
static int by_id(const void *a, const void *b)
{
	const struct given_id *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	return order ? order : (x->at < y->at) - (x->at > y->at);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* look.c: a look at the hardware, and what can be said of two looks. */
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "railheadd/resources/assign.h"

void resource_look_clear(struct resource_look *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->of[i].device);
		free(l->of[i].hca);
	}
	for (size_t i = 0; i < l->n_notes; i++)
		free(l->note[i]);
	free(l->of);
	free(l->note);
	*l = (struct resource_look){ 0 };
}

int resources_look(const struct ctx *ctx, const struct resource_set *s, struct resource_look *out,
		   struct err *e)
{
	auto_functions struct functions all = { 0 };

	return functions_read(ctx, &all, e) || functions_assign(&all, s, out, e) ? -1 : 0;
}

/* The place of an id among the devices from `from` to before `end`; end: it is not there. */
static size_t find(const struct resource_devices *d, const char *id, size_t from, size_t end)
{
	while (from < end && strcmp(d->device[from].id, id) != 0)
		from++;
	return from;
}

static int add_gone(struct resource_devices *d, const char *id, struct err *e)
{
	size_t all = d->n + d->n_maybe;
	struct resource_device *x;

	if (ARRAY_GROW(d->device, all, RESOURCE_IDS_MAX, "devices of a resource", e))
		return -1;
	memmove(&d->device[d->n + 1], &d->device[d->n], d->n_maybe * sizeof(*d->device));
	x = &d->device[d->n++];
	*x = (struct resource_device){ .gpu_distance = UINT32_MAX };
	(void)snprintf(x->id, sizeof(x->id), "%s", id);
	(void)snprintf(x->why, sizeof(x->why),
		       "it is gone, or no longer belongs to the resource; a pod may have it");
	return 0;
}

static int keep(struct resource_devices *d, const char *id, struct err *e)
{
	size_t all = d->n + d->n_maybe, at = find(d, id, 0, all);
	struct resource_device x;

	if (at == all)
		return *id && strlen(id) < RESOURCE_ID_LEN ? add_gone(d, id, e) : 0;
	x = d->device[at];
	if (x.busy) {
		x.busy = false;
		x.healthy = true;
		x.why[0] = '\0';
	}
	if (at >= d->n) {
		d->device[at] = d->device[d->n];
		at = d->n++;
		d->n_maybe--;
	}
	d->device[at] = x;
	return 0;
}

int resource_devices_keep(struct resource_devices *d, const char *const *id, size_t n,
			  struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		if (keep(d, id[i], e))
			return -1;
	}
	return 0;
}

bool resource_devices_same(const struct resource_devices *a, const struct resource_devices *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct resource_device *x = &a->device[i], *y = &b->device[i];

		if (strcmp(x->id, y->id) != 0 || x->healthy != y->healthy ||
		    x->n_numa != y->n_numa ||
		    memcmp(x->numa, y->numa, x->n_numa * sizeof(x->numa[0])) != 0)
			return false;
	}
	return true;
}

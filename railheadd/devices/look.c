/* SPDX-License-Identifier: Apache-2.0 */
/* look.c: what can be said of two looks at the hardware. */
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "railheadd/devices/assign.h"

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

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The ids that a kubelet can have given, in order and each once; *n of them. NULL: no memory. */
static const char **sorted_ids(const char *const *id, size_t *n)
{
	const char **out = calloc(*n + 1, sizeof(*out));
	size_t all = 0, once = 0;

	for (size_t i = 0; out && i < *n; i++) {
		if (*id[i] && strlen(id[i]) < RESOURCE_ID_LEN)
			out[all++] = id[i];
	}
	if (all)
		qsort(out, all, sizeof(*out), by_text);
	for (size_t i = 0; i < all; i++) {
		if (!once || strcmp(out[once - 1], out[i]) != 0)
			out[once++] = out[i];
	}
	*n = once;
	return out;
}

/* A pod may have the device at this place. */
static void look_keep(struct resource_devices *d, size_t at)
{
	struct resource_device x = d->device[at];

	x.attached = false;
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
}

static int add_gone(struct resource_devices *d, const char *const *gone, size_t n, struct err *e)
{
	size_t all = d->n + d->n_maybe;

	if (!n)
		return 0;
	if (ARRAY_GROW_BY(d->device, all, n, RESOURCE_IDS_MAX, "devices of a resource", e))
		return -1;
	memmove(&d->device[d->n + n], &d->device[d->n], d->n_maybe * sizeof(*d->device));
	for (size_t i = 0; i < n; i++) {
		struct resource_device *x = &d->device[d->n++];

		*x = (struct resource_device){ .gpu_distance = UINT32_MAX };
		(void)snprintf(x->id, sizeof(x->id), "%s", gone[i]);
		(void)snprintf(x->why, sizeof(x->why),
			       "it is gone, or no longer belongs to the resource; a pod may have "
			       "it");
	}
	return 0;
}

int resource_devices_keep(struct resource_devices *d, const char *const *id, size_t n,
			  struct err *e)
{
	auto_free const char **ids = sorted_ids(id, &n);
	auto_free bool *found = calloc(n + 1, sizeof(*found));
	size_t gone = 0;

	if (!ids || !found)
		return err_nomem(e);
	/* keep() may move a device to this place, but only one that was before it. */
	for (size_t i = 0; i < d->n + d->n_maybe; i++) {
		const char *key = d->device[i].id;
		const char **at = bsearch(&key, ids, n, sizeof(*ids), by_text);

		if (!at)
			continue;
		found[at - ids] = true;
		look_keep(d, i);
	}
	for (size_t i = 0; i < n; i++) {
		if (!found[i])
			ids[gone++] = ids[i];
	}
	return add_gone(d, ids, gone, e);
}

const struct resource_device *resource_devices_find(const struct resource_devices *d,
						    const char *id)
{
	uint64_t at;

	/* A copy is at the place of its number. */
	if (d->n && parse_u64(id, 0, d->n - 1, &at) == 0 && strcmp(d->device[at].id, id) == 0)
		return &d->device[at];
	for (size_t i = 0; i < d->n; i++) {
		if (strcmp(d->device[i].id, id) == 0)
			return &d->device[i];
	}
	return NULL;
}

void resource_devices_outside(struct resource_devices *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct resource_device *x = &d->device[i];

		if (!x->attached || !x->healthy)
			continue;
		x->healthy = false;
		x->busy = true;
		(void)snprintf(x->why, sizeof(x->why),
			       "an attachment has it, and the kubelet gave it to no pod");
	}
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

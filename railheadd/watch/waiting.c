/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.c: an array of leftovers; each pass marks those that it saw. */
#include "railheadd/watch/waiting.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

void waiting_clear(struct waiting *w)
{
	free(w->items);
	*w = (struct waiting){ .items = NULL };
}

void waiting_begin(struct waiting *w)
{
	for (size_t i = 0; i < w->n; i++)
		w->items[i].seen = false;
}

void waiting_end(struct waiting *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->items[i].seen)
			w->items[kept++] = w->items[i];
	}
	w->n = kept;
}

static struct waiting_item *find_item(const struct waiting *w, const struct leftover *f)
{
	for (size_t i = 0; i < w->n; i++) {
		struct waiting_item *x = &w->items[i];

		if (x->kind == f->kind && strcmp(x->what, f->what) == 0)
			return x;
	}
	return NULL;
}

static struct waiting_item *waiting_add_item(struct waiting *w, const struct leftover *f)
{
	struct err ignored;

	if (ARRAY_GROW(w->items, w->n, WAITING_MAX, "leftovers", &ignored))
		return NULL;
	struct waiting_item *x = &w->items[w->n++];

	*x = (struct waiting_item){ .kind = f->kind };
	(void)snprintf(x->what, sizeof(x->what), "%s", f->what);
	(void)snprintf(x->pod, sizeof(x->pod), "%s", f->pod);
	return x;
}

bool waiting_note(struct waiting *w, const struct leftover *f, int64_t now)
{
	struct waiting_item *x = find_item(w, f);

	if (f->outcome == LEFTOVER_REPAIRED) {
		if (x)
			x->seen = false; /* waiting_end() forgets it */
		return true;
	}
	bool known = x && strcmp(x->mark, f->mark) == 0;
	if (!x)
		x = waiting_add_item(w, f);
	if (!x)
		return false;
	bool news = !known || x->outcome != f->outcome ||
		    strncmp(x->why, f->why, sizeof(x->why) - 1) != 0;
	if (!known)
		x->since = now;
	x->outcome = f->outcome;
	x->seen = true;
	(void)snprintf(x->mark, sizeof(x->mark), "%s", f->mark);
	(void)snprintf(x->state, sizeof(x->state), "%s", f->state);
	(void)snprintf(x->why, sizeof(x->why), "%s", f->why);
	return news;
}

static bool is_due(const struct waiting_due *d, const struct waiting_item *x)
{
	return x->outcome != LEFTOVER_ALONE && d->now - x->since >= d->grace;
}

bool waiting_is_due(const struct waiting_due *d, const struct leftover *f)
{
	const struct waiting_item *x = find_item(d->w, f);

	return x && strcmp(x->mark, f->mark) == 0 && is_due(d, x);
}

bool waiting_any_due(const struct waiting_due *d)
{
	for (size_t i = 0; i < d->w->n; i++) {
		if (is_due(d, &d->w->items[i]))
			return true;
	}
	return false;
}

int64_t waiting_next(const struct waiting *w, int64_t now, int64_t grace)
{
	int64_t next = -1;

	for (size_t i = 0; i < w->n; i++) {
		int64_t left = w->items[i].since + grace - now;

		if (w->items[i].outcome != LEFTOVER_STALE)
			continue;
		if (left < 0)
			left = 0;
		if (next < 0 || left < next)
			next = left;
	}
	return next;
}

size_t waiting_count(const struct waiting *w, enum leftover_outcome outcome)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->items[i].outcome == outcome;
	return n;
}

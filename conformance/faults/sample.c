/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c: the list of cases; chooses a part of it in which each class of faults has a share. */
#include "conformance/faults/sample.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/faults/faults.h"

#define LAYERS 8 /* the classes of faults, (a) to (h) */

void cases_add(struct cases *c, const char *text)
{
	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 4096;
		c->list = realloc(c->list, c->cap * sizeof(*c->list));
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

/* ---- a part of the cases ---- */

/* Cases of one class of faults, and what is chosen of them. */
struct layer {
	size_t n, kinds, quota;
};

struct pick {
	const struct cases *c;
	unsigned seed;
	size_t *layer; /* by case */
	bool *seen, *chosen;
	struct layer of[LAYERS];
};

static size_t layer_of(const char *text, const char *plugin)
{
	struct fault f;

	if (!fault_parse(text, plugin, &f))
		die("not a case: %s", text);
	for (size_t i = 0; i < fault_n_classes && i < LAYERS; i++) {
		if (fault_classes[i] == fault_class(&f))
			return i;
	}
	die("of no class: %s", text);
}

/* Of all cases of the kind of the i-th, one: which, is spread by a hash. */
static void pick_one(struct pick *p, size_t i)
{
	char *const *list = p->c->list;
	size_t same = 0;

	for (size_t k = i; k < p->c->n; k++)
		same += same_kind(list[i], list[k]);
	size_t want = same ? (hash(list[i]) + p->seed) % same : 0;
	for (size_t k = i; k < p->c->n; k++) {
		if (!same_kind(list[i], list[k]))
			continue;
		p->seen[k] = true;
		if (want-- == 0)
			p->chosen[k] = true;
	}
}

/*
 * Each class has a share, however many cases another one has: one half is spread evenly, the
 * other to those classes that have more kinds than that, and then to those that have more cases.
 */
static void share_out(struct pick *p, size_t n)
{
	size_t left = n, before;

	for (size_t i = 0; i < LAYERS; i++) {
		p->of[i].quota = p->of[i].n < n / (2 * LAYERS) ? p->of[i].n : n / (2 * LAYERS);
		left -= p->of[i].quota;
	}
	for (int enough = 0; enough < 2; enough++) {
		do {
			before = left;
			for (size_t i = 0; i < LAYERS && left; i++) {
				struct layer *l = &p->of[i];
				bool more = l->quota < (enough ? l->n : l->kinds);
				l->quota += more;
				left -= more;
			}
		} while (left && left < before);
	}
}

/* Invert the choice of n cases of one class, evenly spread over those that are `chosen` now. */
static void turn(struct pick *p, size_t layer, bool chosen, size_t n)
{
	size_t have = 0, at = 0;

	for (size_t i = 0; i < p->c->n; i++)
		have += p->layer[i] == layer && p->chosen[i] == chosen;
	for (size_t i = 0; i < p->c->n && n; i++) {
		if (p->layer[i] != layer || p->chosen[i] != chosen)
			continue;
		size_t k = (at++ + p->seed) % have;
		if (k * n / have != (k + 1) * n / have)
			p->chosen[i] = !chosen;
	}
}

static void choose(struct pick *p, const char *plugin, size_t n)
{
	for (size_t i = 0; i < p->c->n; i++) {
		struct layer *l = &p->of[p->layer[i] = layer_of(p->c->list[i], plugin)];
		l->n++;
		l->kinds += !p->seen[i];
		if (!p->seen[i])
			pick_one(p, i);
	}
	share_out(p, n);
	for (size_t i = 0; i < LAYERS; i++) {
		const struct layer *l = &p->of[i];
		if (l->kinds > l->quota)
			turn(p, i, true, l->kinds - l->quota);
		else
			turn(p, i, false, l->quota - l->kinds);
	}
}

/* The class's next chosen case behind at, or the end. */
static size_t next_of(const struct pick *p, size_t layer, size_t at)
{
	while (at < p->c->n && !(p->chosen[at] && p->layer[at] == layer))
		at++;
	return at;
}

/* Classes take turns, so that the beginning of a sample is one as well. */
static void keep_chosen(struct cases *c, struct pick *p)
{
	size_t at[LAYERS] = { 0 }, kept = 0, before;
	char **list = calloc(c->n + 1, sizeof(*list));

	if (!list)
		die("out of memory");
	do {
		before = kept;
		for (size_t i = 0; i < LAYERS; i++) {
			at[i] = next_of(p, i, at[i]);
			if (at[i] < c->n)
				list[kept++] = c->list[at[i]++];
		}
	} while (kept > before);
	for (size_t i = 0; i < c->n; i++) {
		if (!p->chosen[i])
			free(c->list[i]);
	}
	free(c->list);
	*c = (struct cases){ .list = list, .n = kept, .cap = c->n + 1 };
}

void cases_sample(struct cases *c, size_t n, unsigned seed, const char *plugin)
{
	struct pick p = { .c = c, .seed = seed };

	p.layer = calloc(c->n + 1, sizeof(*p.layer));
	p.seen = calloc(c->n + 1, sizeof(*p.seen));
	p.chosen = calloc(c->n + 1, sizeof(*p.chosen));
	if (!p.layer || !p.seen || !p.chosen)
		die("out of memory");
	choose(&p, plugin, n < c->n ? n : c->n);
	keep_chosen(c, &p);
	free(p.layer);
	free(p.seen);
	free(p.chosen);
}

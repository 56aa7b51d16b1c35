/* SPDX-License-Identifier: Apache-2.0 */
/* preferred.c: which of the available devices a container should get. Pure. */
#include <string.h>

#include "railheadd/devices/preferred.h"

/* One available id. PFs and switches have numbers, by their first device. */
struct candidate {
	const char *id;
	const struct resource_device *d; /* NULL: not of the resource */
	size_t pf, bridge;
	bool chosen;
};

/* How many devices of a PF, or below a switch, are chosen, and how many of a PF are in use. */
struct usage {
	size_t chosen, in_use;
};

struct choice {
	struct candidate *c; /* in the order of ids, each once */
	size_t n;
	struct usage *pf, *bridge; /* by number */
};

static void choice_clear(struct choice *x)
{
	free(x->c);
	free(x->pf);
	free(x->bridge);
}

/* ---- order of ids: PCI addresses, then numbers of copies by their value ---- */

static int compare_ids(const char *a, const char *b)
{
	struct pci_addr x, y;
	bool is_x = pci_parse(a, &x) == 0, is_y = pci_parse(b, &y) == 0;
	size_t m = strlen(a), n = strlen(b);

	if (is_x && is_y)
		return cmp_u64(pci_order(x), pci_order(y));
	if (is_x != is_y)
		return is_y - is_x;
	return m != n ? cmp_u64(m, n) : strcmp(a, b);
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return compare_ids(x->id, y->id);
}

static struct candidate *preferred_find(const struct choice *x, const char *id)
{
	const struct candidate key = { .id = id };

	return x->n ? bsearch(&key, x->c, x->n, sizeof(*x->c), compare_candidates) : NULL;
}

/* ---- the candidates ---- */

static int preferred_collect(struct choice *x, const struct resource_preference *q, struct err *e)
{
	size_t n = 0;

	x->c = calloc(q->n_available + 1, sizeof(*x->c));
	if (!x->c)
		return err_nomem(e);
	for (size_t i = 0; i < q->n_available; i++)
		x->c[n++].id = q->available[i];
	qsort(x->c, n, sizeof(*x->c), compare_candidates);
	for (size_t i = 0; i < n; i++) {
		if (x->n == 0 || compare_ids(x->c[x->n - 1].id, x->c[i].id) != 0)
			x->c[x->n++] = x->c[i];
	}
	return 0;
}

/* The number of a PF or switch: the first candidate that has it. Copies share none. */
static void preferred_number(struct choice *x)
{
	for (size_t i = 0; i < x->n; i++) {
		struct candidate *c = &x->c[i];

		c->pf = c->bridge = i;
		/* Neighbours mostly share both, so the search is short. */
		for (size_t k = i; c->d && (*c->d->pf || *c->d->bridge) && k > 0; k--) {
			const struct candidate *b = &x->c[k - 1];

			if (b->d && c->pf == i && *b->d->pf && strcmp(b->d->pf, c->d->pf) == 0)
				c->pf = b->pf;
			if (b->d && c->bridge == i && *b->d->bridge &&
			    strcmp(b->d->bridge, c->d->bridge) == 0)
				c->bridge = b->bridge;
			if (c->pf != i && c->bridge != i)
				break;
		}
	}
}

/* A device that is not available is in use. */
static void count_in_use(struct choice *x, const struct resource_devices *d)
{
	for (size_t i = 0; i < d->n; i++) {
		if (!*d->device[i].pf || preferred_find(x, d->device[i].id))
			continue;
		for (size_t k = 0; k < x->n; k++) {
			if (x->c[k].d && strcmp(x->c[k].d->pf, d->device[i].pf) == 0) {
				x->pf[x->c[k].pf].in_use++;
				break;
			}
		}
	}
}

static int preferred_prepare(struct choice *x, const struct resource_devices *d,
			     const struct resource_preference *q, struct err *e)
{
	if (preferred_collect(x, q, e))
		return -1;
	x->pf = calloc(x->n + 1, sizeof(*x->pf));
	x->bridge = calloc(x->n + 1, sizeof(*x->bridge));
	if (!x->pf || !x->bridge)
		return err_nomem(e);
	for (size_t i = 0; i < d->n; i++) {
		struct candidate *c = preferred_find(x, d->device[i].id);

		if (c)
			c->d = &d->device[i];
	}
	preferred_number(x);
	count_in_use(x, d);
	return 0;
}

/* ---- the choice ---- */

/* < 0: a is better. They are compared in the order of ids, which decides between equals. */
static int preferred_compare(const struct choice *x, const struct candidate *a,
			     const struct candidate *b)
{
	int c;

	if (!a->d != !b->d)
		return a->d ? -1 : 1;
	if (!a->d)
		return 0;
	if ((c = cmp_u64(x->pf[a->pf].chosen, x->pf[b->pf].chosen)) ||
	    (c = cmp_u64(x->bridge[a->bridge].chosen, x->bridge[b->bridge].chosen)) ||
	    (c = cmp_u64(a->d->gpu_distance, b->d->gpu_distance)))
		return c;
	return cmp_u64(x->pf[a->pf].in_use, x->pf[b->pf].in_use);
}

static const char *preferred_choose(struct choice *x, struct candidate *c)
{
	c->chosen = true;
	x->pf[c->pf].chosen++;
	x->bridge[c->bridge].chosen++;
	return c->id;
}

static struct candidate *best(const struct choice *x)
{
	struct candidate *found = NULL;

	for (size_t i = 0; i < x->n; i++) {
		if (!x->c[i].chosen && (!found || preferred_compare(x, &x->c[i], found) < 0))
			found = &x->c[i];
	}
	return found;
}

/* An id of must that is not available is returned all the same: the kubelet demands it. */
static size_t choose_must(struct choice *x, const struct resource_preference *q, const char **out)
{
	size_t n = 0;

	for (size_t i = 0; i < q->n_must; i++) {
		struct candidate *c = preferred_find(x, q->must[i]);

		if (c && c->chosen)
			continue;
		out[n++] = c ? preferred_choose(x, c) : q->must[i];
	}
	return n;
}

/* Copies are alike, and there may be too many to compare each with each. */
static size_t choose_copies(struct choice *x, const struct resource_preference *q, size_t n,
			    const char **out)
{
	for (int known = 1; known >= 0; known--) {
		for (size_t i = 0; i < x->n && n < q->size; i++) {
			if (!x->c[i].chosen && !x->c[i].d == !known)
				out[n++] = preferred_choose(x, &x->c[i]);
		}
	}
	return n;
}

int resource_preferred(const struct resource_devices *d, const struct resource_preference *q,
		       const char **out, size_t *n, struct err *e)
{
	auto_clean(choice_clear) struct choice x = { .c = NULL };
	struct candidate *c;
	size_t found;

	if (q->n_must > q->size)
		return err_set(e, ERR_FIELD, 0, "%zu devices must be chosen, but only %zu may be",
			       q->n_must, q->size);
	if (preferred_prepare(&x, d, q, e))
		return -1;
	found = choose_must(&x, q, out);
	if (d->n_hcas)
		found = choose_copies(&x, q, found, out);
	while (found < q->size && (c = best(&x)))
		out[found++] = preferred_choose(&x, c);
	*n = found;
	return 0;
}

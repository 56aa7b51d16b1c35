// SPDX-License-Identifier: Apache-2.0
#include "topo/core/choose_priv.h"

#include <string.h>

/* What is assigned at one time: cards, each by the number of one of its HCAs, to GPUs. */
struct cards {
	const struct aff_assignment *d;
	const uint32_t *hca; /* nearest to all of these GPUs, by PCI address */
	size_t n_hcas;
	uint32_t *card;
	uint32_t n_cards, n_takers;
};

/* Of `items` in order, those of GPU i among n: its own from first on; all GPUs share the rest. */
struct share_range {
	uint32_t first, own, rest;
};

static struct share_range share_of(uint32_t items, uint32_t takers, uint32_t i)
{
	uint32_t each = items / takers;

	return (struct share_range){ i * each, each, takers * each };
}

static bool contains(const uint32_t *list, uint32_t n, uint32_t x)
{
	for (uint32_t i = 0; i < n; i++) {
		if (list[i] == x)
			return true;
	}
	return false;
}

/* The cards that the fewest GPUs have so far, in the order in which they are first seen. */
static void find_cards(struct cards *t)
{
	const struct aff_machine *m = t->d->m;
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < t->n_hcas; i++) {
		uint32_t load = t->d->load[m->hca[t->hca[i]].card];
		least = load < least ? load : least;
	}
	for (size_t i = 0; i < t->n_hcas; i++) {
		uint32_t card = m->hca[t->hca[i]].card;
		if (t->d->load[card] == least && !contains(t->card, t->n_cards, card))
			t->card[t->n_cards++] = card;
	}
}

static void assign_hca(struct aff_gpu_choice *g, uint32_t hca)
{
	if (!g->n_share)
		g->assigned = hca;
	g->share[g->n_share++] = hca;
}

static void assign_card(const struct cards *t, struct aff_gpu_choice *g, uint32_t card)
{
	for (size_t i = 0; i < t->n_hcas; i++) {
		if (t->d->m->hca[t->hca[i]].card == card)
			assign_hca(g, t->hca[i]);
	}
	t->d->load[card]++;
}

/* A card or more to each. */
static void assign_cards(const struct cards *t, struct aff_gpu_choice *g, uint32_t i)
{
	struct share_range h = share_of(t->n_cards, t->n_takers, i);

	for (uint32_t k = 0; k < h.own; k++)
		assign_card(t, g, t->card[h.first + k]);
	g->n_own = g->n_share;
	for (uint32_t k = h.rest; k < t->n_cards; k++)
		assign_card(t, g, t->card[k]);
}

static size_t ports_of(const struct cards *t, uint32_t card)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_hcas; i++)
		n += t->d->m->hca[t->hca[i]].card == card;
	return n;
}

/*
 * More GPUs than cards: neighbours share one, so that a pod of several GPUs has it for itself, and
 * each has a port of its own as far as there are.
 */
static void assign_ports(const struct cards *t, struct aff_gpu_choice *g, uint32_t i)
{
	uint32_t nth_card = i * t->n_cards / t->n_takers, card = t->card[nth_card];
	uint32_t first = (nth_card * t->n_takers + t->n_cards - 1) / t->n_cards;
	uint32_t next = ((nth_card + 1) * t->n_takers + t->n_cards - 1) / t->n_cards;
	uint32_t takers = next - first, nth = i - first;
	uint32_t ports = (uint32_t)ports_of(t, card), at = 0;
	struct share_range h = share_of(ports, takers, nth);

	if (!h.own && ports)
		h = (struct share_range){ nth % ports, 1, ports };
	for (size_t k = 0; k < t->n_hcas; k++) {
		if (t->d->m->hca[t->hca[k]].card != card)
			continue;
		if ((at >= h.first && at < h.first + h.own) || at >= h.rest)
			assign_hca(g, t->hca[k]);
		at++;
	}
	t->d->load[card]++;
	g->n_own = takers == 1 ? g->n_share : 0;
}

int aff_assign(const struct aff_assignment *d, const uint32_t *gpus, uint32_t n, struct err *e)
{
	const struct aff_gpu_choice *first = &d->c->gpu[gpus[0]];
	auto_free uint32_t *card = calloc(first->n_nearest, sizeof(*card));
	struct cards t = { d, first->nearest, first->n_nearest, card, 0, n };

	if (!card)
		return err_nomem(e);
	find_cards(&t);
	for (uint32_t i = 0; i < n; i++) {
		struct aff_gpu_choice *g = &d->c->gpu[gpus[i]];
		g->share = calloc(g->n_nearest, sizeof(*g->share));
		if (!g->share)
			return err_nomem(e);
		if (t.n_cards >= n)
			assign_cards(&t, g, i);
		else if (t.n_cards)
			assign_ports(&t, g, i);
	}
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Assigns HCAs to GPUs that have the same nearest HCAs: whole cards while there are enough, then
 * ports of cards that several GPUs share. topo_choose() calls it once for each such group.
 */
#include "topo/core/choose_priv.h"

/* The cards that one call assigns, each by its card number, to n_gpus GPUs. */
struct cards {
	const struct topo_assignment *d;
	const uint32_t *hca; /* nearest to all of these GPUs, by PCI address */
	size_t n_hcas;
	uint32_t *card;
	uint32_t n_cards, n_gpus;
};

/* The part of an ordered list that GPU i of n gets: `own` items from `first` on. All GPUs share the
 * items from `rest` on. */
struct share_range {
	uint32_t first, own, rest;
};

static struct share_range share_of(uint32_t items, uint32_t gpus, uint32_t i)
{
	uint32_t each = items / gpus;

	return (struct share_range){ i * each, each, gpus * each };
}

/* The cards with the lowest load, each at its first HCA. */
static void find_cards(struct cards *t)
{
	const struct topo_machine *m = t->d->m;
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < t->n_hcas; i++) {
		uint32_t load = t->d->load[m->hca[t->hca[i]].card];
		least = load < least ? load : least;
	}
	for (size_t i = 0; i < t->n_hcas; i++) {
		uint32_t card = m->hca[t->hca[i]].card, k = 0;
		while (k < t->n_cards && t->card[k] != card)
			k++;
		if (t->d->load[card] == least && k == t->n_cards)
			t->card[t->n_cards++] = card;
	}
}

static void assign_hca(struct topo_gpu_choice *g, uint32_t hca)
{
	if (!g->n_share)
		g->assigned = hca;
	g->share[g->n_share++] = hca;
}

static void assign_card(const struct cards *t, struct topo_gpu_choice *g, uint32_t card)
{
	for (size_t i = 0; i < t->n_hcas; i++) {
		if (t->d->m->hca[t->hca[i]].card == card)
			assign_hca(g, t->hca[i]);
	}
	t->d->load[card]++;
}

/* At least one whole card for GPU i. */
static void assign_cards(const struct cards *t, struct topo_gpu_choice *g, uint32_t i)
{
	struct share_range h = share_of(t->n_cards, t->n_gpus, i);

	for (uint32_t k = 0; k < h.own; k++)
		assign_card(t, g, t->card[h.first + k]);
	g->n_own = g->n_share;
	for (uint32_t k = h.rest; k < t->n_cards; k++)
		assign_card(t, g, t->card[k]);
}

/*
 * There are more GPUs than cards: GPUs with neighbouring numbers share a card, so that a pod of
 * several GPUs can have the whole card. Each GPU gets its own ports while there are enough.
 */
static void assign_ports(const struct cards *t, struct topo_gpu_choice *g, uint32_t i)
{
	uint32_t nth_card = i * t->n_cards / t->n_gpus, card = t->card[nth_card];
	uint32_t first = (nth_card * t->n_gpus + t->n_cards - 1) / t->n_cards;
	uint32_t next = ((nth_card + 1) * t->n_gpus + t->n_cards - 1) / t->n_cards;
	uint32_t sharers = next - first, nth = i - first, ports = 0, at = 0;

	for (size_t k = 0; k < t->n_hcas; k++)
		ports += t->d->m->hca[t->hca[k]].card == card;
	struct share_range h = share_of(ports, sharers, nth);
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
	g->n_own = sharers == 1 ? g->n_share : 0;
}

int topo_assign(const struct topo_assignment *d, const uint32_t *gpus, uint32_t n, struct err *e)
{
	const struct topo_gpu_choice *first = &d->c->gpu[gpus[0]];
	auto_free uint32_t *card = calloc(first->n_nearest, sizeof(*card));
	struct cards t = { d, first->nearest, first->n_nearest, card, 0, n };

	if (!card)
		return err_nomem(e);
	find_cards(&t);
	for (uint32_t i = 0; i < n; i++) {
		struct topo_gpu_choice *g = &d->c->gpu[gpus[i]];
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

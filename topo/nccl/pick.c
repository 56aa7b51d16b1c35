// SPDX-License-Identifier: Apache-2.0
/*
 * Which nets a GPU takes: of those with the most bandwidth those of the lowest type; dealt by the
 * number of the GPU with its bits mirrored, so that neighbours spread.
 */
#include "topo/nccl/sys.h"

static bool beats(const struct nccl_sys *s, const struct nccl_hop *a, const struct nccl_hop *b)
{
	if (s->o->no_bandwidth && a->type != b->type)
		return a->type < b->type;
	return a->bw > b->bw || (a->bw == b->bw && a->type < b->type);
}

static bool equals(const struct nccl_hop *a, const struct nccl_hop *b)
{
	return a->bw == b->bw && a->type == b->type;
}

/* The best of a row, and which they are. */
static uint32_t best_of(const struct nccl_sys *s, const struct nccl_hop *row, uint32_t n,
			uint32_t *list, struct nccl_hop *best)
{
	uint32_t count = 0;

	*best = (struct nccl_hop){ NCCL_DIS, 0, 0 };
	for (uint32_t i = 0; i < n; i++) {
		if (beats(s, &row[i], best)) {
			*best = row[i];
			count = 0;
		}
		if (equals(&row[i], best))
			list[count++] = i;
	}
	return count;
}

const struct nccl_local *nccl_locals(struct nccl_sys *s, uint32_t gpu)
{
	struct nccl_local *l = &s->local[gpu];

	if (l->stale) {
		l->n = best_of(s, nccl_row(s->gpu_net, gpu, s->n_nets), s->n_nets, l->net,
			       &l->best);
		if (l->best.type == NCCL_DIS)
			l->n = 0;
		l->stale = false;
	}
	return l;
}

void nccl_set(struct nccl_sys *s, uint32_t gpu, uint32_t net, struct nccl_hop h)
{
	struct nccl_local *l = &s->local[gpu];
	struct nccl_hop *cell = &nccl_row(s->gpu_net, gpu, s->n_nets)[net];

	if (equals(cell, &l->best) || equals(&h, &l->best) || beats(s, &h, &l->best))
		l->stale = true;
	*cell = h;
}

/* How many GPUs have their best path to a net, at least one, and `gpu`'s place among them. */
static uint32_t sharers(const struct nccl_sys *s, uint32_t net, uint32_t gpu, uint32_t *place)
{
	const struct nccl_hop *row = nccl_row(s->net_gpu, net, s->n_gpus);
	struct nccl_hop best = { NCCL_DIS, 0, 0 };
	uint32_t count = 0;

	*place = 0;
	for (uint32_t i = 0; i < s->n_gpus; i++) {
		if (beats(s, &row[i], &best)) {
			best = row[i];
			count = 0;
		}
		if (i == gpu)
			*place = count;
		count += equals(&row[i], &best);
	}
	return count ? count : 1;
}

static uint32_t mirrored(uint32_t v, uint32_t n)
{
	uint32_t out = 0;

	for (uint32_t low = 1, high = n >> 1; low < n; low <<= 1, high >>= 1)
		out |= v & low ? high : 0;
	return out;
}

static uint32_t per_gpu(const struct nccl_sys *s, uint32_t locals, uint32_t sharing)
{
	uint32_t max = s->o->max < locals ? s->o->max : locals;

	if (s->o->rccl || s->o->policy == NCCL_AUTO || (s->o->policy == NCCL_MAX && !max))
		return (locals + sharing - 1) / sharing;
	return s->o->policy == NCCL_ALL ? locals : max;
}

uint32_t nccl_per_gpu(struct nccl_sys *s, uint32_t gpu)
{
	const struct nccl_local *l = nccl_locals(s, gpu);
	uint32_t place;

	return l->n ? per_gpu(s, l->n, sharers(s, l->net[0], gpu, &place)) : 0;
}

uint32_t nccl_local_net(struct nccl_sys *s, uint32_t gpu, uint32_t channel)
{
	const struct nccl_local *l = nccl_locals(s, gpu);
	uint32_t place, sharing = sharers(s, l->net[0], gpu, &place);
	uint32_t i = s->o->rccl ? place : (uint32_t)s->dev[gpu] % sharing;

	if (!(l->n & (l->n - 1)) && !s->o->no_mirror)
		i = mirrored(i, l->n);
	i += channel % per_gpu(s, l->n, sharing);
	return l->net[i % l->n];
}

#define MAX_CHANNELS 64

/* In the order of the GPUs that are best for the net, channel by channel. */
uint32_t nccl_local_gpu(struct nccl_sys *s, uint32_t net)
{
	const struct nccl_hop *row = nccl_row(s->net_gpu, net, s->n_gpus);
	struct nccl_hop best = { NCCL_DIS, 0, 0 };
	uint32_t channels = 1;

	for (uint32_t g = 0; g < s->n_gpus; g++) {
		if (beats(s, &row[g], &best))
			best = row[g];
	}
	for (uint32_t c = 0; c < channels && c < MAX_CHANNELS; c++) {
		for (uint32_t g = 0; g < s->n_gpus; g++) {
			if (!equals(&row[g], &best))
				continue;
			uint32_t own = nccl_per_gpu(s, g);
			channels = own > channels ? own : channels;
			if (own && nccl_local_net(s, g, c) == net)
				return g;
		}
	}
	return AFF_NONE;
}

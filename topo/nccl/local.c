// SPDX-License-Identifier: Apache-2.0
/*
 * The nets that a GPU uses: ncclTopoGetLocal, ncclTopoGetLocalNet, ncclTopoGetLocalGpu. Local nets
 * have the most bandwidth, then the lowest type. GPUs with the same local nets are distributed over
 * them by their number with mirrored bits.
 */
#include "topo/nccl/paths.h"

static bool local_is_better(const struct nccl_paths *s, const struct nccl_path *a,
			    const struct nccl_path *b)
{
	if (s->o->no_bandwidth && a->type != b->type)
		return a->type < b->type;
	return a->bw > b->bw || (a->bw == b->bw && a->type < b->type);
}

static bool is_equal(const struct nccl_path *a, const struct nccl_path *b)
{
	return a->bw == b->bw && a->type == b->type;
}

/* ncclTopoGetLocal: list the best paths of a row; returns their number. */
static uint32_t local_best_of(const struct nccl_paths *s, const struct nccl_path *row, uint32_t n,
			      uint32_t *list, struct nccl_path *best)
{
	uint32_t count = 0;

	*best = (struct nccl_path){ NCCL_DIS, 0, 0, TOPO_NONE };
	for (uint32_t i = 0; i < n; i++) {
		if (local_is_better(s, &row[i], best)) {
			*best = row[i];
			count = 0;
		}
		if (is_equal(&row[i], best))
			list[count++] = i;
	}
	return count;
}

const struct nccl_local *nccl_get_local(struct nccl_paths *s, uint32_t gpu)
{
	struct nccl_local *l = &s->local[gpu];

	if (l->stale) {
		l->n = local_best_of(s, nccl_row(s->gpu_net, gpu, s->n_nets), s->n_nets, l->net,
				     &l->best);
		if (l->best.type == NCCL_DIS)
			l->n = 0;
		l->stale = false;
	}
	return l;
}

void nccl_update_path(struct nccl_paths *s, uint32_t gpu, uint32_t net, struct nccl_path h)
{
	struct nccl_local *l = &s->local[gpu];
	struct nccl_path *cell = &nccl_row(s->gpu_net, gpu, s->n_nets)[net];

	if (is_equal(cell, &l->best) || is_equal(&h, &l->best) || local_is_better(s, &h, &l->best))
		l->stale = true;
	*cell = h;
}

void nccl_update_back(struct nccl_paths *s, uint32_t net, uint32_t gpu, struct nccl_path h)
{
	nccl_row(s->net_gpu, net, s->n_gpus)[gpu] = h;
	s->sharers[net] = 0;
}

/* ncclTopoGetLocal from a net: the number of GPUs with the best path to it, at least 1, and the
 * position of `gpu` among them. It is asked for every GPU, net and channel. */
static uint32_t count_sharers(struct nccl_paths *s, uint32_t net, uint32_t gpu, uint32_t *place)
{
	const struct nccl_path *row = nccl_row(s->net_gpu, net, s->n_gpus);
	uint32_t *places = s->place + (size_t)net * s->n_gpus, count = 0;
	struct nccl_path best = { NCCL_DIS, 0, 0, TOPO_NONE };

	for (uint32_t i = 0; i < s->n_gpus && !s->sharers[net]; i++) {
		if (local_is_better(s, &row[i], &best)) {
			best = row[i];
			count = 0;
		}
		places[i] = count;
		count += is_equal(&row[i], &best);
	}
	if (!s->sharers[net])
		s->sharers[net] = count ? count : 1;
	*place = places[gpu];
	return s->sharers[net];
}

/* mirrorBits */
static uint32_t mirror_bits(uint32_t v, uint32_t n)
{
	uint32_t out = 0;

	for (uint32_t low = 1, high = n >> 1; low < n; low <<= 1, high >>= 1)
		out |= v & low ? high : 0;
	return out;
}

/* NCCL_NETDEVS_POLICY: how many of its local nets a GPU uses, if `sharing` GPUs share them. */
static uint32_t per_gpu(const struct nccl_paths *s, uint32_t locals, uint32_t sharing)
{
	uint32_t max = s->o->max < locals ? s->o->max : locals;

	if (!nccl_rule(s->o, NCCL_HAS_POLICY) || s->o->policy == NCCL_AUTO ||
	    (s->o->policy == NCCL_MAX && !max))
		return (locals + sharing - 1) / sharing;
	return s->o->policy == NCCL_ALL ? locals : max;
}

uint32_t nccl_nets_per_gpu(struct nccl_paths *s, uint32_t gpu)
{
	const struct nccl_local *l = nccl_get_local(s, gpu);
	uint32_t place;

	return l->n ? per_gpu(s, l->n, count_sharers(s, l->net[0], gpu, &place)) : 0;
}

uint32_t nccl_get_local_net(struct nccl_paths *s, uint32_t gpu, uint32_t channel)
{
	const struct nccl_local *l = nccl_get_local(s, gpu);
	uint32_t place, sharing = count_sharers(s, l->net[0], gpu, &place);
	uint32_t i = (uint32_t)s->dev[gpu];

	if (s->o->rccl && nccl_rule(s->o, RCCL_SPREADS_BY_PLACE))
		i = place;
	else if (nccl_rule(s->o, s->o->rccl ? RCCL_COUNTS_SHARERS : NCCL_COUNTS_SHARERS))
		i %= sharing;
	if (!(l->n & (l->n - 1)) && !s->o->no_mirror)
		i = mirror_bits(i, l->n);
	i += channel % per_gpu(s, l->n, sharing);
	return l->net[i % l->n];
}

#define MAX_CHANNELS 64

/* Tries channel by channel the GPUs with the best path to the net. */
uint32_t nccl_get_local_gpu(struct nccl_paths *s, uint32_t net)
{
	const struct nccl_path *row = nccl_row(s->net_gpu, net, s->n_gpus);
	struct nccl_path best = { NCCL_DIS, 0, 0, TOPO_NONE };
	uint32_t channels = 1;

	for (uint32_t g = 0; g < s->n_gpus; g++) {
		if (local_is_better(s, &row[g], &best))
			best = row[g];
	}
	for (uint32_t c = 0; c < channels && c < MAX_CHANNELS; c++) {
		for (uint32_t g = 0; g < s->n_gpus; g++) {
			if (!is_equal(&row[g], &best))
				continue;
			uint32_t own = nccl_nets_per_gpu(s, g);
			channels = own > channels ? own : channels;
			if (own && nccl_get_local_net(s, g, c) == net)
				return g;
		}
	}
	return TOPO_NONE;
}

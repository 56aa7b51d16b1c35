// SPDX-License-Identifier: Apache-2.0
/* The paths that NCCL needs, between GPUs, CPUs and nets. */
#include "topo/nccl/sys.h"

static struct nccl_hop *rows(uint32_t a, uint32_t b)
{
	return calloc((size_t)a * b + 1, sizeof(struct nccl_hop));
}

static int sys_room(struct nccl_sys *s, struct err *e)
{
	uint32_t g = s->n_gpus, n = s->n_nets, c = s->n_cpus;

	s->gpu_net = rows(g, n);
	s->net_gpu = rows(n, g);
	s->gpu_gpu = rows(g, g);
	s->gpu_cpu = rows(g, c);
	s->cpu_gpu = rows(c, g);
	s->net_cpu = rows(n, c);
	s->cpu_net = rows(c, n);
	s->via = calloc((size_t)g * n + 1, sizeof(*s->via));
	s->cpu_of = calloc(g + 1, sizeof(*s->cpu_of));
	s->dev = calloc(g + 1, sizeof(*s->dev));
	s->local = calloc(g + 1, sizeof(*s->local));
	if (!s->gpu_net || !s->net_gpu || !s->gpu_gpu || !s->gpu_cpu || !s->cpu_gpu ||
	    !s->net_cpu || !s->cpu_net || !s->via || !s->cpu_of || !s->dev || !s->local)
		return err_nomem(e);
	for (uint32_t i = 0; i < g; i++) {
		s->local[i].stale = true;
		s->local[i].net = calloc(n + 1, sizeof(*s->local[i].net));
		if (!s->local[i].net)
			return err_nomem(e);
	}
	return 0;
}

struct searching {
	struct nccl_sys *s;
	const struct nccl_graph *g;
	struct nccl_hop *out; /* by node */
};

/*
 * Since 2.30 NCCL has a GPU hang on a node of its own, that links are of: nothing is chosen by it,
 * but every path from or to a GPU is a hop longer.
 */
static struct nccl_hop at(const struct searching *q, uint32_t node, uint32_t ends)
{
	struct nccl_hop h = { NCCL_DIS, 0, 0 };

	if (node != AFF_NONE)
		h = q->out[node];
	if (h.type != NCCL_DIS && !q->s->o->rccl)
		h.hops += ends;
	return h;
}

static int from_nets(const struct searching *q, struct err *e)
{
	struct nccl_sys *s = q->s;

	for (uint32_t n = 0; n < s->n_nets; n++) {
		uint32_t base = q->g->net[n];
		if (base != AFF_NONE && nccl_search(q->g, base, s->o->rccl, q->out, e))
			return -1;
		for (uint32_t i = 0; i < s->n_gpus; i++)
			nccl_row(s->gpu_net, i, s->n_nets)[n] =
				at(q, base == AFF_NONE ? AFF_NONE : q->g->gpu[i], 1);
		for (uint32_t i = 0; i < s->n_cpus; i++)
			nccl_row(s->cpu_net, i, s->n_nets)[n] =
				at(q, base == AFF_NONE ? AFF_NONE : q->g->cpu[i], 0);
	}
	return 0;
}

static int from_cpus(const struct searching *q, struct err *e)
{
	struct nccl_sys *s = q->s;

	for (uint32_t c = 0; c < s->n_cpus; c++) {
		if (nccl_search(q->g, q->g->cpu[c], s->o->rccl, q->out, e))
			return -1;
		for (uint32_t i = 0; i < s->n_gpus; i++)
			nccl_row(s->gpu_cpu, i, s->n_cpus)[c] = at(q, q->g->gpu[i], 1);
		for (uint32_t i = 0; i < s->n_nets; i++)
			nccl_row(s->net_cpu, i, s->n_cpus)[c] = at(q, q->g->net[i], 0);
	}
	return 0;
}

static int from_gpus(const struct searching *q, struct err *e)
{
	struct nccl_sys *s = q->s;

	for (uint32_t p = 0; p < s->n_gpus; p++) {
		uint32_t base = q->g->gpu[p];
		if (base != AFF_NONE && nccl_search(q->g, base, s->o->rccl, q->out, e))
			return -1;
		for (uint32_t i = 0; i < s->n_gpus; i++)
			nccl_row(s->gpu_gpu, i, s->n_gpus)[p] =
				at(q, base == AFF_NONE ? AFF_NONE : q->g->gpu[i], i == p ? 0 : 2);
		for (uint32_t i = 0; i < s->n_cpus; i++)
			nccl_row(s->cpu_gpu, i, s->n_gpus)[p] =
				at(q, base == AFF_NONE ? AFF_NONE : q->g->cpu[i], 1);
		for (uint32_t i = 0; i < s->n_nets; i++)
			nccl_row(s->net_gpu, i, s->n_gpus)[p] =
				at(q, base == AFF_NONE ? AFF_NONE : q->g->net[i], 1);
	}
	return 0;
}

/* NCCL: the widest, then the lowest type, then the fewest hops. RCCL: the fewest hops. */
static bool nearer_cpu(const struct nccl_sys *s, const struct nccl_hop *a, const struct nccl_hop *b)
{
	if (!s->o->rccl && a->bw != b->bw)
		return a->bw > b->bw;
	if (!s->o->rccl && a->type != b->type)
		return a->type < b->type;
	return a->hops < b->hops;
}

static void own_cpus(struct nccl_sys *s)
{
	for (uint32_t i = 0; i < s->n_gpus; i++) {
		const struct nccl_hop *row = nccl_row(s->gpu_cpu, i, s->n_cpus);
		uint32_t best = AFF_NONE;
		for (uint32_t c = 0; c < s->n_cpus; c++) {
			if (row[c].type != NCCL_DIS &&
			    (best == AFF_NONE || nearer_cpu(s, &row[c], &row[best])))
				best = c;
		}
		s->cpu_of[i] = best;
	}
}

static void nothing_via(struct nccl_sys *s)
{
	for (size_t i = 0; i < (size_t)s->n_gpus * s->n_nets; i++)
		s->via[i] = AFF_NONE;
}

static int sys_fill(struct nccl_sys *s, const struct nccl_graph *g, struct err *e)
{
	auto_free struct nccl_hop *out = calloc(g->n_nodes + 1, sizeof(*out));

	if (!out)
		return err_nomem(e);
	struct searching q = { s, g, out };
	if (from_nets(&q, e) || from_cpus(&q, e) || from_gpus(&q, e))
		return -1;
	own_cpus(s);
	nothing_via(s);
	return 0;
}

int nccl_sys_make(const struct aff_machine *m, const struct nccl_outline *v,
		  const struct nccl_opts *o, struct nccl_sys *out, struct err *e)
{
	auto_nccl_graph struct nccl_graph g = { 0 };
	auto_nccl_sys struct nccl_sys s = { .m = m, .v = v, .o = o };

	if (nccl_graph_make(m, v, o, &g, e))
		return -1;
	s.n_gpus = g.n_gpus;
	s.n_nets = g.n_nets;
	s.n_cpus = g.n_cpus;
	if (sys_room(&s, e) || sys_fill(&s, &g, e))
		return -1;
	for (uint32_t i = 0; i < s.n_gpus; i++)
		s.dev[i] = m->gpu[v->gpu[i]].index;
	*out = s;
	s = (struct nccl_sys){ 0 };
	return 0;
}

void nccl_sys_clear(struct nccl_sys *s)
{
	for (uint32_t i = 0; s->local && i < s->n_gpus; i++)
		free(s->local[i].net);
	free(s->gpu_net);
	free(s->net_gpu);
	free(s->gpu_gpu);
	free(s->gpu_cpu);
	free(s->cpu_gpu);
	free(s->net_cpu);
	free(s->cpu_net);
	free(s->via);
	free(s->cpu_of);
	free(s->dev);
	free(s->local);
	*s = (struct nccl_sys){ 0 };
}

// SPDX-License-Identifier: Apache-2.0
/* All paths between GPUs, CPUs and nets before any change: the first half of ncclTopoComputePaths.
 */
#include "topo/nccl/paths.h"

static struct nccl_path *alloc_rows(uint32_t a, uint32_t b)
{
	return calloc((size_t)a * b + 1, sizeof(struct nccl_path));
}

static int alloc_paths(struct nccl_paths *s, struct err *e)
{
	uint32_t g = s->n_gpus, n = s->n_nets, c = s->n_cpus;

	s->gpu_net = alloc_rows(g, n);
	s->net_gpu = alloc_rows(n, g);
	s->gpu_gpu = alloc_rows(g, g);
	s->gpu_cpu = alloc_rows(g, c);
	s->cpu_gpu = alloc_rows(c, g);
	s->net_cpu = alloc_rows(n, c);
	s->cpu_net = alloc_rows(c, n);
	s->via = calloc((size_t)g * n + 1, sizeof(*s->via));
	s->cpu_of = calloc(g + 1, sizeof(*s->cpu_of));
	s->dev = calloc(g + 1, sizeof(*s->dev));
	s->sharers = calloc(n + 1, sizeof(*s->sharers));
	s->place = calloc((size_t)g * n + 1, sizeof(*s->place));
	s->local = calloc(g + 1, sizeof(*s->local));
	if (!s->gpu_net || !s->net_gpu || !s->gpu_gpu || !s->gpu_cpu || !s->cpu_gpu ||
	    !s->net_cpu || !s->cpu_net || !s->via || !s->cpu_of || !s->dev || !s->local ||
	    !s->sharers || !s->place)
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
	struct nccl_paths *s;
	const struct nccl_system *g;
	struct nccl_path *out; /* by node */
};

/* Since 2.30, a GPU has a node of type DEV above it. This changes no choice, but a path has one hop
 * more for each GPU at its ends. */
static struct nccl_path path_at(const struct searching *q, uint32_t node, uint32_t ends)
{
	struct nccl_path h = { NCCL_DIS, 0, 0, TOPO_NONE };

	if (node != TOPO_NONE)
		h = q->out[node];
	if (h.type != NCCL_DIS && nccl_rule(q->s->o, NCCL_HAS_DEV_NODES))
		h.hops += ends;
	return h;
}

static int from_nets(const struct searching *q, struct err *e)
{
	struct nccl_paths *s = q->s;

	for (uint32_t n = 0; n < s->n_nets; n++) {
		uint32_t base = q->g->net[n];
		if (base != TOPO_NONE && nccl_set_paths(q->g, base, s->o, q->out, e))
			return -1;
		for (uint32_t i = 0; i < s->n_gpus; i++)
			nccl_row(s->gpu_net, i, s->n_nets)[n] =
				path_at(q, base == TOPO_NONE ? TOPO_NONE : q->g->gpu[i], 1);
		for (uint32_t i = 0; i < s->n_cpus; i++)
			nccl_row(s->cpu_net, i, s->n_nets)[n] =
				path_at(q, base == TOPO_NONE ? TOPO_NONE : q->g->cpu[i], 0);
	}
	return 0;
}

static int from_cpus(const struct searching *q, struct err *e)
{
	struct nccl_paths *s = q->s;

	for (uint32_t c = 0; c < s->n_cpus; c++) {
		if (nccl_set_paths(q->g, q->g->cpu[c], s->o, q->out, e))
			return -1;
		for (uint32_t i = 0; i < s->n_gpus; i++)
			nccl_row(s->gpu_cpu, i, s->n_cpus)[c] = path_at(q, q->g->gpu[i], 1);
		for (uint32_t i = 0; i < s->n_nets; i++)
			nccl_row(s->net_cpu, i, s->n_cpus)[c] = path_at(q, q->g->net[i], 0);
	}
	return 0;
}

/* The index of the GPU at a node; TOPO_NONE. */
static uint32_t gpu_at(const struct searching *q, uint32_t node)
{
	uint32_t i = 0;

	while (node != TOPO_NONE && i < q->s->n_gpus && q->g->gpu[i] != node)
		i++;
	return node == TOPO_NONE || i == q->s->n_gpus ? TOPO_NONE : i;
}

static int from_gpus(const struct searching *q, struct err *e)
{
	struct nccl_paths *s = q->s;

	for (uint32_t p = 0; p < s->n_gpus; p++) {
		uint32_t base = q->g->gpu[p];
		if (base != TOPO_NONE && nccl_set_paths(q->g, base, s->o, q->out, e))
			return -1;
		for (uint32_t i = 0; i < s->n_gpus; i++) {
			struct nccl_path h = path_at(
				q, base == TOPO_NONE ? TOPO_NONE : q->g->gpu[i], i == p ? 0 : 2);
			h.next = gpu_at(q, h.next);
			nccl_row(s->gpu_gpu, i, s->n_gpus)[p] = h;
		}
		for (uint32_t i = 0; i < s->n_cpus; i++)
			nccl_row(s->cpu_gpu, i, s->n_gpus)[p] =
				path_at(q, base == TOPO_NONE ? TOPO_NONE : q->g->cpu[i], 1);
		for (uint32_t i = 0; i < s->n_nets; i++)
			nccl_row(s->net_gpu, i, s->n_gpus)[p] =
				path_at(q, base == TOPO_NONE ? TOPO_NONE : q->g->net[i], 1);
	}
	return 0;
}

/* ncclGetLocalCpu, for each GPU: the fewest hops. 2.30.7 compares bandwidth and type before, with
 * the same result: a path to another CPU leads through the GPU's own. */
static void set_local_cpus(struct nccl_paths *s)
{
	for (uint32_t i = 0; i < s->n_gpus; i++) {
		const struct nccl_path *row = nccl_row(s->gpu_cpu, i, s->n_cpus);
		uint32_t best = TOPO_NONE;
		for (uint32_t c = 0; c < s->n_cpus; c++) {
			if (row[c].type != NCCL_DIS &&
			    (best == TOPO_NONE || row[c].hops < row[best].hops))
				best = c;
		}
		s->cpu_of[i] = best;
	}
}

static int nccl_fill_paths(struct nccl_paths *s, const struct nccl_system *g, struct err *e)
{
	auto_free struct nccl_path *out = calloc(g->n_nodes + 1, sizeof(*out));

	if (!out)
		return err_nomem(e);
	struct searching q = { s, g, out };
	if (from_nets(&q, e) || from_cpus(&q, e) || from_gpus(&q, e))
		return -1;
	set_local_cpus(s);
	for (size_t i = 0; i < (size_t)s->n_gpus * s->n_nets; i++)
		s->via[i] = TOPO_NONE;
	return 0;
}

int nccl_paths_make(const struct topo_machine *m, const struct nccl_xml *v,
		    const struct nccl_opts *o, struct nccl_paths *out, struct err *e)
{
	auto_nccl_system struct nccl_system g = { 0 };
	auto_nccl_paths struct nccl_paths s = { .m = m, .v = v, .o = o };

	if (nccl_system_make(m, v, o, &g, e))
		return -1;
	s.n_gpus = g.n_gpus;
	s.n_nets = g.n_nets;
	s.n_cpus = g.n_cpus;
	if (alloc_paths(&s, e) || nccl_fill_paths(&s, &g, e))
		return -1;
	for (uint32_t i = 0; i < s.n_gpus; i++)
		s.dev[i] = m->gpu[v->gpu[i]].index;
	*out = s;
	s = (struct nccl_paths){ 0 };
	return 0;
}

void nccl_paths_clear(struct nccl_paths *s)
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
	free(s->sharers);
	free(s->place);
	*s = (struct nccl_paths){ 0 };
}

// SPDX-License-Identifier: Apache-2.0
/*
 * ncclTopoSetPaths: paths from a base to all nodes, breadth first. A better path replaces one that
 * was found before: lower type, then more bandwidth, then fewer hops. Before NCCL_TYPE_FIRST, it
 * has more bandwidth and no more hops. A node whose path changed is visited again.
 */
#include "topo/nccl/paths.h"

#define LOCAL_BW 5000.0F

struct search {
	const struct nccl_system *g;
	uint32_t base;
	bool closed, no_nvb, type_first; /* closed: no path leads through a GPU */
	struct nccl_path *out;
	uint32_t *now, *next; /* nodes of this round and of the next */
	uint32_t n_now, n_next;
	uint32_t *seen; /* by node: the round in which it was last added to `next` */
	uint32_t round;
};

static float min_bw(float a, float b)
{
	return a < b ? a : b;
}

/* The path to `from`, extended by one link. */
static struct nccl_path extend_path(const struct search *s, uint32_t from,
				    const struct nccl_topo_link *l)
{
	const struct nccl_node *a = &s->g->node[from], *b = &s->g->node[l->to];
	const struct nccl_path *p = &s->out[from];
	enum nccl_path_type type = l->type == NCCL_NET ? NCCL_LOC : l->type;

	if (a->kind == NCCL_NODE_PCI && b->kind == NCCL_NODE_PCI)
		type = NCCL_PXB;
	if (l->type == NCCL_PIX && (a->kind == NCCL_NODE_CPU || b->kind == NCCL_NODE_CPU))
		type = NCCL_PHB;
	if (!s->no_nvb && a->kind == NCCL_NODE_GPU && p->type == NCCL_NVL && type == NCCL_NVL &&
	    p->hops == 1)
		type = NCCL_NVB;
	return (struct nccl_path){ p->type > type ? p->type : type, min_bw(p->bw, l->bw),
				   p->hops + 1,
				   a->kind == NCCL_NODE_GPU && from != s->base ? from : TOPO_NONE };
}

static bool set_paths_is_better(const struct search *s, const struct nccl_path *new,
				const struct nccl_path *old)
{
	if (!s->type_first)
		return (old->bw == 0 || old->hops >= new->hops) && new->bw > old->bw;
	if (new->type != old->type)
		return new->type < old->type;
	return new->bw > old->bw || (new->bw == old->bw &&new->hops < old->hops);
}

/* A path leads through a GPU only by NVLink to another GPU, and only if it is the first hop. */
static bool set_paths_is_closed(const struct search *s, uint32_t from,
				const struct nccl_topo_link *l)
{
	if (from == s->base || s->g->node[from].kind != NCCL_NODE_GPU)
		return false;
	return s->closed || l->type != NCCL_NVL || s->g->node[l->to].kind != NCCL_NODE_GPU ||
	       s->out[from].hops > 1;
}

static void add_to_next(struct search *s, uint32_t node)
{
	if (s->seen[node] == s->round)
		return;
	s->seen[node] = s->round;
	s->next[s->n_next++] = node;
}

static void follow_links(struct search *s, uint32_t from, const struct nccl_links *links)
{
	for (uint32_t i = 0; i < links->n; i++) {
		const struct nccl_topo_link *l = &links->link[i];
		if (set_paths_is_closed(s, from, l))
			continue;
		struct nccl_path new = extend_path(s, from, l);
		if (!set_paths_is_better(s, &new, &s->out[l->to]))
			continue;
		s->out[l->to] = new;
		add_to_next(s, l->to);
	}
}

static void search_breadth_first(struct search *s, bool leaves)
{
	while (s->n_next) {
		uint32_t *t = s->now;
		s->now = s->next;
		s->next = t;
		s->n_now = s->n_next;
		s->n_next = 0;
		s->round++;
		for (uint32_t i = 0; i < s->n_now; i++) {
			follow_links(s, s->now[i], &s->g->node[s->now[i]].core);
			if (leaves)
				follow_links(s, s->now[i], &s->g->node[s->now[i]].leaf);
		}
	}
}

/* From a net only one path leads on: to its NIC, and to the node above. Returns that node. */
static uint32_t leave_net(struct search *s)
{
	const struct nccl_node *net = &s->g->node[s->base], *nic = &s->g->node[net->up];
	bool cpu = s->g->node[nic->up].kind == NCCL_NODE_CPU;

	s->out[nic->up] = (struct nccl_path){
		cpu ? NCCL_PHB : NCCL_PIX,
		min_bw(LOCAL_BW, min_bw(net->bw, nic->bw)),
		2,
		TOPO_NONE,
	};
	return nic->up;
}

int nccl_set_paths(const struct nccl_system *g, uint32_t base, const struct nccl_opts *o,
		   struct nccl_path *out, struct err *e)
{
	bool net = g->node[base].kind == NCCL_NODE_NET;
	uint32_t n = net ? g->n_core : g->n_nodes;
	auto_free uint32_t *cap = calloc((size_t)n + 1, 3 * sizeof(*cap));

	if (!cap)
		return err_nomem(e);
	struct search s = { .g = g,
			    .base = base,
			    .closed = o->rccl && !nccl_rule(o, RCCL_PASSES_GPUS),
			    .no_nvb = o->rccl && !nccl_rule(o, RCCL_HAS_NVB),
			    .type_first = nccl_rule(o, NCCL_TYPE_FIRST),
			    .out = out,
			    .now = cap,
			    .next = cap + n,
			    .seen = cap + 2 * (size_t)n,
			    .round = 1 };
	for (uint32_t i = 0; i < n; i++)
		out[i] = (struct nccl_path){ NCCL_DIS, 0, 0, TOPO_NONE };
	if (!net)
		out[base] = (struct nccl_path){ NCCL_LOC, LOCAL_BW, 0, TOPO_NONE };
	add_to_next(&s, net ? leave_net(&s) : base);
	search_breadth_first(&s, !net);
	return 0;
}

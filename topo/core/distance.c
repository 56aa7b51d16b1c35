// SPDX-License-Identifier: Apache-2.0
/*
 * The distance between two functions: climbs from each to their common ancestor, counts switches
 * and chips on both sides, and derives the class of nvidia-smi.
 */
#include "topo/core/distance.h"

#include "topo/core/pci_switch.h"

/* One side of the path: from one of the two functions up to their common ancestor. */
struct side {
	uint32_t end;             /* the function at which it begins */
	uint32_t last, last_chip; /* its uppermost switch; AFF_NONE: none */
	uint32_t levels, chips;   /* switches on it, including `last` */
	uint32_t max_bw, cur_bw;  /* of the narrowest link; UINT32_MAX: no link yet */
	bool collapsed, probable, own_bridge;
};

const char *aff_class_name(enum aff_class c)
{
	static const char *const names[] = {
		[AFF_X] = "X",
		[AFF_PIX] = "PIX",
		[AFF_PXB] = "PXB",
		[AFF_PHB] = "PHB",
		[AFF_NODE] = "NODE",
		[AFF_SYS] = "SYS",
		[AFF_CLASS_UNKNOWN] = "unknown",
	};

	return names[c];
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- one side ---- */

/* Add the link above a function; a VF uses the link of its PF. */
static void add_link(const struct aff_machine *m, uint32_t pci, struct side *s)
{
	const struct aff_pci *p = &m->pci[pci];
	uint32_t above = aff_parent(m, pci);

	if (p->kind == AFF_ROOT_PORT || p->kind == AFF_DOWNSTREAM)
		return;
	/* Inside a chip there is no link, although its two levels report one. */
	if (above != AFF_NONE && p->chip != AFF_NONE && p->chip == m->pci[above].chip)
		return;
	if (p->is_vf && p->physfn != AFF_NONE)
		p = &m->pci[p->physfn];
	s->max_bw = min_u32(s->max_bw, (uint32_t)p->max.speed * p->max.width);
	s->cur_bw = min_u32(s->cur_bw, (uint32_t)p->cur.speed * p->cur.width);
}

static void add_switch(const struct aff_machine *m, uint32_t sw, struct side *s)
{
	uint32_t chip = m->pci[sw].chip;

	if (sw == s->last)
		return;
	if (s->last != AFF_NONE && aff_maybe_one_chip(m, sw, s->last))
		s->probable = true;
	s->levels++;
	if (s->last == AFF_NONE && aff_own_bridge(m, sw, s->end))
		s->own_bridge = true;
	else if (chip == s->last_chip)
		s->collapsed = true;
	else
		s->chips++;
	s->last = sw;
	s->last_chip = chip;
}

/* From a function up to `top`, which is not included. */
static struct side climb_to(const struct aff_machine *m, uint32_t from, uint32_t top)
{
	struct side s = { .end = from,
			  .last = AFF_NONE,
			  .last_chip = AFF_NONE,
			  .max_bw = UINT32_MAX,
			  .cur_bw = UINT32_MAX };

	for (uint32_t at = from; at != AFF_NONE && at != top; at = aff_parent(m, at)) {
		uint32_t sw = at == from ? AFF_NONE : aff_switch_of(m, at);
		add_link(m, at, &s);
		if (sw != AFF_NONE)
			add_switch(m, sw, &s);
	}
	return s;
}

/* ---- both ---- */

static uint32_t common_ancestor(const struct aff_machine *m, uint32_t a, uint32_t b)
{
	while (a != b && a != AFF_NONE && b != AFF_NONE) {
		if (a > b)
			a = aff_parent(m, a);
		else
			b = aff_parent(m, b);
	}
	return a == b ? a : AFF_NONE;
}

/*
 * Add up the two sides, which meet in `top`. If that is a port of a switch, the path uses the
 * switch, except at a downstream port: traffic between functions below one port stays below it.
 */
static void join_sides(const struct aff_machine *m, uint32_t top, struct side *a, struct side *b,
		       struct aff_distance *r)
{
	if (top != AFF_NONE && m->pci[top].kind != AFF_DOWNSTREAM) {
		uint32_t sw = aff_switch_of(m, top);
		if (sw != AFF_NONE) {
			add_switch(m, sw, a);
			add_switch(m, sw, b);
		}
	}
	bool level = a->last != AFF_NONE && a->last == b->last;
	bool chip = a->last_chip != AFF_NONE && a->last_chip == b->last_chip;
	r->bridges = a->levels + b->levels - level;
	r->switches = a->chips + b->chips - (chip && a->chips && b->chips);
	r->collapsed = a->collapsed || b->collapsed;
	r->probable = a->probable || b->probable;
	r->own_bridge = a->own_bridge || b->own_bridge;
	r->max_bw = min_u32(a->max_bw, b->max_bw);
	r->cur_bw = min_u32(a->cur_bw, b->cur_bw);
}

/* ---- without a switch in common ---- */

static int numa_of(const struct aff_machine *m, uint32_t pci)
{
	uint32_t root = m->pci[pci].root;

	for (uint32_t at = pci; at != AFF_NONE; at = aff_parent(m, at)) {
		if (m->pci[at].numa >= 0)
			return m->pci[at].numa;
	}
	if (root == AFF_NONE || m->root[root].cpu == AFF_NONE)
		return -1;
	return m->cpu[m->root[root].cpu].numa;
}

static enum aff_tristate same_number(int a, int b)
{
	if (a < 0 || b < 0)
		return AFF_UNKNOWN;
	return a == b ? AFF_YES : AFF_NO;
}

/* Without known NUMA nodes of the two functions: the machine has at most one node. */
static bool has_one_node(const struct aff_machine *m)
{
	int first = -1;

	for (size_t i = 0; i < m->n_cpus; i++) {
		if (m->cpu[i].numa < 0 || m->cpu[i].numa == first)
			continue;
		if (first >= 0)
			return false;
		first = m->cpu[i].numa;
	}
	return true;
}

static enum aff_class class_of(const struct aff_machine *m, const struct aff_distance *r)
{
	if (r->ancestor != AFF_NONE)
		return r->bridges <= 1 ? AFF_PIX : AFF_PXB;
	if (r->same_root)
		return AFF_PHB;
	/* A topology file has one cpu element for each node; between two of them it is SYS. */
	if (m->source == AFF_NCCL_XML || m->source == AFF_RCCL_XML)
		return AFF_SYS;
	if (r->same_numa == AFF_UNKNOWN)
		return has_one_node(m) ? AFF_NODE : AFF_SYS;
	return r->same_numa == AFF_YES ? AFF_NODE : AFF_SYS;
}

void aff_distance(const struct aff_machine *m, uint32_t a, uint32_t b, struct aff_distance *out)
{
	const struct aff_pci *x = &m->pci[a], *y = &m->pci[b];
	uint32_t top = common_ancestor(m, a, b);

	*out = (struct aff_distance){ .ancestor = top };
	out->same_root = a == b || (x->root != AFF_NONE && x->root == y->root);
	out->same_numa = a == b ? AFF_YES : same_number(numa_of(m, a), numa_of(m, b));
	if (a == b) {
		out->class = AFF_X;
		return;
	}
	struct side from = climb_to(m, a, top), to = climb_to(m, b, top);
	join_sides(m, top, &from, &to, out);
	out->class = class_of(m, out);
}

/* ---- GPUs and HCAs ---- */

/* To a net element directly below a cpu element: the path has only the GPU's side. */
static void distance_to_cpu(const struct aff_machine *m, uint32_t pci, uint32_t cpu,
			    struct aff_distance *out)
{
	uint32_t root = m->pci[pci].root;
	struct side from = climb_to(m, pci, AFF_NONE), none = climb_to(m, AFF_NONE, AFF_NONE);

	join_sides(m, AFF_NONE, &from, &none, out);
	out->same_root = root != AFF_NONE && m->root[root].cpu == cpu;
	out->same_numa = same_number(numa_of(m, pci), m->cpu[cpu].numa);
	out->class = class_of(m, out);
}

void aff_distance_to_hca(const struct aff_machine *m, uint32_t gpu, uint32_t hca,
			 struct aff_distance *out)
{
	const struct aff_hca *h = &m->hca[hca];
	uint32_t pci = m->gpu[gpu].pci;
	struct aff_distance second;

	*out = (struct aff_distance){ .class = AFF_CLASS_UNKNOWN, .ancestor = AFF_NONE };
	if (h->pci == AFF_NONE) {
		if (h->cpu != AFF_NONE)
			distance_to_cpu(m, pci, h->cpu, out);
		return;
	}
	aff_distance(m, pci, h->pci, out);
	if (h->second == AFF_NONE)
		return;
	aff_distance(m, pci, h->second, &second);
	if (aff_distance_cmp(out, &second) < 0)
		*out = second;
}

/* PIX and PXB are equal here, because the number of chips is more exact. */
static int class_rank(enum aff_class c)
{
	return c == AFF_PXB ? (int)AFF_PIX : (int)c;
}

int aff_distance_cmp(const struct aff_distance *x, const struct aff_distance *y)
{
	int c = cmp_u64((uint64_t)class_rank(x->class), (uint64_t)class_rank(y->class));

	return c ? c : cmp_u64(x->switches, y->switches);
}

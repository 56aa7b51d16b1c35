// SPDX-License-Identifier: Apache-2.0
#include "topo/core/distance.h"

#include "topo/core/pci_switch.h"

/* One side of the way between two functions: from one of them up to what both have above. */
struct side {
	uint32_t end;             /* the function it begins at */
	uint32_t last, last_chip; /* of the switches on it, the uppermost; AFF_NONE: none */
	uint32_t levels, chips;   /* on it, the last one included */
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

static bool is_file(const struct aff_machine *m)
{
	return m->source == AFF_NCCL_XML || m->source == AFF_RCCL_XML;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- one side ---- */

/* The link above a function: a VF has none of its own, but uses its PF's. */
static void add_link(const struct aff_machine *m, uint32_t pci, struct side *s)
{
	const struct aff_pci *p = &m->pci[pci];
	uint32_t above = aff_parent(m, pci);

	if (p->kind == AFF_ROOT_PORT || p->kind == AFF_DOWNSTREAM)
		return;
	/* Between two levels of one chip there is no link, whatever the levels say. */
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

/* From a function up to, but without, `top`. */
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
 * Where the sides meet: in a switch that both went up to, or that only turns round there. Of what
 * hangs on one port of a switch nothing passes through it.
 */
static void set_ancestor(const struct aff_machine *m, uint32_t top, struct side *a, struct side *b,
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

static bool one_node(const struct aff_machine *m)
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

/* Between two root complexes. A topology file has a cpu element for each node, and NCCL calls
 * whatever lies between two of them SYS. */
static enum aff_class class_across_roots(const struct aff_machine *m, enum aff_tristate same_numa)
{
	if (is_file(m))
		return AFF_SYS;
	if (same_numa == AFF_UNKNOWN)
		return one_node(m) ? AFF_NODE : AFF_SYS;
	return same_numa == AFF_YES ? AFF_NODE : AFF_SYS;
}

static enum aff_class class_of(const struct aff_machine *m, const struct aff_distance *r)
{
	if (r->ancestor != AFF_NONE)
		return r->bridges <= 1 ? AFF_PIX : AFF_PXB;
	return r->same_root ? AFF_PHB : class_across_roots(m, r->same_numa);
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
	set_ancestor(m, top, &from, &to, out);
	out->class = class_of(m, out);
}

/* ---- GPUs and HCAs ---- */

/* A net element right under a cpu element: all the way there is the GPU's. */
static void distance_to_cpu(const struct aff_machine *m, uint32_t pci, uint32_t cpu,
			    struct aff_distance *out)
{
	uint32_t root = m->pci[pci].root;
	struct side from = climb_to(m, pci, AFF_NONE), none = climb_to(m, AFF_NONE, AFF_NONE);

	set_ancestor(m, AFF_NONE, &from, &none, out);
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

/* PIX and PXB are no different here: how many chips there are says more. */
static int class_rank(enum aff_class c)
{
	return c == AFF_PXB ? (int)AFF_PIX : (int)c;
}

int aff_distance_cmp(const struct aff_distance *x, const struct aff_distance *y)
{
	int c = cmp_u64((uint64_t)class_rank(x->class), (uint64_t)class_rank(y->class));

	return c ? c : cmp_u64(x->switches, y->switches);
}

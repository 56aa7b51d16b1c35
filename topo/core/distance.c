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
	uint32_t last, last_chip; /* its uppermost switch; TOPO_NONE: none */
	uint32_t levels, chips;   /* switches on it, including `last` */
	uint32_t max_bw, cur_bw;  /* of the narrowest link; UINT32_MAX: no link yet */
	bool collapsed, probable, own_bridge;
};

const char *topo_class_name(enum topo_class c)
{
	static const char *const names[] = {
		[TOPO_X] = "X",
		[TOPO_PIX] = "PIX",
		[TOPO_PXB] = "PXB",
		[TOPO_PHB] = "PHB",
		[TOPO_NODE] = "NODE",
		[TOPO_SYS] = "SYS",
		[TOPO_CLASS_UNKNOWN] = "unknown",
	};

	return names[c];
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- one side ---- */

/* Add the link above a function; a VF uses the link of its PF. */
static void distance_add_link(const struct topo_machine *m, uint32_t pci, struct side *s)
{
	const struct topo_pci *p = &m->pci[pci];
	uint32_t above = topo_parent(m, pci);

	if (p->kind == TOPO_ROOT_PORT || p->kind == TOPO_DOWNSTREAM)
		return;
	/* Inside a chip there is no link, although its two levels report one. */
	if (above != TOPO_NONE && p->chip != TOPO_NONE && p->chip == m->pci[above].chip)
		return;
	if (p->is_vf && p->physfn != TOPO_NONE)
		p = &m->pci[p->physfn];
	s->max_bw = min_u32(s->max_bw, (uint32_t)p->max.speed * p->max.width);
	s->cur_bw = min_u32(s->cur_bw, (uint32_t)p->cur.speed * p->cur.width);
}

static void add_switch(const struct topo_machine *m, uint32_t sw, struct side *s)
{
	uint32_t chip = m->pci[sw].chip;

	if (sw == s->last)
		return;
	if (s->last != TOPO_NONE && topo_maybe_one_chip(m, sw, s->last))
		s->probable = true;
	s->levels++;
	if (s->last == TOPO_NONE && topo_own_bridge(m, sw, s->end))
		s->own_bridge = true;
	else if (chip == s->last_chip)
		s->collapsed = true;
	else
		s->chips++;
	s->last = sw;
	s->last_chip = chip;
}

/* From a function up to `top`, which is not included. */
static struct side climb_to(const struct topo_machine *m, uint32_t from, uint32_t top)
{
	struct side s = { .end = from,
			  .last = TOPO_NONE,
			  .last_chip = TOPO_NONE,
			  .max_bw = UINT32_MAX,
			  .cur_bw = UINT32_MAX };

	for (uint32_t at = from; at != TOPO_NONE && at != top; at = topo_parent(m, at)) {
		uint32_t sw = at == from ? TOPO_NONE : topo_switch_of(m, at);
		distance_add_link(m, at, &s);
		if (sw != TOPO_NONE)
			add_switch(m, sw, &s);
	}
	return s;
}

/* ---- both ---- */

static uint32_t common_ancestor(const struct topo_machine *m, uint32_t a, uint32_t b)
{
	while (a != b && a != TOPO_NONE && b != TOPO_NONE) {
		if (a > b)
			a = topo_parent(m, a);
		else
			b = topo_parent(m, b);
	}
	return a == b ? a : TOPO_NONE;
}

/*
 * Add up the two sides, which meet in `top`. If that is a port of a switch, the path uses the
 * switch, except at a downstream port: traffic between functions below one port stays below it.
 */
static void join_sides(const struct topo_machine *m, uint32_t top, struct side *a, struct side *b,
		       struct topo_distance *r)
{
	if (top != TOPO_NONE && m->pci[top].kind != TOPO_DOWNSTREAM) {
		uint32_t sw = topo_switch_of(m, top);
		if (sw != TOPO_NONE) {
			add_switch(m, sw, a);
			add_switch(m, sw, b);
		}
	}
	bool level = a->last != TOPO_NONE && a->last == b->last;
	bool chip = a->last_chip != TOPO_NONE && a->last_chip == b->last_chip;
	r->bridges = a->levels + b->levels - level;
	r->switches = a->chips + b->chips - (chip && a->chips && b->chips);
	r->collapsed = a->collapsed || b->collapsed;
	r->probable = a->probable || b->probable;
	r->own_bridge = a->own_bridge || b->own_bridge;
	r->max_bw = min_u32(a->max_bw, b->max_bw);
	r->cur_bw = min_u32(a->cur_bw, b->cur_bw);
}

/* ---- without a switch in common ---- */

int topo_numa(const struct topo_machine *m, uint32_t pci)
{
	uint32_t root = pci == TOPO_NONE ? TOPO_NONE : m->pci[pci].root;

	for (uint32_t at = pci; at != TOPO_NONE; at = topo_parent(m, at)) {
		if (m->pci[at].numa >= 0)
			return m->pci[at].numa;
	}
	if (root == TOPO_NONE || m->root[root].cpu == TOPO_NONE)
		return -1;
	return m->cpu[m->root[root].cpu].numa;
}

static enum topo_tristate distance_same_number(int a, int b)
{
	if (a < 0 || b < 0)
		return TOPO_UNKNOWN;
	return a == b ? TOPO_YES : TOPO_NO;
}

/* Without known NUMA nodes of the two functions: the machine has at most one node. */
static bool has_one_node(const struct topo_machine *m)
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

static enum topo_class class_of(const struct topo_machine *m, const struct topo_distance *r)
{
	if (r->ancestor != TOPO_NONE)
		return r->bridges <= 1 ? TOPO_PIX : TOPO_PXB;
	if (r->same_root)
		return TOPO_PHB;
	/* A topology file has one cpu element for each node; between two of them it is SYS. */
	if (m->source == TOPO_NCCL_XML || m->source == TOPO_RCCL_XML)
		return TOPO_SYS;
	if (r->same_numa == TOPO_UNKNOWN)
		return has_one_node(m) ? TOPO_NODE : TOPO_SYS;
	return r->same_numa == TOPO_YES ? TOPO_NODE : TOPO_SYS;
}

void topo_distance(const struct topo_machine *m, uint32_t a, uint32_t b, struct topo_distance *out)
{
	const struct topo_pci *x = &m->pci[a], *y = &m->pci[b];
	uint32_t top = common_ancestor(m, a, b);

	*out = (struct topo_distance){ .ancestor = top };
	out->same_root = a == b || (x->root != TOPO_NONE && x->root == y->root);
	out->same_numa = a == b ? TOPO_YES : distance_same_number(topo_numa(m, a), topo_numa(m, b));
	if (a == b) {
		out->class = TOPO_X;
		return;
	}
	struct side from = climb_to(m, a, top), to = climb_to(m, b, top);
	join_sides(m, top, &from, &to, out);
	out->class = class_of(m, out);
}

/* ---- GPUs and HCAs ---- */

/* To a net element directly below a cpu element: the path has only the GPU's side. */
static void distance_to_cpu(const struct topo_machine *m, uint32_t pci, uint32_t cpu,
			    struct topo_distance *out)
{
	uint32_t root = m->pci[pci].root;
	struct side from = climb_to(m, pci, TOPO_NONE), none = climb_to(m, TOPO_NONE, TOPO_NONE);

	join_sides(m, TOPO_NONE, &from, &none, out);
	out->same_root = root != TOPO_NONE && m->root[root].cpu == cpu;
	out->same_numa = distance_same_number(topo_numa(m, pci), m->cpu[cpu].numa);
	out->class = class_of(m, out);
}

/* From a GPU with links to its CPU (C2C), traffic does not use the link above the GPU, which is
 * narrow on such packages. The class remains that of nvidia-smi. */
static void use_c2c(const struct topo_machine *m, uint32_t gpu, uint32_t pci,
		    struct topo_distance *out)
{
	const struct topo_gpu *g = &m->gpu[gpu];
	uint64_t bw = (uint64_t)g->c2c_mbps * g->c2c_count * 8 / 100; /* 100 Mbit/s */

	if (!bw || out->class < TOPO_PHB || out->class == TOPO_CLASS_UNKNOWN)
		return;
	struct side to = climb_to(m, pci, TOPO_NONE);
	out->max_bw = min_u32(to.max_bw, (uint32_t)(bw < UINT32_MAX ? bw : UINT32_MAX));
	out->cur_bw = min_u32(to.cur_bw, (uint32_t)(bw < UINT32_MAX ? bw : UINT32_MAX));
}

void topo_distance_to_own(const struct topo_machine *m, uint32_t gpu, uint32_t hca,
			  struct topo_distance *out)
{
	const struct topo_hca *h = &m->hca[hca];
	uint32_t pci = m->gpu[gpu].pci;
	struct topo_distance second;

	*out = (struct topo_distance){ .class = TOPO_CLASS_UNKNOWN, .ancestor = TOPO_NONE };
	if (h->pci == TOPO_NONE) {
		if (h->cpu != TOPO_NONE)
			distance_to_cpu(m, pci, h->cpu, out);
		return;
	}
	topo_distance(m, pci, h->pci, out);
	use_c2c(m, gpu, h->pci, out);
	if (h->second == TOPO_NONE)
		return;
	topo_distance(m, pci, h->second, &second);
	use_c2c(m, gpu, h->second, &second);
	if (topo_distance_cmp(out, &second) < 0)
		*out = second;
}

void topo_distance_to_hca(const struct topo_machine *m, uint32_t gpu, uint32_t hca,
			  struct topo_distance *out)
{
	uint32_t direct = m->hca[hca].direct;
	struct topo_distance d;

	topo_distance_to_own(m, gpu, hca, out);
	if (direct == TOPO_NONE)
		return;
	topo_distance(m, m->gpu[gpu].pci, direct, &d);
	if (topo_distance_cmp(&d, out) >= 0)
		return;
	*out = d;
	out->direct = true;
}

/* PIX and PXB are equal here, because the number of chips is more exact. */
static int class_rank(enum topo_class c)
{
	return c == TOPO_PXB ? (int)TOPO_PIX : (int)c;
}

int topo_distance_cmp(const struct topo_distance *x, const struct topo_distance *y)
{
	int c = cmp_u64((uint64_t)class_rank(x->class), (uint64_t)class_rank(y->class));

	return c ? c : cmp_u64(x->switches, y->switches);
}

bool topo_any_is_near(const struct topo_machine *m)
{
	for (uint32_t g = 0; g < m->n_gpus; g++)
		for (uint32_t h = 0; h < m->n_hcas; h++) {
			struct topo_distance d;

			topo_distance_to_hca(m, g, h, &d);
			if (d.class == TOPO_PIX || d.class == TOPO_PXB)
				return true;
		}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tree of boxes: sockets, root complexes and chips above the GPUs and HCAs in scope. */
#include "lib/base/array.h"
#include "topo/output/boxes.h"
#include "topo/core/pci_switch.h"

#define DEPTH_MAX 64
#define BOXES_MAX (1u << 20)

/* ---- boxes ---- */

static size_t add_box(struct show_boxes *s, enum box_kind kind, uint32_t key, size_t parent)
{
	size_t *link;

	struct err ignored; /* BOX_NONE is all that a caller hears */

	if (ARRAY_GROW(s->box, s->n, BOXES_MAX, "boxes", &ignored))
		return BOX_NONE;
	s->box[s->n] = (struct show_box){ .kind = kind,
					  .key = key,
					  .pci = TOPO_NONE,
					  .parent = parent,
					  .first = BOX_NONE,
					  .next = BOX_NONE };
	if (parent != BOX_NONE) {
		for (link = &s->box[parent].first; *link != BOX_NONE;)
			link = &s->box[*link].next;
		*link = s->n;
	}
	return s->n++;
}

/* The box below parent with this kind and key; it is added if there is none. */
static size_t have_box(struct show_boxes *s, size_t parent, enum box_kind kind, uint32_t key)
{
	size_t i = s->box[parent].first;

	while (i != BOX_NONE && (s->box[i].kind != kind || s->box[i].key != key))
		i = s->box[i].next;
	return i == BOX_NONE ? add_box(s, kind, key, parent) : i;
}

/* The HCA of the PF of a VF or subfunction, if it is in scope. */
static uint32_t pf_of(const struct topo_view *v, uint32_t hca)
{
	const struct topo_hca *h = &v->m->hca[hca];
	uint32_t pf;

	if (h->pci == TOPO_NONE || (h->kind != TOPO_HCA_VF && h->kind != TOPO_HCA_SF))
		return TOPO_NONE;
	pf = h->kind == TOPO_HCA_SF ? h->pci : v->m->pci[h->pci].physfn;
	for (uint32_t i = 0; pf != TOPO_NONE && i < v->m->n_hcas; i++)
		if (v->m->hca[i].kind == TOPO_HCA_PF && v->m->hca[i].pci == pf &&
		    show_has_hca(v, i))
			return i;
	return TOPO_NONE;
}

static const struct show_box *find_box(const struct show_boxes *s, enum box_kind kind, uint32_t key)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->box[i].kind == kind && s->box[i].key == key)
			return &s->box[i];
	return NULL;
}

const struct show_box *boxes_find(const struct show_boxes *s, enum box_kind kind, uint32_t key)
{
	const struct show_box *b = find_box(s, kind, key);

	if (b || kind != BOX_HCA || key >= s->v->m->n_hcas)
		return b;
	key = pf_of(s->v, key);
	return key == TOPO_NONE ? NULL : find_box(s, kind, key);
}

void boxes_clear(struct show_boxes *s)
{
	free(s->box);
	*s = (struct show_boxes){ 0 };
}

/* ---- what a function is in ---- */

/* One function for each chip above, the lowest first. */
static size_t chips_above(const struct topo_machine *m, uint32_t pci, bool gpu,
			  uint32_t chip[DEPTH_MAX])
{
	size_t n = 0;

	for (uint32_t at = m->pci[pci].parent; at != TOPO_NONE && n < DEPTH_MAX;
	     at = m->pci[at].parent) {
		if (m->pci[at].kind == TOPO_ROOT_PORT || (gpu && topo_own_bridge(m, at, pci)))
			continue;
		if (n && m->pci[chip[n - 1]].chip == m->pci[at].chip)
			chip[n - 1] = at; /* the port nearest to the root names the chip */
		else
			chip[n++] = at;
	}
	return n;
}

static size_t socket_of(struct show_boxes *s, uint32_t cpu)
{
	return have_box(s, 0, BOX_SOCKET, cpu);
}

/* The box of the switch or root complex above a function, added if needed; BOX_NONE: no memory. */
static size_t boxes_place_of(struct show_boxes *s, uint32_t pci, bool gpu)
{
	const struct topo_machine *m = s->v->m;
	uint32_t root = m->pci[pci].root, chip[DEPTH_MAX];
	size_t at = socket_of(s, root == TOPO_NONE ? TOPO_NONE : m->root[root].cpu);

	/* A topology file has no root complexes; those without a name are not drawn. */
	if (at != BOX_NONE && root != TOPO_NONE && *m->root[root].name)
		at = have_box(s, at, BOX_ROOT, root);
	for (size_t n = chips_above(m, pci, gpu, chip); at != BOX_NONE && n-- > 0;) {
		at = have_box(s, at, BOX_SWITCH, m->pci[chip[n]].chip);
		if (at != BOX_NONE && s->box[at].pci == TOPO_NONE)
			s->box[at].pci = chip[n];
	}
	return at;
}

/* ---- GPUs and HCAs ---- */

static int add_leaf(struct show_boxes *s, enum box_kind kind, uint32_t key, size_t place)
{
	size_t leaf = place == BOX_NONE ? BOX_NONE : add_box(s, kind, key, place);

	if (leaf == BOX_NONE)
		return -1;
	for (size_t i = leaf; i != BOX_NONE; i = s->box[i].parent) {
		s->box[i].has_hca |= kind == BOX_HCA;
		s->box[i].has_gpu |= kind == BOX_GPU;
	}
	return 0;
}

static int boxes_add_hca(struct show_boxes *s, uint32_t hca)
{
	const struct topo_hca *h = &s->v->m->hca[hca];

	if (pf_of(s->v, hca) != TOPO_NONE)
		return 0;
	if (h->pci == TOPO_NONE)
		return add_leaf(s, BOX_HCA, hca, socket_of(s, h->cpu));
	return add_leaf(s, BOX_HCA, hca, boxes_place_of(s, h->pci, false));
}

static void count_vfs(struct show_boxes *s)
{
	for (uint32_t i = 0; i < s->v->m->n_hcas; i++) {
		uint32_t pf = show_has_hca(s->v, i) ? pf_of(s->v, i) : TOPO_NONE;

		for (size_t b = 0; pf != TOPO_NONE && b < s->n; b++)
			s->box[b].vfs += s->box[b].kind == BOX_HCA && s->box[b].key == pf;
	}
}

int boxes_build(const struct topo_view *v, struct show_boxes *out)
{
	auto_boxes struct show_boxes s = { .v = v };

	if (add_box(&s, BOX_PAGE, TOPO_NONE, BOX_NONE) == BOX_NONE)
		return -1;
	/* In the order of their NUMA nodes, which is that of the machine's records. */
	for (uint32_t c = 0; c < v->m->n_cpus; c++)
		if (socket_of(&s, c) == BOX_NONE)
			return -1;
	for (uint32_t h = 0; h < v->m->n_hcas; h++)
		if (show_has_hca(v, h) && boxes_add_hca(&s, h))
			return -1;
	for (uint32_t g = 0; g < v->m->n_gpus; g++)
		if (show_has_gpu(v, g) &&
		    add_leaf(&s, BOX_GPU, g, boxes_place_of(&s, v->m->gpu[g].pci, true)))
			return -1;
	count_vfs(&s);
	*out = s;
	s = (struct show_boxes){ 0 };
	return 0;
}

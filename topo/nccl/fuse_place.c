// SPDX-License-Identifier: Apache-2.0
/*
 * Where a fused net is: ncclTopoGetPath and ncclTopoGetVNicParent of topo.cc. If its parts share an
 * element, it is in that. Otherwise it is in a new element below the one that they have in common.
 */
#include <string.h>

#include "topo/nccl/fuse.h"

#define DEPTH_MAX    256 /* NCCL_TOPO_XML_DEPTH_MAX */
#define CLASS_BRIDGE 0x060400

/* ---- the distance of two nets: ncclTopoGetPath ---- */

struct above { /* elements from a net's own up to its cpu */
	uint32_t item[DEPTH_MAX], n;
};

static struct above items_above(const struct nccl_xml *v, uint32_t item)
{
	struct above a = { .n = 0 };

	for (; item != TOPO_NONE && a.n < DEPTH_MAX; item = v->item[item].parent)
		a.item[a.n++] = item;
	return a;
}

/* Functions of one device: NCCL compares all of the address but its last digit. */
static bool one_device(const struct topo_machine *m, uint32_t x, uint32_t y)
{
	if (x == TOPO_NONE || y == TOPO_NONE)
		return false;
	struct pci_addr a = m->pci[x].addr, b = m->pci[y].addr;

	a.fn = b.fn;
	return pci_same(a, b);
}

enum nccl_path_type nccl_nets_path(const struct nccl_fusing *f, uint32_t x, uint32_t y,
				   uint32_t *common)
{
	const struct topo_machine *m = f->m;
	const struct nccl_xml *v = f->v;
	struct above a = items_above(v, x), b = items_above(v, y);

	*common = TOPO_NONE;
	while (a.n && b.n && a.item[a.n - 1] == b.item[b.n - 1]) {
		*common = a.item[--a.n];
		b.n--;
	}
	if (x == y || (a.n && b.n &&
		       one_device(m, v->item[a.item[a.n - 1]].pci, v->item[b.item[b.n - 1]].pci)))
		return NCCL_PORT;
	if (*common == TOPO_NONE)
		return NCCL_SYS;
	if (v->item[*common].pci == TOPO_NONE)
		return NCCL_PHB;
	return a.n == 1 && b.n == 1 ? NCCL_PIX : NCCL_PXB;
}

/* ---- the element of a fused net: ncclTopoGetVNicParent ---- */

/* NCCL does not find its function, so that it is in the nic element of a cpu. */
static bool is_at_cpu(const struct nccl_fusing *f, uint32_t net)
{
	return f->v->item[f->v->net[net].item].pci == TOPO_NONE;
}

static uint32_t item_width(const struct nccl_fusing *f, uint32_t item)
{
	const struct nccl_xml_node *it = &f->v->item[item];

	if (it->pci == TOPO_NONE) /* a cpu has no link */
		return 0;
	return it->width ? it->width : nccl_pcie_link(f->m, f->o, it->pci).width;
}

/* ncclTopoFindLinkWidth: the lanes between the group and an element above it. Each element passes
 * no more than it has. */
static uint32_t lanes_below(const struct nccl_fusing *f, const struct nccl_group *g, uint32_t top,
			    uint32_t *sum)
{
	for (uint32_t i = 0; i < g->n; i++)
		sum[f->v->net[g->net[i]].item] = item_width(f, f->v->net[g->net[i]].item);
	/* parents come before children */
	for (uint32_t i = f->v->n_items; i-- > top + 1;) {
		uint32_t parent = f->v->item[i].parent, own;
		if (!sum[i] || !nccl_is_above(f->v, top, i))
			continue;
		own = item_width(f, i);
		if (own && own < sum[i])
			sum[i] = own;
		sum[parent] += sum[i];
	}
	return sum[top];
}

/* ncclTopoWidenLinks: the links between the parts and `top`, too. */
static void widen_parts(struct nccl_fusing *f, const struct nccl_group *g, uint32_t top,
			uint32_t lanes)
{
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t at = f->v->net[g->net[i]].item;
		for (; at != top && f->v->item[at].pci != TOPO_NONE; at = f->v->item[at].parent)
			f->v->item[at].width = lanes;
	}
}

static void shift_net(struct nccl_xml_net *n, uint32_t at)
{
	n->item += n->item >= at;
	n->after += n->after != TOPO_NONE && n->after >= at;
}

/* ncclTopoMakeUniqueBusId: elements that were made for this device. */
static uint32_t made_before(const struct nccl_fusing *f, uint32_t pci)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->v->n_items; i++) {
		const struct nccl_xml_node *it = &f->v->item[i];
		n += it->made && one_device(f->m, it->pci, pci);
	}
	return n;
}

/* Add an element with the function of `like` as the last one below `parent`; returns it. */
static uint32_t insert_item(struct nccl_fusing *f, uint32_t parent, uint32_t like)
{
	struct nccl_xml *v = f->v;
	uint32_t at = parent + 1;

	while (at < v->n_items && nccl_is_above(v, parent, at))
		at++;
	struct nccl_xml_node new = v->item[like];
	new.parent = parent;
	new.made = made_before(f, new.pci) + 1;
	memmove(&v->item[at + 1], &v->item[at], (v->n_items - at) * sizeof(*v->item));
	v->item[at] = new;
	v->n_items++;
	for (uint32_t i = at + 1; i < v->n_items; i++) {
		if (v->item[i].parent != TOPO_NONE && v->item[i].parent >= at)
			v->item[i].parent++;
	}
	for (size_t i = 0; i < f->m->n_pci; i++)
		v->item_of[i] += v->item_of[i] != TOPO_NONE && v->item_of[i] >= at;
	for (uint32_t i = 0; i < v->n_nets; i++)
		shift_net(&v->net[i], at);
	for (size_t i = 0; i < f->n_groups; i++)
		shift_net(&f->group[i].made, at);
	return at;
}

static bool is_bridge(const struct nccl_fusing *f, uint32_t item)
{
	uint32_t pci = f->v->item[item].pci;

	return pci == TOPO_NONE ||
	       (f->m->pci[pci].has_class && f->m->pci[pci].class_code == CLASS_BRIDGE);
}

static uint32_t cpu_above(const struct nccl_xml *v, uint32_t item)
{
	while (v->item[item].parent != TOPO_NONE)
		item = v->item[item].parent;
	return item;
}

/* ncclTopoMakePciParent copies the function of the first part for the new net. */
static int fuse_place_refuse_lost(const struct nccl_fusing *f, const struct nccl_group *g,
				  struct err *e)
{
	return err_set(e, ERR_FIELD, 0,
		       "NCCL_NET_MERGE_LEVEL or NCCL_NET_FORCE_MERGE: NCCL does not find the "
		       "function of %s, and ends",
		       f->m->hca[f->v->net[g->net[0]].net.hca].name);
}

static int refuse_cpus(const struct nccl_fusing *f, const struct nccl_group *g, uint32_t other,
		       struct err *e)
{
	return err_set(e, ERR_FIELD, 0,
		       "NCCL_NET_MERGE_LEVEL or NCCL_NET_FORCE_MERGE: %s and %s are below "
		       "different CPUs: NCCL ends",
		       f->m->hca[f->v->net[g->net[0]].net.hca].name,
		       f->m->hca[f->v->net[other].net.hca].name);
}

/* ncclTopoGetPath of all parts: the element that they have in common, the longest distance, and a
 * part below another cpu; TOPO_NONE: there is none. */
struct meeting {
	uint32_t common, other;
	enum nccl_path_type far;
};

static struct meeting meet(const struct nccl_fusing *f, const struct nccl_group *g)
{
	const struct nccl_xml *v = f->v;
	uint32_t own = v->net[g->net[0]].item;
	struct meeting at = { own, TOPO_NONE, NCCL_PORT };

	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t top;
		enum nccl_path_type p = nccl_nets_path(f, own, v->net[g->net[i]].item, &top);
		at.far = p > at.far ? p : at.far;
		if (p == NCCL_SYS) {
			at.other = at.other == TOPO_NONE ? g->net[i] : at.other;
			top = cpu_above(v, own);
		}
		at.common = nccl_is_above(v, top, at.common) ? top : at.common;
	}
	return at;
}

static bool is_all_at_cpu(const struct nccl_fusing *f, const struct nccl_group *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (!is_at_cpu(f, g->net[i]))
			return false;
	}
	return true;
}

/* Where the new net is, and the width of its link. */
static int widen(struct nccl_fusing *f, const struct nccl_group *g, const struct meeting *at,
		 struct nccl_xml_net *made, struct err *e)
{
	struct nccl_xml *v = f->v;
	uint32_t own = v->net[g->net[0]].item, lanes = 0;

	if (at->far != NCCL_PORT && at->far != NCCL_SYS && nccl_rule(f->o, NCCL_WIDENS_FUSED)) {
		auto_free uint32_t *sum = calloc(v->n_items + 1, sizeof(*sum));
		if (!sum)
			return err_nomem(e);
		lanes = lanes_below(f, g, at->common, sum);
	}
	if (lanes && nccl_rule(f->o, NCCL_WIDENS_ALL))
		widen_parts(f, g, at->common, lanes);
	made->item = is_bridge(f, at->common) ? insert_item(f, at->common, own) : at->common;
	if (lanes && v->item[at->common].pci != TOPO_NONE)
		v->item[at->common].width = lanes;
	if (lanes)
		v->item[made->item].width = lanes;
	return 0;
}

/* Before NCCL_WIDENS_FUSED, a net of several root ports is in the nic of their cpu. */
static void place_at_cpu(const struct nccl_xml *v, uint32_t cpu, struct nccl_xml_net *made)
{
	made->item = cpu;
	made->after = TOPO_NONE;
	for (uint32_t i = 0; i < v->n_items; i++) {
		if (v->item[i].parent == cpu)
			made->after = i;
	}
	for (uint32_t i = 0; i < v->n_nets; i++) {
		if (v->net[i].item == cpu)
			made->after = v->net[i].after;
	}
}

int nccl_place_group(struct nccl_fusing *f, const struct nccl_group *g, struct nccl_xml_net *made,
		     struct err *e)
{
	struct meeting at = meet(f, g);
	bool over_cpus = f->o->rccl && nccl_rule(f->o, RCCL_FUSES_OVER_CPUS);

	made->item = f->v->net[g->net[0]].item;
	if (at.far == NCCL_SYS && !over_cpus && nccl_rule(f->o, NCCL_REFUSES_CPUS))
		return refuse_cpus(f, g, at.other, e);
	/* a nic element below the top element, or one inside a nic: NCCL does not look there */
	made->lost = (at.far == NCCL_SYS && !over_cpus) || is_all_at_cpu(f, g);
	if (made->lost || (at.common == made->item && !is_at_cpu(f, g->net[0])))
		return 0;
	if (f->v->item[at.common].pci == TOPO_NONE && !nccl_rule(f->o, NCCL_WIDENS_FUSED)) {
		place_at_cpu(f->v, at.common, made);
		return 0;
	}
	if (is_at_cpu(f, g->net[0]))
		return fuse_place_refuse_lost(f, g, e);
	return widen(f, g, &at, made, e);
}

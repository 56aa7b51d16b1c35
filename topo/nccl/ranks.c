// SPDX-License-Identifier: Apache-2.0
/*
 * ncclTopoGetSystem, ncclTopoFuseXml: each rank makes an XML with its own GPU and all nets, fuses
 * nets and removes what leads to neither. All ranks then add these XMLs up in the order of the
 * ranks. An element is added if the parent has none with the same attributes. So elements whose
 * links only some ranks widened are there twice, as are nets that ranks attach to different CPUs.
 */
#include <string.h>

#include "topo/nccl/fuse.h"

enum kind { KIND_ITEM, KIND_NIC, KIND_NET };

struct element { /* a nic is one of a cpu: nets of a function are directly below it */
	enum kind kind;
	uint32_t parent, child, last, next; /* TOPO_NONE: there is none */
	struct nccl_xml_node item;
	struct nccl_xml_net net;
	bool keep;
};

struct tree {
	struct element *el; /* the first is the top element; owned */
	uint32_t n;
};

static void tree_clear(struct tree *t)
{
	free(t->el);
}
#define auto_tree auto_clean(tree_clear)

static uint32_t ranks_add_element(struct tree *t, uint32_t parent, struct element el)
{
	uint32_t me = t->n++;

	el.parent = parent;
	el.child = el.last = el.next = TOPO_NONE;
	t->el[me] = el;
	if (!me)
		return me;
	struct element *p = &t->el[parent];
	if (p->child == TOPO_NONE)
		p->child = me;
	else
		t->el[p->last].next = me;
	p->last = me;
	return me;
}

static int ranks_make_room(struct tree *t, size_t more, struct err *e)
{
	struct element *el = realloc(t->el, (t->n + more + 1) * sizeof(*el));

	if (!el)
		return err_nomem(e);
	t->el = el;
	if (!t->n)
		ranks_add_element(t, TOPO_NONE,
				  (struct element){ .kind = KIND_ITEM, .keep = true });
	return 0;
}

/* ---- the XML of a rank as a tree ---- */

static void add_nets_of(const struct nccl_xml *v, uint32_t item, uint32_t parent, struct tree *t)
{
	for (uint32_t i = 0; i < v->n_nets; i++) {
		if (v->net[i].item == item && !v->net[i].lost)
			ranks_add_element(t, parent,
					  (struct element){ .kind = KIND_NET,
							    .net = v->net[i],
							    .keep = true });
	}
}

/* The nic of a cpu is behind the element `after`, or first. */
static void add_nic_of(const struct nccl_xml *v, uint32_t cpu, uint32_t after, uint32_t parent,
		       struct tree *t)
{
	for (uint32_t i = 0; i < v->n_nets; i++) {
		if (v->net[i].item != cpu || v->net[i].lost || v->net[i].after != after)
			continue;
		uint32_t nic = ranks_add_element(t, parent, (struct element){ .kind = KIND_NIC });
		add_nets_of(v, cpu, nic, t);
		return;
	}
}

/* Items are in document order; to[] has the element of each. */
static void ranks_add_items(const struct nccl_xml *v, uint32_t *to, struct tree *t)
{
	for (uint32_t i = 0; i < v->n_items; i++) {
		const struct nccl_xml_node *it = &v->item[i];
		uint32_t parent = it->parent == TOPO_NONE ? 0 : to[it->parent];
		to[i] = ranks_add_element(t, parent,
					  (struct element){ .kind = KIND_ITEM, .item = *it });
		if (it->pci == TOPO_NONE) {
			add_nic_of(v, i, TOPO_NONE, to[i], t);
			continue;
		}
		add_nets_of(v, i, to[i], t);
		if (v->item[it->parent].pci == TOPO_NONE)
			add_nic_of(v, it->parent, i, parent, t);
	}
}

/* ncclTopoTrimXml; parents come before children. */
static void mark_kept(struct tree *t)
{
	for (uint32_t i = t->n; i-- > 1;) {
		if (t->el[i].keep)
			t->el[t->el[i].parent].keep = true;
	}
}

static int tree_of_rank(const struct topo_machine *m, const struct nccl_xml *v, struct tree *t,
			struct err *e)
{
	auto_free uint32_t *to = calloc(v->n_items + 1, sizeof(*to));

	if (!to)
		return err_nomem(e);
	if (ranks_make_room(t, 2 * (size_t)v->n_items + v->n_nets, e))
		return -1;
	ranks_add_items(v, to, t);
	for (uint32_t i = 0; i < v->n_gpus; i++)
		t->el[to[v->item_of[m->gpu[v->gpu[i]].pci]]].keep = true;
	mark_kept(t);
	return 0;
}

/* ---- xmlTopoFuseXmlRecursive ---- */

static bool is_same_net(const struct nccl_net *a, const struct nccl_net *b)
{
	for (uint32_t i = 0; i < nccl_net_parts(a); i++) {
		struct nccl_hca_port x = nccl_net_part(a, i), y = nccl_net_part(b, i);
		if (a->fused != b->fused || x.hca != y.hca || x.port != y.port ||
		    x.direct != y.direct)
			return false;
	}
	return true;
}

/* xmlFindNode: an element with the same attributes */
static bool ranks_is_same(const struct element *a, const struct element *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == KIND_NET)
		return a->net.nth == b->net.nth && is_same_net(&a->net.net, &b->net.net);
	return a->kind == KIND_NIC ||
	       (a->item.pci == b->item.pci && a->item.numa == b->item.numa &&
		a->item.width == b->item.width && a->item.made == b->item.made);
}

static uint32_t ranks_find_same(const struct tree *t, uint32_t parent, const struct element *el)
{
	uint32_t i = t->el[parent].child;

	while (i != TOPO_NONE && !ranks_is_same(&t->el[i], el))
		i = t->el[i].next;
	return i;
}

static int fuse_tree(struct tree *all, const struct tree *one, struct err *e)
{
	auto_free uint32_t *to = calloc(one->n + 1, sizeof(*to));

	if (!to)
		return err_nomem(e);
	if (ranks_make_room(all, one->n, e))
		return -1;
	for (uint32_t i = 1; i < one->n; i++) {
		const struct element *el = &one->el[i];
		if (!el->keep)
			continue;
		to[i] = ranks_find_same(all, to[el->parent], el);
		if (to[i] == TOPO_NONE)
			to[i] = ranks_add_element(all, to[el->parent], *el);
	}
	return 0;
}

/* ---- back to an XML ---- */

/* getPath() of paths.cc finds a net by its number, so that only the first one has paths. */
static bool has_number(const struct nccl_xml *v, uint32_t nth)
{
	uint32_t i = 0;

	while (i < v->n_nets && v->net[i].nth != nth)
		i++;
	return i < v->n_nets;
}

/* The item of the element before a nic; TOPO_NONE: it is the first one. */
static uint32_t item_before(const struct tree *t, const uint32_t *item_of_el, uint32_t nic)
{
	uint32_t before = TOPO_NONE;

	if (t->el[nic].kind != KIND_NIC)
		return TOPO_NONE;
	for (uint32_t i = t->el[t->el[nic].parent].child; i != nic; i = t->el[i].next)
		before = item_of_el[i];
	return before;
}

static void put_element(const struct tree *t, uint32_t me, uint32_t *item_of_el, struct nccl_xml *v)
{
	const struct element *el = &t->el[me];
	uint32_t above = item_of_el[el->parent];

	item_of_el[me] = above;
	if (el->kind == KIND_NET && has_number(v, el->net.nth))
		return;
	if (el->kind == KIND_NET) {
		v->net[v->n_nets] = el->net;
		v->net[v->n_nets].after = item_before(t, item_of_el, el->parent);
		v->net[v->n_nets++].item = above;
	} else if (el->kind == KIND_ITEM) {
		item_of_el[me] = v->n_items;
		v->item[v->n_items] = el->item;
		v->item[v->n_items++].parent = above;
		if (el->item.pci != TOPO_NONE && v->item_of[el->item.pci] == TOPO_NONE)
			v->item_of[el->item.pci] = v->n_items - 1;
	}
}

static int xml_of_tree(const struct topo_machine *m, const struct tree *t, struct nccl_xml *v,
		       struct err *e)
{
	auto_free uint32_t *item_of_el = calloc(t->n + 1, sizeof(*item_of_el));

	v->item = calloc(t->n + 1, sizeof(*v->item));
	v->net = calloc(t->n + NCCL_NETS_MAX + 1, sizeof(*v->net));
	v->item_of = malloc((m->n_pci + 1) * sizeof(*v->item_of));
	if (!item_of_el || !v->item || !v->net || !v->item_of)
		return err_nomem(e);
	memset(v->item_of, 0xff, (m->n_pci + 1) * sizeof(*v->item_of));
	item_of_el[0] = TOPO_NONE;
	for (uint32_t i = t->n ? t->el[0].child : TOPO_NONE; i != TOPO_NONE;) {
		put_element(t, i, item_of_el, v);
		if (t->el[i].child != TOPO_NONE) {
			i = t->el[i].child;
			continue;
		}
		while (i && t->el[i].next == TOPO_NONE)
			i = t->el[i].parent;
		i = i ? t->el[i].next : TOPO_NONE;
	}
	return 0;
}

/* ---- what the ranks made ---- */

static const struct nccl_xml_net *made_net(const struct nccl_xml *v, uint32_t nth)
{
	for (uint32_t i = 0; i < v->n_nets; i++) {
		if (v->net[i].nth == nth && v->net[i].net.fused)
			return &v->net[i];
	}
	return NULL;
}

/* The plugin of each rank numbers its devices: those of the XML, and behind them the fused ones. */
static bool has_same_devices(const struct nccl_xml *a, const struct nccl_xml *b)
{
	if (a->n_nets != b->n_nets)
		return false;
	for (uint32_t i = 0; i < a->n_nets; i++) {
		const struct nccl_xml_net *p = &a->net[i], *q = made_net(b, p->nth);
		if (p->net.fused && (!q || !is_same_net(&p->net, &q->net)))
			return false;
	}
	return true;
}

/* A net without a place in any XML: it keeps its number, and has no path. */
static void keep_lost(const struct nccl_xml *one, struct nccl_xml *v)
{
	for (uint32_t i = 0; i < one->n_nets; i++) {
		if (!one->net[i].lost || has_number(v, one->net[i].nth))
			continue;
		v->net[v->n_nets] = one->net[i];
		v->net[v->n_nets].after = TOPO_NONE;
		v->net[v->n_nets++].item = 0;
	}
}

int nccl_xml_fuse_ranks(const struct topo_machine *m, const struct nccl_xml *rank, uint32_t n,
			struct nccl_xml *out, struct err *e)
{
	auto_tree struct tree all = { 0 };
	auto_nccl_xml struct nccl_xml v = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		auto_tree struct tree one = { 0 };
		if (tree_of_rank(m, &rank[i], &one, e) || fuse_tree(&all, &one, e))
			return -1;
		v.ranks_differ |= !has_same_devices(&rank[0], &rank[i]);
	}
	if (xml_of_tree(m, &all, &v, e))
		return -1;
	if (n)
		keep_lost(&rank[0], &v);
	*out = v;
	v = (struct nccl_xml){ 0 };
	return 0;
}

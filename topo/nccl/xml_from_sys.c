// SPDX-License-Identifier: Apache-2.0
/*
 * ncclTopoGetXmlFromSys: the elements that NCCL finds in /sys. From a device, NCCL removes two
 * components of the path in each step: the device, and the downstream port above it. So the
 * element of a switch is its upstream port. A component other than an address of 12 characters,
 * "0000:17:00.0", counts as a root complex. Its NUMA node is that of the last function below it.
 */
#include <string.h>

#include "topo/nccl/system.h"

static uint32_t component_above(const struct topo_machine *m, uint32_t pci)
{
	uint32_t up = m->pci[pci].parent;

	return up != TOPO_NONE && up < pci && m->pci[up].addr.domain <= NCCL_DOMAIN_MAX ? up
											: TOPO_NONE;
}

static uint32_t parent_of(const struct topo_machine *m, uint32_t pci)
{
	uint32_t port = component_above(m, pci);

	return port == TOPO_NONE ? TOPO_NONE : component_above(m, port);
}

/* All functions of a bus have one node. If the reader skipped a function, ask the next above it. */
static int numa_of(const struct topo_machine *m, uint32_t pci)
{
	int numa = m->pci[pci].numa;

	for (uint32_t up = component_above(m, pci); numa < 0 && up != TOPO_NONE;) {
		numa = m->pci[up].numa;
		up = component_above(m, up);
	}
	return numa;
}

static uint32_t cpu_of(const struct topo_machine *m, int numa, struct nccl_xml *v)
{
	for (uint32_t i = 0; i < v->n_items; i++) {
		if (v->item[i].pci == TOPO_NONE && v->item[i].numa == numa)
			return i;
	}
	uint32_t cpu = TOPO_NONE;
	for (uint32_t i = 0; i < m->n_cpus && cpu == TOPO_NONE; i++) {
		if (m->cpu[i].numa == numa)
			cpu = i;
	}
	v->item[v->n_items] = (struct nccl_xml_node){ TOPO_NONE, TOPO_NONE, cpu, numa, 0, 0 };
	return v->n_items++;
}

/* Add the elements from a function up to its cpu. A parent may come after its child until
 * document_order() sorts them. */
static void get_xml_from_sys(const struct topo_machine *m, bool rccl, uint32_t pci,
			     struct nccl_xml *v)
{
	while (v->item_of[pci] == TOPO_NONE) {
		bool hidden = m->pci[pci].addr.domain > NCCL_DOMAIN_MAX;
		uint32_t me = v->n_items++, up = hidden ? TOPO_NONE : parent_of(m, pci);
		v->item_of[pci] = me;
		v->item[me] = (struct nccl_xml_node){ TOPO_NONE, pci, TOPO_NONE, -1, 0, 0 };
		if (up == TOPO_NONE) {
			int numa = hidden ? -1 : numa_of(m, pci);
			v->item[me].parent = cpu_of(m, rccl && numa < 0 ? 0 : numa, v);
			return;
		}
		v->item[me].parent = v->item_of[up] == TOPO_NONE ? v->n_items : v->item_of[up];
		pci = up;
	}
}

/* ---- document order: NUMA nodes as they are found, functions of one parent by address ---- */

struct sorting {
	const struct topo_machine *m;
	const struct nccl_xml_node *item;
};

static int by_busid(const void *x, const void *y, void *arg)
{
	const struct sorting *s = arg;
	uint32_t a = s->item[*(const uint32_t *)x].pci, b = s->item[*(const uint32_t *)y].pci;
	char ta[PCI_STR_LEN], tb[PCI_STR_LEN];

	return strcmp(pci_format(s->m->pci[a].addr, ta), pci_format(s->m->pci[b].addr, tb));
}

struct order {
	uint32_t *sorted;         /* items, siblings in order */
	uint32_t *child;          /* by item: its first child */
	uint32_t *next;           /* by item: its next sibling */
	uint32_t *to;             /* by item: its new number */
	struct nccl_xml_node *at; /* the first n items in their new order */
	uint32_t n;
};

static void order_clear(struct order *o)
{
	free(o->sorted);
	free(o->child);
	free(o->next);
	free(o->to);
	free(o->at);
}
#define auto_order auto_clean(order_clear)

static int order_alloc(uint32_t n, struct order *o, struct err *e)
{
	o->sorted = calloc(n + 1, sizeof(*o->sorted));
	o->child = calloc(n + 1, sizeof(*o->child));
	o->next = calloc(n + 1, sizeof(*o->next));
	o->to = calloc(n + 1, sizeof(*o->to));
	o->at = calloc(n + 1, sizeof(*o->at));
	if (!o->sorted || !o->child || !o->next || !o->to || !o->at)
		return err_nomem(e);
	memset(o->child, 0xff, n * sizeof(*o->child));
	memset(o->next, 0xff, n * sizeof(*o->next));
	return 0;
}

/* Make lists of children; backwards, because each is put in front of the others. */
static void order_children(const struct topo_machine *m, const struct nccl_xml *v, struct order *o)
{
	struct sorting s = { m, v->item };
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_items; i++) {
		if (v->item[i].pci != TOPO_NONE)
			o->sorted[n++] = i;
	}
	qsort_r(o->sorted, n, sizeof(*o->sorted), by_busid, &s);
	while (n) {
		uint32_t i = o->sorted[--n], parent = v->item[i].parent;
		o->next[i] = o->child[parent];
		o->child[parent] = i;
	}
}

/* Order one NUMA node and all items below it, parents before children. */
static void order_below(const struct nccl_xml *v, uint32_t top, struct order *o)
{
	for (uint32_t i = top;;) {
		struct nccl_xml_node *at = &o->at[o->n];
		*at = v->item[i];
		if (i != top)
			at->parent = o->to[at->parent];
		o->to[i] = o->n++;
		if (o->child[i] != TOPO_NONE) {
			i = o->child[i];
			continue;
		}
		while (i != top && o->next[i] == TOPO_NONE)
			i = v->item[i].parent;
		if (i == top)
			return;
		i = o->next[i];
	}
}

static int document_order(const struct topo_machine *m, struct nccl_xml *v, struct err *e)
{
	auto_order struct order o = { 0 };

	if (order_alloc(v->n_items, &o, e))
		return -1;
	order_children(m, v, &o);
	for (uint32_t i = 0; i < v->n_items; i++) {
		if (v->item[i].pci == TOPO_NONE)
			order_below(v, i, &o);
	}
	for (uint32_t i = 0; i < m->n_pci; i++) {
		if (v->item_of[i] != TOPO_NONE)
			v->item_of[i] = o.to[v->item_of[i]];
	}
	free(v->item);
	v->item = TAKE_PTR(o.at);
	return 0;
}

static int xml_from_sys_by_place(const void *x, const void *y, void *v)
{
	const struct nccl_xml_net *a = x, *b = y;
	uint32_t at = nccl_net_place(v, a), bt = nccl_net_place(v, b);

	if (at != bt)
		return at < bt ? -1 : 1;
	return (a->nth > b->nth) - (a->nth < b->nth);
}

/* Move nets from functions to elements. NCCL attaches a net without a function to the first cpu,
 * where its nic comes behind the function `after` and all below it. */
static void attach_nets(uint32_t after, struct nccl_xml *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_nets; i++) {
		struct nccl_xml_net p = v->net[i];
		p.after = p.item == TOPO_NONE && after != TOPO_NONE ? v->item_of[after] : TOPO_NONE;
		p.item = p.item == TOPO_NONE ? 0 : v->item_of[p.item];
		if (v->n_items)
			v->net[n++] = p;
	}
	v->n_nets = n;
	qsort_r(v->net, n, sizeof(*v->net), xml_from_sys_by_place, v);
}

/* Of the elements so far: the function with the highest address directly below the first cpu. NCCL
 * sorts a function among those that are there, and adds a nic behind them. */
static uint32_t last_of_first_cpu(const struct topo_machine *m, const struct nccl_xml *v)
{
	struct sorting s = { m, v->item };
	uint32_t cpu = 0, last = TOPO_NONE;

	while (cpu < v->n_items && v->item[cpu].pci != TOPO_NONE)
		cpu++;
	for (uint32_t i = 0; i < v->n_items; i++) {
		if (v->item[i].parent == cpu && (last == TOPO_NONE || by_busid(&i, &last, &s) > 0))
			last = i;
	}
	return last == TOPO_NONE ? TOPO_NONE : v->item[last].pci;
}

/* ncclTopoFuseXml: each rank adds its GPU to what the ranks before it found, and the first one
 * finds all nets. That decides the order of the cpu elements, and so that of nets at one distance.
 */
int nccl_xml_from_sys(const struct topo_machine *m, const struct nccl_opts *o, struct nccl_xml *v,
		      struct err *e)
{
	uint32_t after = TOPO_NONE;
	bool any = false;

	if (v->n_gpus)
		get_xml_from_sys(m, o->rccl, m->gpu[v->gpu[0]].pci, v);
	for (uint32_t i = 0; i < v->n_nets; i++) {
		if (v->net[i].item != TOPO_NONE) {
			get_xml_from_sys(m, o->rccl, v->net[i].item, v);
			continue;
		}
		if (!any)
			after = last_of_first_cpu(m, v);
		any = true;
	}
	for (uint32_t i = 1; i < v->n_gpus; i++)
		get_xml_from_sys(m, o->rccl, m->gpu[v->gpu[i]].pci, v);
	if (document_order(m, v, e))
		return -1;
	attach_nets(after, v);
	return 0;
}

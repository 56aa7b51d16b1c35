// SPDX-License-Identifier: Apache-2.0
/* ncclTopoGetSystemFromXml: makes nodes and links from the XML. The class and the children of an
 * element decide which node it becomes, or whether it is ignored. */
#include <string.h>

#include "lib/base/array.h"
#include "topo/nccl/system.h"
#include "topo/core/pci_switch.h"

#define LINKS_MAX (UINT32_MAX / 2)

int nccl_connect_nodes(struct nccl_links *l, struct nccl_topo_link to, struct err *e)
{
	uint32_t i = 0;

	while (i < l->n && !(l->link[i].to == to.to && l->link[i].type == to.type))
		i++;
	if (i < l->n) {
		to.bw += l->link[i].bw;
	} else {
		if (ARRAY_GROW(l->link, l->n, LINKS_MAX, "links of a node", e))
			return -1;
		l->n++;
	}
	for (; i && l->link[i - 1].bw < to.bw; i--)
		l->link[i] = l->link[i - 1];
	l->link[i] = to;
	return 0;
}

/* ---- nodes ---- */

struct work {
	const struct topo_machine *m;
	const struct nccl_xml *v;
	const struct nccl_opts *o;
	uint32_t *node_of; /* by item; TOPO_NONE: neither it nor any item below it is a node */
	bool *nic;         /* by item: it has a net */
	uint32_t *gpu_at;  /* by item: the XML's GPU in it; TOPO_NONE */
	struct nccl_system *g;
};

static void system_work_clear(struct work *w)
{
	free(w->node_of);
	free(w->nic);
	free(w->gpu_at);
}
#define auto_work auto_clean(system_work_clear)

static int work_alloc(struct work *w, struct err *e)
{
	uint32_t n = w->v->n_items;

	w->node_of = malloc((n + 1) * sizeof(*w->node_of));
	w->nic = calloc(n + 1, sizeof(*w->nic));
	w->gpu_at = malloc((n + 1) * sizeof(*w->gpu_at));
	if (!w->node_of || !w->nic || !w->gpu_at)
		return err_nomem(e);
	memset(w->node_of, 0xff, (n + 1) * sizeof(*w->node_of));
	memset(w->gpu_at, 0xff, (n + 1) * sizeof(*w->gpu_at));
	for (uint32_t i = 0; i < w->v->n_nets; i++)
		w->nic[w->v->net[i].item] |= !w->v->net[i].lost;
	for (uint32_t i = w->v->n_gpus; i-- > 0;)
		w->gpu_at[w->v->item_of[w->m->gpu[w->v->gpu[i]].pci]] = i;
	return 0;
}

/* kvDictPciClass: every other class is a switch. NCCL ignores a GPU, NIC, NVSwitch or CPU by class
 * that has no such child. */
static bool is_switch(const struct topo_pci *p)
{
	uint32_t base = p->class_code >> 16, sub = p->class_code >> 8;

	return !p->has_class || (base != 0x03 && base != 0x02 && sub != 0x0680);
}

static uint32_t new_node(struct nccl_system *g, enum nccl_kind kind, uint32_t index, uint32_t up)
{
	g->node[g->n_nodes] = (struct nccl_node){ .kind = kind, .index = index, .up = up };
	return g->n_nodes++;
}

static float item_bw(const struct work *w, uint32_t item)
{
	const struct nccl_xml_node *it = &w->v->item[item];
	struct topo_pcie_link l = nccl_pcie_link(w->m, w->o, it->pci);

	if (it->width) /* more lanes than a slot has: several links */
		return nccl_pcie_bw((struct topo_pcie_link){ l.speed, 1 }) * (float)it->width;
	return nccl_pcie_bw(l);
}

/* Connect a node with the node above it, by the PCIe link of its function. */
static int connect_up(struct work *w, uint32_t node, uint32_t item, struct err *e)
{
	struct nccl_node *n = &w->g->node[node];

	n->bw = item_bw(w, item);
	struct nccl_topo_link down = { node, NCCL_PIX, n->bw }, up = { n->up, NCCL_PIX, n->bw };
	if (nccl_connect_nodes(&n->core, up, e))
		return -1;
	return nccl_connect_nodes(&w->g->node[n->up].core, down, e);
}

/* ncclTopoAddCpu, ncclTopoAddPci, ncclTopoAddGpu */
static int system_add_item(struct work *w, uint32_t i, struct err *e)
{
	const struct nccl_xml_node *it = &w->v->item[i];
	struct nccl_system *g = w->g;

	if (it->pci == TOPO_NONE) {
		w->node_of[i] = new_node(g, NCCL_NODE_CPU, i, TOPO_NONE);
		g->cpu[g->n_cpus++] = w->node_of[i];
		return 0;
	}
	uint32_t up = w->node_of[it->parent];
	if (up == TOPO_NONE || g->node[up].kind == NCCL_NODE_GPU)
		return 0;
	if (w->gpu_at[i] != TOPO_NONE) {
		w->node_of[i] = new_node(g, NCCL_NODE_GPU, w->gpu_at[i], up);
		/* several ranks can be on one device */
		for (uint32_t k = w->gpu_at[i]; k < w->v->n_gpus; k++) {
			if (w->v->item_of[w->m->gpu[w->v->gpu[k]].pci] != i)
				break;
			g->gpu[k] = w->node_of[i];
		}
	} else if (!w->nic[i] && is_switch(&w->m->pci[it->pci])) {
		w->node_of[i] = new_node(g, NCCL_NODE_PCI, i, up);
		g->node[w->node_of[i]].id = topo_pci_ids(&w->m->pci[it->pci]);
	} else {
		return 0;
	}
	return connect_up(w, w->node_of[i], i, e);
}

/* ---- NICs and nets, behind the rest ---- */

/* Before NCCL_NIC_IS_FUNCTION, all functions of a device are one. Virtual NICs of all cpu elements
 * are one, at the first of these CPUs: NCCL_TOPO_ID cuts the NUMA node off that
 * NCCL_TOPO_LOCAL_NIC_ID adds. */
static uint64_t nic_id(const struct work *w, const struct nccl_xml_node *it)
{
	if (it->pci == TOPO_NONE)
		return UINT64_MAX;
	struct pci_addr a = w->m->pci[it->pci].addr;
	uint64_t id = (uint64_t)a.domain << 16 | (uint64_t)a.bus << 8 | a.dev;
	if (nccl_rule(w->o, NCCL_NIC_IS_FUNCTION))
		id = id << 3 | a.fn;
	return id | (uint64_t)it->made << 52;
}

#define VIRTUAL_BW 5000.0F /* LOC_BW: the link of a virtual NIC is no limit */

/* ncclTopoAddNic; *out is TOPO_NONE if NCCL ignores the NIC. */
static int add_nic(struct work *w, uint32_t item, uint32_t *out, struct err *e)
{
	const struct nccl_xml_node *it = &w->v->item[item];
	struct nccl_system *g = w->g;
	uint64_t id = nic_id(w, it);
	uint32_t up = w->node_of[it->pci == TOPO_NONE ? item : it->parent];

	*out = TOPO_NONE;
	for (uint32_t i = g->n_nodes; i-- > g->n_core && *out == TOPO_NONE;) {
		if (g->node[i].kind == NCCL_NODE_NIC && g->node[i].id == id)
			*out = i;
	}
	if (*out != TOPO_NONE || up == TOPO_NONE || g->node[up].kind == NCCL_NODE_GPU)
		return 0;
	while (g->node[up].gone)
		up = g->node[up].up;
	*out = new_node(g, NCCL_NODE_NIC, item, up);
	struct nccl_node *n = &g->node[*out];
	n->id = id;
	n->bw = it->pci == TOPO_NONE ? VIRTUAL_BW : item_bw(w, item);
	struct nccl_topo_link down = { *out, NCCL_PIX, n->bw };
	return nccl_connect_nodes(&g->node[n->up].leaf, down, e);
}

/* ncclTopoAddNet */
static int add_nets(struct work *w, struct err *e)
{
	struct nccl_system *g = w->g;
	uint32_t nic = TOPO_NONE, at = TOPO_NONE;

	for (uint32_t i = 0; i < w->v->n_nets; i++) {
		const struct nccl_xml_net *p = &w->v->net[i];
		g->net[i] = TOPO_NONE;
		if (p->lost)
			continue;
		if (p->item != at && add_nic(w, p->item, &nic, e))
			return -1;
		at = p->item;
		if (nic == TOPO_NONE)
			continue;
		struct nccl_topo_link to = { new_node(g, NCCL_NODE_NET, i, nic), NCCL_NET,
					     (float)(p->mbps / 8000.0) };
		g->net[i] = to.to;
		g->node[to.to].bw = to.bw;
		if (nccl_connect_nodes(&g->node[nic].leaf, to, e))
			return -1;
	}
	g->n_nets = w->v->n_nets;
	return 0;
}

/* ncclTopoSort: links to the node above are followed after all others. */
static void up_links_last(struct nccl_system *g)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct nccl_links *l = &g->node[i].core;
		uint32_t k = 0;
		while (k < l->n && l->link[k].to != g->node[i].up)
			k++;
		if (g->node[i].up == TOPO_NONE || k == l->n)
			continue;
		struct nccl_topo_link up = l->link[k];
		memmove(&l->link[k], &l->link[k + 1], (l->n - k - 1) * sizeof(*l->link));
		l->link[l->n - 1] = up;
	}
}

static int system_alloc(const struct nccl_xml *v, struct nccl_system *g, struct err *e)
{
	g->node = calloc((size_t)v->n_items + 2 * (size_t)v->n_nets + 2, sizeof(*g->node));
	g->cpu = calloc(v->n_items + 1, sizeof(*g->cpu));
	g->gpu = malloc((v->n_gpus + 1) * sizeof(*g->gpu));
	g->net = calloc(v->n_nets + 1, sizeof(*g->net));
	if (!g->node || !g->cpu || !g->gpu || !g->net)
		return err_nomem(e);
	memset(g->gpu, 0xff, (v->n_gpus + 1) * sizeof(*g->gpu));
	g->n_gpus = v->n_gpus;
	return 0;
}

int nccl_system_make(const struct topo_machine *m, const struct nccl_xml *v,
		     const struct nccl_opts *o, struct nccl_system *out, struct err *e)
{
	auto_nccl_system struct nccl_system g = { 0 };
	auto_work struct work w = { .m = m, .v = v, .o = o, .g = &g };

	if (work_alloc(&w, e) || system_alloc(v, &g, e))
		return -1;
	for (uint32_t i = 0; i < v->n_items; i++) {
		if (system_add_item(&w, i, e))
			return -1;
	}
	if (!o->no_flatten && nccl_flatten_bcm(o, &g, e))
		return -1;
	if (nccl_add_links(m, v, o, &g, e))
		return -1;
	up_links_last(&g);
	g.n_core = g.n_nodes;
	if (add_nets(&w, e))
		return -1;
	*out = g;
	g = (struct nccl_system){ 0 };
	return 0;
}

void nccl_system_clear(struct nccl_system *g)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		free(g->node[i].core.link);
		free(g->node[i].leaf.link);
	}
	free(g->node);
	free(g->cpu);
	free(g->gpu);
	free(g->net);
	*g = (struct nccl_system){ 0 };
}

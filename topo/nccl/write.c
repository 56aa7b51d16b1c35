// SPDX-License-Identifier: Apache-2.0
/* Writes a machine as a topology file, in the order of NCCL's XML. */
#include "topo/nccl/write.h"

#include "topo/nccl/system.h"
#include "topo/nccl/text.h"

struct writing {
	struct xml_text *t;
	const struct topo_machine *m;
	const struct nccl_xml *v;
	uint32_t *gpu_at; /* of each item: its first GPU; TOPO_NONE */
	uint32_t *net_at; /* of each item: its first net that is not written; TOPO_NONE */
};

/* The number of elements that NCCL adds to a skeleton: a nic with nets, a gpu with NVLinks. */
#define NIC_CHILDREN 3
#define GPU_CHILDREN 2

/* The GPUs of an item; they are neighbours, because the XML is in document order. */
static void write_gpus(const struct writing *w, uint32_t item)
{
	for (uint32_t i = w->gpu_at[item]; i < w->v->n_gpus; i++) {
		const struct topo_gpu *g = &w->m->gpu[w->v->gpu[i]];
		if (w->v->item_of[g->pci] != item)
			return;
		if (w->t->skeleton)
			w->t->elements += GPU_CHILDREN + (unsigned int)g->n_nvlinks;
		else
			xml_write_gpu(w->t, g, g->index);
	}
}

static void write_nic(const struct writing *w, uint32_t item)
{
	if (w->net_at[item] == TOPO_NONE || w->t->skeleton)
		return;
	xml_open(w->t, "nic");
	for (uint32_t n = w->net_at[item]; n < w->v->n_nets; n++) {
		if (w->v->net[n].item == item)
			xml_write_net(w->t, w->m, &w->v->net[n], w->v->net[n].nth);
	}
	xml_close(w->t, "nic");
	w->net_at[item] = TOPO_NONE;
}

/* The nic of a cpu comes before the first of its functions that has a higher place. */
static void write_nic_before(const struct writing *w, uint32_t cpu, uint32_t item)
{
	uint32_t net = w->net_at[cpu];

	if (net != TOPO_NONE && nccl_net_place(w->v, &w->v->net[net]) < 2 * item)
		write_nic(w, cpu);
}

/* NCCL does not look for a link that a file has. */
static const struct nccl_opts newest = NCCL_OPTS_DEFAULT;

static void open_item(const struct writing *w, uint32_t i)
{
	const struct nccl_xml_node *it = &w->v->item[i];

	if (it->pci == TOPO_NONE) {
		xml_write_cpu(w->t, it->numa, it->cpu == TOPO_NONE ? NULL : &w->m->cpu[it->cpu]);
		return;
	}
	const struct topo_pci *p = &w->m->pci[it->pci];
	xml_write_pci(w->t, p, nccl_pcie_link(w->m, &newest, it->pci), p->addr, true);
	write_gpus(w, i);
	if (w->t->skeleton && w->net_at[i] != TOPO_NONE)
		w->t->elements += NIC_CHILDREN;
	write_nic(w, i);
}

/* Close elements up to the parent of the next one. */
static void close_to(const struct writing *w, uint32_t *at, uint32_t parent)
{
	while (*at != parent) {
		const struct nccl_xml_node *it = &w->v->item[*at];
		if (it->pci == TOPO_NONE)
			write_nic(w, *at);
		xml_close(w->t, it->pci == TOPO_NONE ? "cpu" : "pci");
		*at = it->parent;
	}
}

static void write_items(const struct writing *w)
{
	uint32_t at = TOPO_NONE;

	xml_write_system(w->t);
	for (uint32_t i = 0; i < w->v->n_items && !w->t->text.failed; i++) {
		uint32_t parent = w->v->item[i].parent;
		close_to(w, &at, parent);
		if (parent != TOPO_NONE && w->v->item[parent].pci == TOPO_NONE)
			write_nic_before(w, parent, i);
		open_item(w, i);
		at = i;
	}
	close_to(w, &at, TOPO_NONE);
	xml_close(w->t, "system");
}

static void list_contents(const struct topo_machine *m, const struct nccl_xml *v, uint32_t *gpu_at,
			  uint32_t *net_at)
{
	for (uint32_t i = 0; i < v->n_items; i++)
		gpu_at[i] = net_at[i] = TOPO_NONE;
	for (uint32_t i = v->n_gpus; i-- > 0;)
		gpu_at[v->item_of[m->gpu[v->gpu[i]].pci]] = i;
	for (uint32_t i = v->n_nets; i-- > 0;)
		net_at[v->net[i].item] = i;
}

int topo_xml_write(const struct topo_machine *m, const struct topo_xml_opts *o, char **out,
		   struct err *e)
{
	struct nccl_opts view = {
		.gdr_level = -1, .keep_vf_path = o->keep_vf_path, .fold_vfs = true, .no_merge = true
	};
	auto_nccl_xml struct nccl_xml v = { 0 };
	auto_xml_text struct xml_text t = { .rccl = o->rccl, .skeleton = o->skeleton };

	if (nccl_xml_make(m, o->scope, &view, &v, e))
		return -1;
	/* too many elements: do not write them */
	if (v.n_items >= XML_MAX_ELEMENTS) {
		t.elements = v.n_items + 1;
		return xml_text_done(&t, out, e);
	}
	auto_free uint32_t *at = calloc(2 * (size_t)v.n_items + 2, sizeof(*at));
	if (!at)
		return err_nomem(e);
	list_contents(m, &v, at, at + v.n_items);
	struct writing w = { &t, m, &v, at, at + v.n_items };
	write_items(&w);
	return xml_text_done(&t, out, e);
}

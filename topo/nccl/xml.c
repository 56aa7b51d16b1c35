// SPDX-License-Identifier: Apache-2.0
/* The XML of a topology file (ncclTopoGetXmlFromFile), and the parts that both sources share. */
#include <string.h>

#include "topo/nccl/fuse.h"
#include "topo/nccl/rccl.h"

/* NCCL's defaults for missing attributes. */
#define NET_MBPS_DEFAULT 10000
#define LANES_DEFAULT    16
#define SPEED_DEFAULT    60 /* 8 GT/s */

#define VENDOR_NVIDIA 0x10de

bool nccl_is_tree(const struct topo_machine *m)
{
	return m->source == TOPO_LIVE || m->source == TOPO_CAPTURE;
}

/*
 * NCCL reads the maximum of both ends. For an NVIDIA GPU, newer versions ask NVML for the current
 * link. An idle GPU has a slow link, but NCCL wakes it up: use the maximum speed.
 */
struct topo_pcie_link nccl_pcie_link(const struct topo_machine *m, const struct nccl_opts *o,
				     uint32_t pci)
{
	const struct topo_pci *p = &m->pci[pci];
	struct topo_pcie_link l = p->max;

	if (p->one_end)
		l.width = 0;
	if (nccl_is_tree(m) && p->addr.domain > NCCL_DOMAIN_MAX)
		return (struct topo_pcie_link){ 0 };
	if (nccl_rule(o, NCCL_ASKS_FOR_LINK) && nccl_is_tree(m) && p->has_ids &&
	    p->vendor == VENDOR_NVIDIA && p->has_class && p->class_code >> 16 == 0x03 &&
	    p->cur.width)
		l.width = p->cur.width;
	return l;
}

const struct topo_port *nccl_net_port(const struct topo_machine *m, const struct nccl_net *n)
{
	const struct topo_hca *h = &m->hca[n->hca];

	for (size_t i = 0; i < h->n_ports; i++) {
		if (h->port[i].port == n->port)
			return &h->port[i];
	}
	return NULL;
}

float nccl_pcie_bw(struct topo_pcie_link l)
{
	unsigned int width = l.width ? l.width : LANES_DEFAULT;
	unsigned int speed = l.speed ? l.speed : SPEED_DEFAULT;

	return (float)(width * speed / 80.0);
}

bool nccl_is_above(const struct nccl_xml *v, uint32_t above, uint32_t item)
{
	while (item != TOPO_NONE && item != above)
		item = v->item[item].parent;
	return item == above;
}

uint32_t nccl_net_place(const struct nccl_xml *v, const struct nccl_xml_net *n)
{
	uint32_t last = n->after;

	if (v->item[n->item].pci != TOPO_NONE || last == TOPO_NONE)
		return 2 * n->item;
	while (last + 1 < v->n_items && nccl_is_above(v, n->after, last + 1))
		last++;
	return 2 * last + 1;
}

/* The element directly below `top` that is an element or above it; TOPO_NONE: no such one. */
static uint32_t child_of(const struct nccl_xml *v, uint32_t top, uint32_t item)
{
	while (item != TOPO_NONE && v->item[item].parent != top)
		item = v->item[item].parent;
	return item;
}

/* In a file, nets are in document order: the nic of a cpu is behind the net before it. */
static uint32_t element_before(const struct nccl_xml *v, uint32_t cpu)
{
	const struct nccl_xml_net *last = v->n_nets ? &v->net[v->n_nets - 1] : NULL;

	if (!last)
		return TOPO_NONE;
	return last->item == cpu ? last->after : child_of(v, cpu, last->item);
}

/* Add a net element; a virtual NIC is directly below a cpu element. One of a skeleton that NCCL
 * does not find is below the first cpu, as in ncclTopoFillNet. */
static void add_file_net(const struct topo_machine *m, uint32_t hca, const struct nccl_opts *o,
			 struct nccl_xml *v)
{
	const struct topo_hca *h = &m->hca[hca];
	uint32_t rate = h->n_ports ? h->port[0].rate_mbps : 0;
	bool displaced;
	uint32_t pci = nccl_ib_pci(m, hca, o, &displaced);
	uint32_t item = pci != TOPO_NONE ? v->item_of[pci] : displaced ? 0 : TOPO_NONE;

	for (uint32_t i = 0; i < v->n_items && h->pci == TOPO_NONE && h->cpu != TOPO_NONE; i++) {
		if (v->item[i].cpu == h->cpu) {
			item = i;
			break;
		}
	}
	if (item == TOPO_NONE)
		return;
	if (!rate)
		rate = m->skeleton ? NCCL_MBPS_UNKNOWN : NET_MBPS_DEFAULT;
	v->net[v->n_nets] = (struct nccl_xml_net){
		.net = { .hca = hca,
			 .port = h->n_ports ? h->port[0].port : 0,
			 .displaced = displaced,
			 .direct = h->direct != TOPO_NONE },
		.item = item,
		.after = v->item[item].pci == TOPO_NONE ? element_before(v, item) : TOPO_NONE,
		.nth = h->dev >= 0 ? (uint32_t)h->dev : v->n_nets,
		.mbps = rate,
	};
	v->n_nets++;
}

/* Add a cpu element and the elements in it; returns the function after them. */
static uint32_t add_file_cpu(const struct topo_machine *m, uint32_t root, uint32_t next,
			     struct nccl_xml *v)
{
	uint32_t top = v->n_items, cpu = m->root[root].cpu;
	int numa = cpu == TOPO_NONE ? -1 : m->cpu[cpu].numa;

	v->item[v->n_items++] = (struct nccl_xml_node){ TOPO_NONE, TOPO_NONE, cpu, numa, 0, 0 };
	for (; next < m->n_pci && m->pci[next].root == root; next++) {
		uint32_t parent = m->pci[next].parent;
		v->item_of[next] = v->n_items;
		v->item[v->n_items++] = (struct nccl_xml_node){
			parent == TOPO_NONE ? top : v->item_of[parent], next, TOPO_NONE, -1, 0, 0
		};
	}
	return next;
}

void nccl_xml_from_file(const struct topo_machine *m, const struct topo_scope *scope,
			const struct nccl_opts *o, struct nccl_xml *v)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < m->n_roots; i++)
		next = add_file_cpu(m, i, next, v);
	for (uint32_t i = 0; i < m->n_hcas; i++) {
		if (!(scope && scope->hca && !scope->hca[i]))
			add_file_net(m, i, o, v);
	}
}

/* Sort the GPUs in document order; ranks of one device keep theirs. */
static void order_gpus(const struct topo_machine *m, struct nccl_xml *v)
{
	for (uint32_t i = 1; i < v->n_gpus; i++) {
		uint32_t g = v->gpu[i], at = v->item_of[m->gpu[g].pci], k = i;
		for (; k && v->item_of[m->gpu[v->gpu[k - 1]].pci] > at; k--)
			v->gpu[k] = v->gpu[k - 1];
		v->gpu[k] = g;
	}
}

static int xml_alloc(const struct topo_machine *m, struct nccl_xml *v, struct err *e)
{
	size_t nets = 1;

	for (size_t i = 0; i < m->n_hcas; i++)
		nets += 2 * (m->hca[i].n_ports ? m->hca[i].n_ports : 1);
	v->item = calloc(2 * m->n_pci + m->n_roots + 1, sizeof(*v->item));
	v->net = calloc(nets, sizeof(*v->net));
	v->gpu = calloc(m->n_gpus + 1, sizeof(*v->gpu));
	v->item_of = malloc((m->n_pci + 1) * sizeof(*v->item_of));
	if (!v->item || !v->net || !v->gpu || !v->item_of)
		return err_nomem(e);
	memset(v->item_of, 0xff, (m->n_pci + 1) * sizeof(*v->item_of));
	return 0;
}

static bool fuses(const struct topo_machine *m, const struct nccl_opts *o)
{
	return nccl_rule(o, NCCL_FUSES_NETS) && (o->rccl || m->source != TOPO_RCCL_XML);
}

/* The XML of a machine from sysfs, for one rank or for all. */
static int make_from_sys(const struct topo_machine *m, const struct topo_scope *scope,
			 const struct nccl_opts *o, struct nccl_xml *v, struct err *e)
{
	nccl_xml_add_nets(m, scope, o, v);
	if (nccl_xml_from_sys(m, o, v, e))
		return -1;
	return fuses(m, o) ? nccl_fuse_nets(m, o, v, e) : 0;
}

static int make_from_file(const struct topo_machine *m, const struct topo_scope *scope,
			  const struct nccl_opts *o, struct nccl_xml *v, struct err *e)
{
	nccl_xml_from_file(m, scope, o, v);
	if (o->hca_list)
		nccl_filter_nets(m, o->hca_list, v);
	/* in a skeleton, devices that NCCL does not find are at one place, not of one card */
	if (nccl_rule(o, NCCL_PAIRS_PORTS) && !o->no_merge_nics && !m->skeleton)
		nccl_pair_ports(m, v);
	return fuses(m, o) ? nccl_fuse_nets(m, o, v, e) : 0;
}

static void ranks_clear(struct nccl_xml *rank, uint32_t n)
{
	for (uint32_t i = 0; rank && i < n; i++)
		nccl_xml_clear(&rank[i]);
	free(rank);
}

/* Each GPU is a rank, and each rank makes an XML of its own. */
static int make_of_ranks(const struct topo_machine *m, const struct topo_scope *scope,
			 const struct nccl_opts *o, struct nccl_xml *v, struct err *e)
{
	struct nccl_xml *rank = calloc(v->n_gpus + 1, sizeof(*rank)), all = { 0 };
	int r = rank ? 0 : err_nomem(e);

	for (uint32_t i = 0; i < v->n_gpus && !r; i++) {
		r = xml_alloc(m, &rank[i], e);
		if (r)
			break;
		rank[i].gpu[rank[i].n_gpus++] = v->gpu[i];
		r = make_from_sys(m, scope, o, &rank[i], e);
	}
	if (!r)
		r = nccl_xml_fuse_ranks(m, rank, v->n_gpus, &all, e);
	ranks_clear(rank, v->n_gpus);
	if (r)
		return -1;
	all.gpu = TAKE_PTR(v->gpu);
	all.n_gpus = v->n_gpus;
	nccl_xml_clear(v);
	*v = all;
	return 0;
}

/* More GPUs or HCAs than that have one XML for all: this would cost much. */
#define RANKS_MAX 16

static int fill_xml(const struct topo_machine *m, const struct topo_scope *scope,
		    const struct nccl_opts *o, struct nccl_xml *v, struct err *e)
{
	if (!nccl_is_tree(m))
		return make_from_file(m, scope, o, v, e);
	if (v->n_gpus > 1 && v->n_gpus <= RANKS_MAX && m->n_hcas <= NCCL_NETS_MAX)
		return make_of_ranks(m, scope, o, v, e);
	return make_from_sys(m, scope, o, v, e);
}

int nccl_xml_make(const struct topo_machine *m, const struct topo_scope *scope,
		  const struct nccl_opts *o, struct nccl_xml *out, struct err *e)
{
	auto_nccl_xml struct nccl_xml v = { 0 };

	if (xml_alloc(m, &v, e))
		return -1;
	for (uint32_t i = 0; i < m->n_gpus; i++) {
		if (!m->gpu[i].on_package && !(scope && scope->gpu && !scope->gpu[i]))
			v.gpu[v.n_gpus++] = i;
	}
	if (fill_xml(m, scope, o, &v, e))
		return -1;
	if (o->rccl)
		rccl_drop_slow_ports(m, &v);
	order_gpus(m, &v);
	*out = v;
	v = (struct nccl_xml){ 0 };
	return 0;
}

void nccl_xml_clear(struct nccl_xml *v)
{
	free(v->item);
	free(v->net);
	free(v->gpu);
	free(v->item_of);
	*v = (struct nccl_xml){ 0 };
}

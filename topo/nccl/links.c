// SPDX-License-Identifier: Apache-2.0
/*
 * Changes of the PCI tree, and links beside it: ncclTopoFlattenBcmSwitches, ncclTopoAddNvLinks,
 * ncclTopoAddC2c, ncclTopoConnectCpus.
 */
#include <string.h>

#include "topo/core/pci_switch.h"
#include "topo/nccl/rccl.h"

/* Set in the id of a flattened switch, so that the id does not match again. */
#define ID_DONE UINT64_C(0xffff)

/* Move the nodes connected with `lower` to `upper`, behind the nodes that are there. `lower` can
 * also be the node above: then `upper` takes its place. */
static int move_children(struct nccl_system *g, uint32_t upper, uint32_t lower, struct err *e)
{
	struct nccl_node *from = &g->node[lower];
	bool above = g->node[upper].up == lower;

	for (uint32_t i = 0; i < from->core.n; i++) {
		struct nccl_topo_link to = from->core.link[i];
		if (to.to == upper)
			continue;
		struct nccl_links *below = &g->node[to.to].core;
		for (uint32_t k = 0; k < below->n; k++) {
			if (below->link[k].to == lower)
				below->link[k].to = upper;
		}
		if (g->node[to.to].up == lower)
			g->node[to.to].up = upper;
		/* links are sorted by bandwidth: one with 0 comes last, whatever it really has */
		float bw = to.bw;
		to.bw = 0;
		if (nccl_connect_nodes(&g->node[upper].core, to, e))
			return -1;
		g->node[upper].core.link[g->node[upper].core.n - 1].bw = bw;
	}
	if (above)
		g->node[upper].up = from->up;
	from->gone = true;
	from->up = upper;
	from->core.n = 0;
	return 0;
}

static int flatten_one(struct nccl_system *g, uint32_t upper, int gen, struct err *e)
{
	struct nccl_links *l = &g->node[upper].core;
	uint32_t n = l->n;

	/* n: nodes that are moved to `upper` are not examined again. NCCL does not ask whether a
	 * node is below or above: level 1 of a PEX890xx above level 0 of another is merged, too. */
	for (uint32_t i = 0; i < n;) {
		uint32_t lower = l->link[i].to;
		if (g->node[lower].kind != NCCL_NODE_PCI ||
		    topo_pex_generation(g->node[lower].id, true) != gen) {
			i++;
			continue;
		}
		memmove(&l->link[i], &l->link[i + 1], (l->n - i - 1) * sizeof(*l->link));
		l->n--;
		n--;
		if (move_children(g, upper, lower, e))
			return -1;
	}
	g->node[upper].id |= ID_DONE;
	return 0;
}

int nccl_flatten_bcm(const struct nccl_opts *o, struct nccl_system *g, struct err *e)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		int gen = topo_pex_generation(g->node[i].id, false);
		if (gen == 5 && !nccl_rule(o, NCCL_FLATTENS_PEX890))
			continue;
		if (g->node[i].kind == NCCL_NODE_PCI && !g->node[i].gone && gen &&
		    flatten_one(g, i, gen, e))
			return -1;
	}
	return 0;
}

/* ---- NVLink and C2C ---- */

/*
 * Modules that are sold on boards where NVLink connects all GPUs, by PCI device id (pci.ids, lspci
 * of public machines). NCCL asks NVML, because /sys does not show the links. The numbers of links
 * are those of a board with NVSwitches: each of them is faster than every NIC.
 */
static const struct nvlink_module {
	uint16_t device;
	int sm, links;
} modules[] = {
	{ 0x20b0, 80, 12 },  { 0x20b2, 80, 12 },  { 0x20b3, 80, 12 }, /* A100 SXM4 */
	{ 0x20f3, 80, 8 },   { 0x2324, 90, 8 },                       /* A800, H800 */
	{ 0x2330, 90, 18 },  { 0x2335, 90, 18 },  { 0x2329, 90, 18 }, /* H100, H200, H20 */
	{ 0x2342, 90, 6 },   { 0x2345, 90, 6 },   { 0x2348, 90, 6 },  /* GH200 */
	{ 0x2901, 100, 18 }, { 0x3182, 103, 18 },                     /* B200, B300 */
	{ 0x2941, 100, 18 }, { 0x31c2, 103, 18 },                     /* GB200, GB300 */
};

/* The module of a GPU whose links NCCL looks for: a file that has its sm has its links, too. */
static const struct nvlink_module *module_of(const struct topo_machine *m, uint32_t index,
					     const struct nccl_opts *o)
{
	const struct topo_gpu *gpu = &m->gpu[index];
	const struct topo_pci *p = &m->pci[gpu->pci];

	if (o->rccl || gpu->sm || m->source == TOPO_RCCL_XML || gpu->vendor != TOPO_NVIDIA)
		return NULL;
	for (size_t i = 0; p->has_ids && i < ARRAY_SIZE(modules); i++) {
		if (p->device == modules[i].device)
			return &modules[i];
	}
	return NULL;
}

/* ncclTopoNVLinkBw: GB/s of one NVLink by compute capability. In RCCL, sm is the number of compute
 * units; a file of RCCL asked by NCCL's rules gets the value of Hopper. */
static float nvlink_bw(const struct topo_machine *m, uint32_t index, const struct nccl_opts *o)
{
	const struct topo_gpu *gpu = &m->gpu[index];
	const struct nvlink_module *module = module_of(m, index, o);
	int sm = module ? module->sm : gpu->sm;
	static const struct {
		int sm;
		float bw;
	} known[] = { { 100, 40.1F }, { 90, 20.6F }, { 87, 20.0F }, { 86, 12.0F },
		      { 70, 20.0F },  { 60, 18.0F }, { 1, 20.0F } };

	if (o->rccl)
		return rccl_xgmi_bw(m, index, o);
	if (gpu->vendor == TOPO_AMD || m->source == TOPO_RCCL_XML)
		return 20.6F;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (sm >= known[i].sm && (known[i].sm < 100 || nccl_rule(o, NCCL_KNOWS_SM100)))
			return known[i].bw;
	}
	return 20.0F;
}

static uint32_t gpu_node(const struct topo_machine *m, const struct nccl_xml *v,
			 const struct nccl_system *g, struct pci_addr a)
{
	uint32_t gpu = topo_find_gpu(m, a);

	for (uint32_t i = 0; i < v->n_gpus; i++) {
		if (v->gpu[i] == gpu)
			return g->gpu[i];
	}
	return TOPO_NONE;
}

static uint32_t links_cpu_above(const struct nccl_system *g, uint32_t node)
{
	while (g->node[node].up != TOPO_NONE)
		node = g->node[node].up;
	return node;
}

/* The node that represents all NVSwitches; NCCL has one, added before NICs. */
static uint32_t get_nvswitch(struct nccl_system *g)
{
	uint32_t last = g->n_nodes - 1;

	if (g->node[last].kind == NCCL_NODE_NVS)
		return last;
	g->node[g->n_nodes] = (struct nccl_node){ .kind = NCCL_NODE_NVS, .up = TOPO_NONE };
	return g->n_nodes++;
}

#define CLASS_POWER_BRIDGE 0x068001

/* Only RCCL, which writes files of version 2, supports accelerators of class 0x1200. */
static bool leads_to_gpu(const struct topo_machine *m, const struct topo_nvlink *l, bool rccl)
{
	uint32_t base = l->tclass >> 16;

	return base == 0x03 || (base == 0x12 && (rccl || m->source == TOPO_RCCL_XML));
}

static int connect_both(struct nccl_system *g, uint32_t a, struct nccl_topo_link to, struct err *e)
{
	struct nccl_topo_link back = { a, to.type, to.bw };

	if (nccl_connect_nodes(&g->node[a].core, to, e))
		return -1;
	return nccl_connect_nodes(&g->node[to.to].core, back, e);
}

struct link_work {
	const struct topo_machine *m;
	const struct nccl_xml *v;
	const struct nccl_opts *o;
};

/* ncclTopoAddNvLinks */
static int add_nvlinks(const struct link_work *w, uint32_t gpu, struct nccl_system *g,
		       struct err *e)
{
	const struct topo_gpu *d = &w->m->gpu[w->v->gpu[gpu]];
	float bw = nvlink_bw(w->m, w->v->gpu[gpu], w->o);
	uint32_t me = g->gpu[gpu];

	const struct nvlink_module *module =
		d->n_nvlinks ? NULL : module_of(w->m, w->v->gpu[gpu], w->o);
	if (module) {
		struct nccl_topo_link to = { get_nvswitch(g), NCCL_NVL, (float)module->links * bw };
		return connect_both(g, me, to, e);
	}
	for (size_t i = 0; i < d->n_nvlinks; i++) {
		const struct topo_nvlink *l = &d->nvlink[i];
		struct nccl_topo_link to = { TOPO_NONE, NCCL_NVL, (float)l->count * bw };
		if (leads_to_gpu(w->m, l, w->o->rccl)) {
			to.to = l->hidden ? TOPO_NONE : gpu_node(w->m, w->v, g, l->target);
			if (to.to != TOPO_NONE && to.to != me &&
			    nccl_connect_nodes(&g->node[me].core, to, e))
				return -1;
			continue;
		}
		to.to = l->tclass == CLASS_POWER_BRIDGE ? links_cpu_above(g, me) : get_nvswitch(g);
		if (connect_both(g, me, to, e))
			return -1;
	}
	return 0;
}

/* ncclTopoAddC2c */
static int add_c2c(const struct link_work *w, uint32_t gpu, struct nccl_system *g, struct err *e)
{
	const struct topo_gpu *d = &w->m->gpu[w->v->gpu[gpu]];
	uint32_t me = g->gpu[gpu];
	struct nccl_topo_link to = { links_cpu_above(g, me),
				     nccl_rule(w->o, NCCL_HAS_C2C) ? NCCL_C2C : NCCL_NVL,
				     (float)((double)d->c2c_mbps * d->c2c_count / 1000.0) };

	return d->c2c_count && d->c2c_mbps ? connect_both(g, me, to, e) : 0;
}

/* ---- CPUs ---- */

/* ncclTopoGetInterCpuBw: GB/s between two CPUs, by the first. An unknown CPU has no limit. */
static float inter_cpu_bw(const struct nccl_opts *o, const struct topo_cpu *c)
{
	if (!strcmp(c->arch, "ppc64"))
		return 32.0F;
	if (!strcmp(c->arch, "arm64"))
		return 6.0F;
	if (!strcmp(c->vendor, "GenuineIntel")) {
		if (c->family != 6 || c->model < 0x55)
			return 6.0F;
		if (!nccl_rule(o, NCCL_KNOWS_XEON_4))
			return 10.0F;
		/* newer than Emerald Rapids, with lower numbers */
		if (o->rccl && c->model >= 0xad && c->model <= 0xaf &&
		    nccl_rule(o, RCCL_KNOWS_XEON_6))
			return 40.0F;
		return c->model >= 0xcf ? 40.0F : c->model >= 0x8f ? 22.0F : 10.0F;
	}
	if (!strcmp(c->vendor, "AuthenticAMD"))
		return 16.0F;
	if (!strcmp(c->vendor, "CentaurHauls") || !strcmp(c->vendor, "  Shanghai  "))
		return c->family == 7 && c->model == 0x5b ? 9.0F : 6.0F;
	return 5000.0F;
}

/* ncclTopoConnectCpus. NCCL examines the CPU that it runs on, so that a node without a record has
 * the same kind of CPU as the first node. */
static int connect_cpus(const struct link_work *w, struct nccl_system *g, struct err *e)
{
	static const struct topo_cpu unknown = { .family = -1, .model = -1 };
	const struct topo_cpu *first = w->m->n_cpus ? &w->m->cpu[0] : &unknown;

	for (uint32_t i = 0; i < g->n_cpus; i++) {
		uint32_t cpu = w->v->item[g->node[g->cpu[i]].index].cpu;
		float bw = inter_cpu_bw(w->o, cpu == TOPO_NONE ? first : &w->m->cpu[cpu]);
		for (uint32_t k = 0; k < g->n_cpus; k++) {
			struct nccl_topo_link to = { g->cpu[k], NCCL_SYS, bw };
			if (i != k && nccl_connect_nodes(&g->node[g->cpu[i]].core, to, e))
				return -1;
		}
	}
	return 0;
}

int nccl_add_links(const struct topo_machine *m, const struct nccl_xml *v,
		   const struct nccl_opts *o, struct nccl_system *g, struct err *e)
{
	struct link_work w = { m, v, o };

	for (uint32_t i = 0; i < v->n_gpus; i++) {
		/* several ranks on one device: its links are added once */
		bool first = !i || g->gpu[i] != g->gpu[i - 1];
		if (g->gpu[i] != TOPO_NONE && first &&
		    (add_nvlinks(&w, i, g, e) || add_c2c(&w, i, g, e)))
			return -1;
	}
	return connect_cpus(&w, g, e);
}

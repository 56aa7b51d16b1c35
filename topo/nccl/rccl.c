// SPDX-License-Identifier: Apache-2.0
/* The rules of RCCL that NCCL does not have. */
#include "topo/nccl/rccl.h"

#include <string.h>

#define GFX_MI450 0x1250

/* ---- architectures ---- */

/* The architecture of an AMD GPU, 0x942 of gfx942; 0: not known. */
static uint32_t rccl_gfx(const struct topo_machine *m, uint32_t gpu)
{
	/* pci.ids: MI200, MI300 and MI325X, MI350; and their VFs. No rule asks for older ones. */
	static const struct {
		uint16_t first, last;
		uint32_t gfx;
	} ids[] = { { 0x7408, 0x7410, 0x90a },
		    { 0x74a0, 0x74bf, 0x942 },
		    { 0x75a0, 0x75bf, 0x950 } };
	const struct topo_gpu *g = &m->gpu[gpu];
	const struct topo_pci *p = &m->pci[g->pci];

	for (size_t i = 0; i < ARRAY_SIZE(ids) && !g->gfx && p->has_ids; i++) {
		if (p->device >= ids[i].first && p->device <= ids[i].last)
			return ids[i].gfx;
	}
	return g->gfx;
}

float rccl_xgmi_bw(const struct topo_machine *m, uint32_t gpu, const struct nccl_opts *o)
{
	uint32_t gfx = rccl_gfx(m, gpu);

	if (gfx == 0x90a)
		return 36.0F;
	if (gfx == GFX_MI450 && nccl_rule(o, RCCL_KNOWS_GFX1250))
		return 64.0F;
	return gfx == 0x942 || (gfx >= 0x950 && gfx <= 0x95f) ? 48.0F : 24.0F;
}

/* ---- GPUDirect RDMA through a host bridge ---- */

#define ROME_FAMILY    143
#define ROME_MODEL     49
#define MILAN_FAMILY   175  /* Milan and Genoa: RCCL calls them Rome, too */
#define BUS_GROUP_MASK 0xf0 /* of a bus number: 16 buses are a group */

/* Since RCCL_READS_FAMILY, only a file that an older version wrote has such a family. */
static bool is_rome(const struct topo_machine *m, const struct nccl_opts *o)
{
	const struct topo_cpu *c = m->cpu;

	return m->n_cpus && !strcmp(c->vendor, "AuthenticAMD") &&
	       ((c->family == ROME_FAMILY && c->model >= ROME_MODEL) ||
		c->family == MILAN_FAMILY) &&
	       !(nccl_is_tree(m) && nccl_rule(o, RCCL_READS_FAMILY));
}

/* The CPU that is two hops away: directly from a NIC, and from a GPU through one bridge, or with
 * NCCL_HAS_DEV_NODES directly. */
static uint32_t cpu_at_two_hops(const struct nccl_paths *s, const struct nccl_path *row)
{
	for (uint32_t c = 0; c < s->n_cpus; c++) {
		if (row[c].hops == 2)
			return c;
	}
	return TOPO_NONE;
}

bool rccl_rome_pair(const struct nccl_paths *s, uint32_t gpu, uint32_t net)
{
	const struct nccl_xml_node *it = &s->v->item[s->v->net[net].item];

	if (!is_rome(s->m, s->o) || it->pci == TOPO_NONE)
		return false;
	struct pci_addr a = s->m->pci[s->m->gpu[s->v->gpu[gpu]].pci].addr;
	struct pci_addr b = s->m->pci[it->pci].addr;
	uint32_t cpu = cpu_at_two_hops(s, nccl_row(s->gpu_cpu, gpu, s->n_cpus));
	/* RCCL compares no domains */
	return (a.bus & BUS_GROUP_MASK) == (b.bus & BUS_GROUP_MASK) && cpu != TOPO_NONE &&
	       cpu == cpu_at_two_hops(s, nccl_row(s->net_cpu, net, s->n_cpus));
}

/* ---- guests of Hyper-V ---- */

static uint64_t bus_id(struct pci_addr a)
{
	return (uint64_t)a.domain << 20 | (uint64_t)a.bus << 12 | (uint64_t)a.dev << 4 | a.fn;
}

/* The bus ids of the GPU and the NIC differ by exactly `distance`. */
static bool is_pair(const struct nccl_paths *s, uint32_t gpu, uint32_t net, uint64_t distance)
{
	uint32_t at = s->v->item[s->v->net[net].item].pci;

	if (at == TOPO_NONE)
		return false;
	uint64_t a = bus_id(s->m->pci[s->m->gpu[s->v->gpu[gpu]].pci].addr);
	uint64_t b = bus_id(s->m->pci[at].addr);
	return a - b == distance || b - a == distance;
}

/* If every GPU has such a NIC, these pairs get the type PXB, as if a switch connected them. */
static bool pair_by_bus_id(struct nccl_paths *s, uint64_t distance)
{
	for (uint32_t g = 0; g < s->n_gpus; g++) {
		uint32_t n = 0;
		while (n < s->n_nets && !is_pair(s, g, n, distance))
			n++;
		if (n == s->n_nets)
			return false;
	}
	for (uint32_t g = 0; g < s->n_gpus; g++) {
		for (uint32_t n = 0; n < s->n_nets; n++) {
			struct nccl_path h = nccl_row(s->gpu_net, g, s->n_nets)[n];
			h.type = NCCL_PXB;
			if (is_pair(s, g, n, distance))
				nccl_update_path(s, g, n, h);
		}
	}
	return true;
}

/* RCCL knows Hyper-V by its firmware. Without it, a machine that is not known to be none counts as
 * a guest: a topology file does not say. */
static bool is_guest(const struct topo_machine *m)
{
	return m->hyperv == TOPO_YES || (m->hyperv == TOPO_UNKNOWN && m->vm != TOPO_NO);
}

void rccl_pair_guest_devices(struct nccl_paths *s)
{
	uint32_t gfx = s->n_gpus ? rccl_gfx(s->m, s->v->gpu[0]) : 0;

	if (!is_guest(s->m) || !s->m->n_cpus || strcmp(s->m->cpu[0].vendor, "GenuineIntel") != 0 ||
	    (gfx != 0x942 && gfx != 0x950))
		return;
	/* neighbouring domains, else neighbouring buses, else 255 domains apart */
	if (!pair_by_bus_id(s, 0x100000) && !pair_by_bus_id(s, 0x1000))
		(void)pair_by_bus_id(s, 0xff00000);
}

/* ---- MI450 ---- */

void rccl_join_domains(struct nccl_paths *s)
{
	if (!s->n_gpus || rccl_gfx(s->m, s->v->gpu[0]) != GFX_MI450 ||
	    !nccl_rule(s->o, RCCL_JOINS_DOMAINS))
		return;
	for (uint32_t g = 0; g < s->n_gpus; g++) {
		struct pci_addr gpu = s->m->pci[s->m->gpu[s->v->gpu[g]].pci].addr;
		for (uint32_t n = 0; n < s->n_nets; n++) {
			uint32_t at = s->v->item[s->v->net[n].item].pci;
			struct nccl_path h = nccl_row(s->gpu_net, g, s->n_nets)[n];
			struct nccl_path back = nccl_row(s->net_gpu, n, s->n_gpus)[g];
			if (at == TOPO_NONE || s->m->pci[at].addr.domain != gpu.domain)
				continue;
			h.type = h.type == NCCL_PHB ? NCCL_PXB : h.type;
			back.type = back.type == NCCL_PHB ? NCCL_PXB : back.type;
			nccl_update_back(s, n, g, back);
			nccl_update_path(s, g, n, h);
		}
	}
}

/* ---- ready-made graphs ---- */

/* parseChordalRing, parseA2a8P: 8 GPUs; parse1H16P, parse4H4P: 16; parseRome4P2H: up to 8 on AMD's
 * processors. Links and NUMA nodes are not compared with those of the models. */
bool rccl_may_have_model(const struct topo_machine *m, const struct nccl_xml *v,
			 const struct nccl_opts *o)
{
	return v->n_nets && (v->n_gpus == 8 || v->n_gpus == 16 || (v->n_gpus < 8 && is_rome(m, o)));
}

/* ---- ports of one card ---- */

/* A net that was lost is not in the system. */
static bool is_slower(const struct topo_machine *m, const struct nccl_xml_net *a,
		      const struct nccl_xml_net *b)
{
	uint64_t guid = m->hca[a->net.hca].guid;

	return !b->lost && guid && guid == m->hca[b->net.hca].guid && a->mbps < b->mbps;
}

void rccl_drop_slow_ports(const struct topo_machine *m, struct nccl_xml *v)
{
	uint32_t n = 0;

	/* A net that was dropped is slower than one that is kept or follows. */
	for (uint32_t i = 0; i < v->n_nets; i++) {
		struct nccl_xml_net net = v->net[i];
		bool slow = false;
		for (uint32_t k = 0; k < n && !slow; k++)
			slow = is_slower(m, &net, &v->net[k]);
		for (uint32_t k = i + 1; k < v->n_nets && !slow; k++)
			slow = is_slower(m, &net, &v->net[k]);
		if (!slow)
			v->net[n++] = net;
	}
	v->n_nets = n;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * GPUDirect RDMA in NCCL: when it is used (ncclTopoCheckGdr), and how that changes the paths from
 * which NCCL chooses nets (second half of ncclTopoComputePaths).
 */
#include "topo/nccl/rccl.h"

#define CAP_AMPERE 80

/*
 * ncclTopoCheckGdr, read: before Ampere, GDR reads need an NVLink peer or a GPU that is alone,
 * because other traffic uses PCIe too. A GPU without a known sm counts as new. RCCL has no such
 * condition; in its files, sm is the number of compute units.
 */
static bool may_read(const struct nccl_paths *s, uint32_t gpu)
{
	const struct topo_gpu *g = &s->m->gpu[s->v->gpu[gpu]];
	bool amd = s->o->rccl || g->vendor == TOPO_AMD || s->m->source == TOPO_RCCL_XML;

	if (s->o->no_read)
		return false;
	if (s->o->read || amd || !g->sm || g->sm >= CAP_AMPERE || s->n_gpus == 1)
		return true;
	for (uint32_t p = 0; p < s->n_gpus; p++) {
		if (p != gpu && nccl_row(s->gpu_gpu, gpu, s->n_gpus)[p].type == NCCL_NVL)
			return true;
	}
	return false;
}

bool nccl_check_gdr(const struct nccl_paths *s, uint32_t gpu, uint32_t net, bool read)
{
	/* ncclIbGetProperties: a fused device has the support of its first part */
	const struct topo_hca *h = &s->m->hca[s->v->net[net].net.hca];
	size_t cell = (size_t)gpu * s->n_nets + net;

	if (s->o->skip_gdr_rule)
		return true;
	if (h->gdr == TOPO_NO || s->m->gpu[s->v->gpu[gpu]].gdr == TOPO_NO)
		return false;
	if (read && !may_read(s, gpu))
		return false;
	enum nccl_path_type distance = s->gpu_net[cell].type, level;
	if (distance == NCCL_PXN)
		distance = nccl_row(s->gpu_net, s->via[cell], s->n_nets)[net].type;
	/* since 2.29 the default level alone lets it pass */
	if (distance == NCCL_P2C && !nccl_rule(s->o, NCCL_P2C_IS_LOCAL) && !s->o->no_c2c)
		distance = NCCL_C2C;
	if (s->o->gdr_level >= 0)
		level = (enum nccl_path_type)s->o->gdr_level;
	else if (s->o->rccl && rccl_rome_pair(s, gpu, net))
		level = NCCL_PHB;
	else
		level = nccl_rule(s->o, NCCL_HAS_P2C) && !s->o->no_c2c ? NCCL_P2C : NCCL_PXB;
	return distance <= level;
}

/* ---- C2C ---- */

/* mergePathType */
static enum nccl_path_type merge_path_type(enum nccl_path_type a, enum nccl_path_type b)
{
	enum nccl_path_type high = a > b ? a : b, low = a > b ? b : a;

	return high == NCCL_PHB && low == NCCL_C2C ? NCCL_P2C : high;
}

/* ncclTopoComputePaths, P2C: C2C to the GPU's CPU and PCIe from there to a net count as much as a
 * PCIe switch. Since 2.29, only a local net has such a path: PXN serves the others. */
static void set_p2c(struct nccl_paths *s, uint32_t gpu)
{
	uint32_t cpu = s->cpu_of[gpu];
	const struct nccl_local *l = nccl_get_local(s, gpu);
	bool all = !nccl_rule(s->o, NCCL_P2C_IS_LOCAL);

	if (cpu == TOPO_NONE || !nccl_rule(s->o, NCCL_HAS_P2C))
		return;
	for (uint32_t i = 0; i < (all ? s->n_nets : l->n); i++) {
		uint32_t n = all ? i : l->net[i];
		struct nccl_path h = nccl_row(s->gpu_net, gpu, s->n_nets)[n];
		struct nccl_path back = nccl_row(s->net_gpu, n, s->n_gpus)[gpu];
		if (merge_path_type(nccl_row(s->gpu_cpu, gpu, s->n_cpus)[cpu].type,
				    nccl_row(s->net_cpu, n, s->n_cpus)[cpu].type) != NCCL_P2C)
			continue;
		if (h.type > NCCL_P2C)
			h.type = NCCL_P2C;
		if (back.type > NCCL_P2C)
			back.type = NCCL_P2C;
		nccl_update_back(s, n, gpu, back);
		nccl_row(s->gpu_net, gpu, s->n_nets)[n] = h;
	}
	s->local[gpu].stale = true;
}

/* ---- PXN, and through the CPU ---- */

static struct nccl_path join_paths(struct nccl_path a, struct nccl_path b)
{
	return (struct nccl_path){ merge_path_type(a.type, b.type), a.bw < b.bw ? a.bw : b.bw,
				   a.hops + b.hops, TOPO_NONE };
}

/* ncclTopoComputePaths, PXN: through NVLink to the net's local GPU, if that has more bandwidth or
 * avoids the CPU. */
static void try_pxn(struct nccl_paths *s, uint32_t gpu, uint32_t net)
{
	uint32_t p = nccl_get_local_gpu(s, net);

	if (p == gpu || p == TOPO_NONE)
		return;
	struct nccl_path own = nccl_row(s->gpu_net, gpu, s->n_nets)[net];
	struct nccl_path peer = nccl_row(s->gpu_net, p, s->n_nets)[net];
	if (peer.type > (nccl_rule(s->o, NCCL_PXN_OVER_C2C) ? NCCL_P2C : NCCL_PXB) ||
	    (nccl_rule(s->o, NCCL_PXN_NEEDS_GDR) && !nccl_check_gdr(s, p, net, true)) ||
	    nccl_row(s->gpu_gpu, p, s->n_gpus)[gpu].type > NCCL_NVL ||
	    (peer.bw <= own.bw && own.type <= NCCL_PXN))
		return;
	struct nccl_path to = nccl_row(s->gpu_gpu, gpu, s->n_gpus)[p];
	struct nccl_path h = join_paths(to, peer);
	h.type = NCCL_PXN;
	/* ncclTopoGetIntermediateRank: the first GPU on the way, even if it is not the net's */
	s->via[(size_t)gpu * s->n_nets + net] = to.next == TOPO_NONE ? p : to.next;
	nccl_update_path(s, gpu, net, h);
}

/* addInterStep: the path goes through the CPU. */
static void add_inter_step(struct nccl_paths *s, uint32_t gpu, uint32_t net)
{
	uint32_t c = s->cpu_of[gpu];

	if (c == TOPO_NONE)
		return;
	nccl_update_back(s, net, gpu,
			 join_paths(nccl_row(s->net_cpu, net, s->n_cpus)[c],
				    nccl_row(s->cpu_gpu, c, s->n_gpus)[gpu]));
	s->via[(size_t)gpu * s->n_nets + net] = TOPO_NONE;
	nccl_update_path(s, gpu, net,
			 join_paths(nccl_row(s->gpu_cpu, gpu, s->n_cpus)[c],
				    nccl_row(s->cpu_net, c, s->n_nets)[net]));
}

void nccl_compute_paths(struct nccl_paths *s)
{
	if (s->o->rccl)
		rccl_join_domains(s);
	for (uint32_t g = 0; g < s->n_gpus; g++)
		set_p2c(s, g);
	if (s->o->rccl)
		rccl_pair_guest_devices(s);
	for (uint32_t n = 0; n < s->n_nets; n++) {
		for (uint32_t g = 0; g < s->n_gpus; g++) {
			if (s->o->pxn || (!s->o->no_pxn && !s->o->rccl))
				try_pxn(s, g, n);
			if (nccl_row(s->gpu_net, g, s->n_nets)[n].type < NCCL_PHB &&
			    !nccl_check_gdr(s, g, n, false))
				add_inter_step(s, g, n);
		}
	}
}

// SPDX-License-Identifier: Apache-2.0
/* Compares NCCL's choice with ours, GPU by GPU, and finds the cause of a difference. */
#include "topo/nccl/compare.h"

#include "topo/nccl/compare_priv.h"

const char *compare_verdict_name(enum compare_verdict v)
{
	static const char *const names[] = {
		[COMPARE_SAME] = "same",
		[COMPARE_PERMUTED] = "permuted",
		[COMPARE_FARTHER] = "away",
		[COMPARE_NONE] = "none",
	};

	return names[v];
}

const char *compare_cause_id(enum compare_cause c)
{
	static const char *const ids[] = {
		[COMPARE_NO_CAUSE] = "",         [COMPARE_FLAT_VM] = "flat-vm",
		[COMPARE_VF_PATH] = "vf-path",   [COMPARE_FASTER] = "faster",
		[COMPARE_ROLE] = "role",         [COMPARE_GDR_OFF] = "gdr-off",
		[COMPARE_LONE_GPU] = "lone-gpu", [COMPARE_TIE] = "tie",
		[COMPARE_LOST] = "lost",         [COMPARE_PXN] = "pxn",
		[COMPARE_OTHER] = "other",
	};

	return ids[c];
}

/* A part of a net is in the list. Another port of the card is enough for a fused net. */
static bool compare_is_listed(const struct compare_input *in, const uint32_t *list, size_t n,
			      const struct nccl_net *d, uint32_t part)
{
	uint32_t hca = nccl_net_part(d, part).hca;

	for (size_t i = 0; i < n; i++) {
		if (list[i] == hca ||
		    (d->fused && in->m->hca[list[i]].card == in->m->hca[hca].card))
			return true;
	}
	return false;
}

bool compare_list_agrees(const struct compare_input *in, const uint32_t *list, size_t n,
			 uint32_t net)
{
	const struct nccl_net *d = &in->nccl->net[net];

	for (uint32_t i = 0; i < nccl_net_parts(d); i++) {
		if (!compare_is_listed(in, list, n, d, i))
			return false;
	}
	return true;
}

static bool all_listed(const struct compare_input *in, const uint32_t *list, size_t n, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	for (size_t i = 0; i < g->n_channels; i++) {
		if (!compare_list_agrees(in, list, n, g->channel[i]))
			return false;
	}
	return true;
}

static enum compare_verdict verdict_of(const struct compare_input *in, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];
	const struct topo_gpu_choice *c = &in->choice->gpu[gpu];

	if (!g->in || !g->n_channels || !c->n_nearest)
		return COMPARE_NONE;
	if (!all_listed(in, c->nearest, c->n_nearest, gpu))
		return COMPARE_FARTHER;
	return all_listed(in, c->share, c->n_share, gpu) ? COMPARE_SAME : COMPARE_PERMUTED;
}

/* ---- causes ---- */

/* All functions are on root ports, each on one of its own, and in a machine that is not virtual no
 * NUMA node is known. */
static bool compare_is_flat(const struct compare_input *in)
{
	const struct topo_machine *m = in->m;
	size_t devices = 0;

	for (size_t i = 0; i < m->n_gpus + m->n_hcas; i++) {
		bool gpu = i < m->n_gpus;
		uint32_t pci = gpu ? m->gpu[i].pci : m->hca[i - m->n_gpus].pci;
		if (pci == TOPO_NONE)
			continue;
		const struct topo_pci *p = &m->pci[pci];
		bool deep = p->parent != TOPO_NONE && (m->pci[p->parent].parent != TOPO_NONE ||
						       m->pci[p->parent].kind != TOPO_ROOT_PORT);
		if (deep || (p->numa >= 0 && m->vm != TOPO_YES))
			return false;
		devices++;
	}
	return devices > 2 && !topo_any_is_near(m);
}

/* NCCL uses an HCA that is assigned to a GPU out of scope only. */
static bool takes_neighbours(const struct compare_input *in, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	for (uint32_t o = 0; in->node && in->scope && in->scope->gpu && o < in->node->n_gpus; o++) {
		const struct topo_gpu_choice *c = &in->node->gpu[o];
		for (size_t i = 0; i < g->n_channels && !in->scope->gpu[o]; i++) {
			if (compare_list_agrees(in, c->share, c->n_own, g->channel[i]))
				return true;
		}
	}
	return false;
}

/* A part of the net is for storage or management. */
static bool is_roleless(const struct compare_input *in, uint32_t net)
{
	const struct nccl_net *d = &in->nccl->net[net];

	for (uint32_t i = 0; i < nccl_net_parts(d); i++) {
		enum topo_role role = in->m->hca[nccl_net_part(d, i).hca].role;
		if (role == TOPO_STORAGE || role == TOPO_MANAGEMENT)
			return true;
	}
	return false;
}

/* The path with the most bandwidth to a nearest HCA; NULL: NCCL has none. */
static const struct nccl_net_path *best_near(const struct compare_input *in, uint32_t gpu)
{
	const struct topo_gpu_choice *c = &in->choice->gpu[gpu];
	const struct nccl_net_path *best = NULL;

	for (uint32_t n = 0; n < in->nccl->n_nets; n++) {
		const struct nccl_net_path *w = &in->nccl->gpu[gpu].path[n];
		if (compare_list_agrees(in, c->nearest, c->n_nearest, n) &&
		    (!best || w->bw > best->bw))
			best = w;
	}
	return best;
}

static enum compare_cause farther_cause(const struct compare_input *in, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];
	const struct topo_gpu_choice *c = &in->choice->gpu[gpu];

	for (size_t i = 0; i < g->n_channels; i++) {
		if (!compare_list_agrees(in, c->nearest, c->n_nearest, g->channel[i]) &&
		    is_roleless(in, g->channel[i]))
			return COMPARE_ROLE;
	}
	const struct nccl_net_path *near = best_near(in, gpu);
	if (near && g->bw > near->bw)
		return COMPARE_FASTER;
	return near && !(near->gdr_read && near->gdr_write) ? COMPARE_GDR_OFF : COMPARE_OTHER;
}

/* The GPU has HCAs, NCCL's plugin too, but no net of it has a path. */
static bool lost_all(const struct compare_input *in, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];
	uint32_t lost = 0;

	for (uint32_t n = 0; g->in && n < in->nccl->n_nets; n++)
		lost += g->path[n].type == NCCL_DIS && in->nccl->net[n].fused;
	return !in->m->gpu[gpu].on_package && lost && lost == in->nccl->n_nets &&
	       in->choice->gpu[gpu].n_nearest;
}

/* PXN instead of a way through the CPU. */
static bool goes_by_peer(const struct compare_input *in, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];
	struct topo_distance d;

	topo_distance_to_hca(in->m, gpu, in->choice->gpu[gpu].nearest[0], &d);
	return g->type == NCCL_PXN && g->gdr_write && d.class > TOPO_PXB;
}

static enum compare_cause compare_cause_of(const struct compare_input *in, uint32_t gpu,
					   enum compare_verdict v)
{
	if (v == COMPARE_NONE)
		return lost_all(in, gpu) ? COMPARE_LOST : COMPARE_NO_CAUSE;
	if (goes_by_peer(in, gpu))
		return COMPARE_PXN;
	if (v == COMPARE_FARTHER)
		return farther_cause(in, gpu);
	if (takes_neighbours(in, gpu))
		return COMPARE_LONE_GPU;
	if (v == COMPARE_PERMUTED)
		return COMPARE_TIE;
	return in->nccl->gpu[gpu].gdr ? COMPARE_NO_CAUSE : COMPARE_GDR_OFF;
}

/* ---- would NCCL_IB_MERGE_VFS=0 help ---- */

/* Set helped[] for the GPUs whose verdict would be better. */
static int try_own_paths(const struct compare_input *in, bool *helped, struct err *e)
{
	struct nccl_opts o = *in->opts;
	struct err why = { 0 };
	auto_nccl_prediction struct nccl_prediction other = { 0 };
	bool any_displaced = false;

	for (size_t i = 0; i < in->nccl->n_nets; i++) {
		const struct nccl_net *d = &in->nccl->net[i];
		for (uint32_t k = 0; k < nccl_net_parts(d); k++)
			any_displaced |= nccl_net_part(d, k).displaced;
	}
	if (o.keep_vf_path || !any_displaced)
		return 0;
	o.keep_vf_path = true;
	if (nccl_predict(in->m, in->scope, &o, &other, &why)) {
		if (why.code == ERR_FIELD) /* with this setting NCCL ends, so that it is no help */
			return 0;
		return err_pass(e, &why);
	}
	struct compare_input then = *in;
	then.nccl = &other;
	for (uint32_t i = 0; i < in->nccl->n_gpus; i++) {
		enum compare_verdict now = verdict_of(in, i), better = verdict_of(&then, i);
		helped[i] = better < now || (better == now && other.gpu[i].gdr &&
					     better != COMPARE_NONE && !in->nccl->gpu[i].gdr);
	}
	return 0;
}

int compare_with_nccl(const struct compare_input *in, struct comparison *out, struct err *e)
{
	size_t n = in->nccl->n_gpus;
	auto_comparison struct comparison d = { .gpu = calloc(n + 1, sizeof(*d.gpu)), .n_gpus = n };
	auto_free bool *helped = calloc(n + 1, sizeof(*helped));

	if (!d.gpu || !helped)
		return err_nomem(e);
	if (try_own_paths(in, helped, e))
		return -1;
	bool flat = compare_is_flat(in);
	for (uint32_t i = 0; i < n; i++) {
		d.gpu[i].verdict = verdict_of(in, i);
		d.gpu[i].cause = compare_cause_of(in, i, d.gpu[i].verdict);
		/* on a flat machine no path is nearer than that of the other device */
		if (flat && d.gpu[i].verdict != COMPARE_NONE)
			d.gpu[i].cause = COMPARE_FLAT_VM;
		else if (helped[i])
			d.gpu[i].cause = COMPARE_VF_PATH;
		if (compare_explain_gpu(in, i, &d.gpu[i], e))
			return -1;
	}
	if (compare_explain(in, &d, e))
		return -1;
	*out = d;
	d = (struct comparison){ 0 };
	return 0;
}

void comparison_clear(struct comparison *d)
{
	for (size_t i = 0; d->gpu && i < d->n_gpus; i++) {
		free(d->gpu[i].text);
		free(d->gpu[i].setting);
	}
	free(d->gpu);
	free(d->text);
	free(d->setting);
	*d = (struct comparison){ 0 };
}

// SPDX-License-Identifier: Apache-2.0
#include "topo/compare/compare.h"

#include "topo/compare/compare_priv.h"

const char *differ_verdict_name(enum differ_verdict v)
{
	static const char *const names[] = {
		[DIFFER_SAME] = "same",
		[DIFFER_PERMUTED] = "permuted",
		[DIFFER_AWAY] = "away",
		[DIFFER_NONE] = "none",
	};

	return names[v];
}

const char *differ_cause_id(enum differ_cause c)
{
	static const char *const ids[] = {
		[DIFFER_NO_CAUSE] = "",         [DIFFER_FLAT_VM] = "flat-vm",
		[DIFFER_VF_PATH] = "vf-path",   [DIFFER_FASTER] = "faster",
		[DIFFER_ROLE] = "role",         [DIFFER_GDR_OFF] = "gdr-off",
		[DIFFER_LONE_GPU] = "lone-gpu", [DIFFER_TIE] = "tie",
		[DIFFER_OTHER] = "other",
	};

	return ids[c];
}

bool differ_listed(const struct differ_in *in, const uint32_t *list, size_t n, uint32_t net)
{
	const struct nccl_net *d = &in->nccl->net[net];

	for (size_t i = 0; i < n; i++) {
		/* a device that NCCL fused of several VFs is all of them */
		if (list[i] == d->hca ||
		    (d->fused && in->m->hca[list[i]].card == in->m->hca[d->hca].card))
			return true;
	}
	return false;
}

static bool all_listed(const struct differ_in *in, const uint32_t *list, size_t n, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	for (size_t i = 0; i < g->n_channels; i++) {
		if (!differ_listed(in, list, n, g->channel[i]))
			return false;
	}
	return true;
}

static enum differ_verdict verdict_of(const struct differ_in *in, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];
	const struct aff_gpu_choice *c = &in->choice->gpu[gpu];

	if (!g->in || !g->n_channels || !c->n_nearest)
		return DIFFER_NONE;
	if (!all_listed(in, c->nearest, c->n_nearest, gpu))
		return DIFFER_AWAY;
	return all_listed(in, c->share, c->n_share, gpu) ? DIFFER_SAME : DIFFER_PERMUTED;
}

/* ---- causes ---- */

/* All functions on root ports, and nobody says on which node: nothing can be told of distance. */
static bool is_flat(const struct differ_in *in)
{
	const struct aff_machine *m = in->m;
	size_t devices = 0;

	for (size_t i = 0; i < m->n_gpus + m->n_hcas; i++) {
		bool gpu = i < m->n_gpus;
		uint32_t pci = gpu ? m->gpu[i].pci : m->hca[i - m->n_gpus].pci;
		if (pci == AFF_NONE)
			continue;
		const struct aff_pci *p = &m->pci[pci];
		bool deep = p->parent != AFF_NONE && (m->pci[p->parent].parent != AFF_NONE ||
						      m->pci[p->parent].kind != AFF_ROOT_PORT);
		if (deep || (p->numa >= 0 && m->vm != AFF_YES))
			return false;
		devices++;
	}
	return devices > 2;
}

/* A GPU out of scope should have, for itself alone, what this one takes. */
static bool takes_neighbours(const struct differ_in *in, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	for (uint32_t o = 0; in->node && in->scope && in->scope->gpu && o < in->node->n_gpus; o++) {
		const struct aff_gpu_choice *c = &in->node->gpu[o];
		for (size_t i = 0; i < g->n_channels && !in->scope->gpu[o]; i++) {
			if (differ_listed(in, c->share, c->n_own, g->channel[i]))
				return true;
		}
	}
	return false;
}

static bool is_roleless(const struct differ_in *in, uint32_t net)
{
	enum aff_role role = in->m->hca[in->nccl->net[net].hca].role;

	return role == AFF_STORAGE || role == AFF_MANAGEMENT;
}

/* The widest way to what is nearest; NULL: NCCL does not see that. */
static const struct nccl_way *best_near(const struct differ_in *in, uint32_t gpu)
{
	const struct aff_gpu_choice *c = &in->choice->gpu[gpu];
	const struct nccl_way *best = NULL;

	for (uint32_t n = 0; n < in->nccl->n_nets; n++) {
		const struct nccl_way *w = &in->nccl->gpu[gpu].way[n];
		if (differ_listed(in, c->nearest, c->n_nearest, n) && (!best || w->bw > best->bw))
			best = w;
	}
	return best;
}

static enum differ_cause away_cause(const struct differ_in *in, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];
	const struct aff_gpu_choice *c = &in->choice->gpu[gpu];

	for (size_t i = 0; i < g->n_channels; i++) {
		if (!differ_listed(in, c->nearest, c->n_nearest, g->channel[i]) &&
		    is_roleless(in, g->channel[i]))
			return DIFFER_ROLE;
	}
	const struct nccl_way *near = best_near(in, gpu);
	if (near && g->bw > near->bw)
		return DIFFER_FASTER;
	return near && !(near->gdr_read && near->gdr_write) ? DIFFER_GDR_OFF : DIFFER_OTHER;
}

static enum differ_cause cause_of(const struct differ_in *in, uint32_t gpu, enum differ_verdict v)
{
	if (v == DIFFER_NONE)
		return DIFFER_NO_CAUSE;
	if (v == DIFFER_AWAY)
		return away_cause(in, gpu);
	if (takes_neighbours(in, gpu))
		return DIFFER_LONE_GPU;
	if (v == DIFFER_PERMUTED)
		return DIFFER_TIE;
	return in->nccl->gpu[gpu].gdr ? DIFFER_NO_CAUSE : DIFFER_GDR_OFF;
}

/* ---- would NCCL_IB_MERGE_VFS=0 help ---- */

static bool any_displaced(const struct nccl_answer *a)
{
	for (size_t i = 0; i < a->n_nets; i++) {
		if (a->net[i].displaced)
			return true;
	}
	return false;
}

/* What the verdicts would be; helped has one bool for each GPU. */
static int try_own_paths(const struct differ_in *in, bool *helped, struct err *e)
{
	struct nccl_opts o = *in->opts;
	auto_nccl_answer struct nccl_answer other = { 0 };

	if (o.keep_vf_path || !any_displaced(in->nccl))
		return 0;
	o.keep_vf_path = true;
	if (nccl_predict(in->m, in->scope, &o, &other, e))
		return -1;
	struct differ_in then = *in;
	then.nccl = &other;
	for (uint32_t i = 0; i < in->nccl->n_gpus; i++) {
		enum differ_verdict now = verdict_of(in, i), better = verdict_of(&then, i);
		helped[i] = better < now || (better == now && other.gpu[i].gdr &&
					     better != DIFFER_NONE && !in->nccl->gpu[i].gdr);
	}
	return 0;
}

static void judge(const struct differ_in *in, uint32_t gpu, struct differ_gpu *out)
{
	out->verdict = verdict_of(in, gpu);
	out->cause = cause_of(in, gpu, out->verdict);
}

int differ_find(const struct differ_in *in, struct differ *out, struct err *e)
{
	size_t n = in->nccl->n_gpus;
	auto_differ struct differ d = { .gpu = calloc(n + 1, sizeof(*d.gpu)), .n_gpus = n };
	auto_free bool *helped = calloc(n + 1, sizeof(*helped));

	if (!d.gpu || !helped)
		return err_nomem(e);
	if (try_own_paths(in, helped, e))
		return -1;
	bool flat = is_flat(in);
	for (uint32_t i = 0; i < n; i++) {
		judge(in, i, &d.gpu[i]);
		if (helped[i])
			d.gpu[i].cause = DIFFER_VF_PATH;
		else if (flat && d.gpu[i].verdict != DIFFER_NONE)
			d.gpu[i].cause = DIFFER_FLAT_VM;
		if (differ_say(in, i, &d.gpu[i], e))
			return -1;
	}
	if (differ_say_all(in, &d, e))
		return -1;
	*out = d;
	d = (struct differ){ 0 };
	return 0;
}

void differ_clear(struct differ *d)
{
	for (size_t i = 0; d->gpu && i < d->n_gpus; i++) {
		free(d->gpu[i].text);
		free(d->gpu[i].setting);
	}
	free(d->gpu);
	free(d->text);
	free(d->setting);
	*d = (struct differ){ 0 };
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses the nearest HCAs of each GPU: collects the candidates, compares their distances, lets
 * topo_assign() distribute them, and numbers the rails. choose.h has the rules.
 */
#include "topo/core/choose.h"

#include <string.h>

#include "topo/core/choose_priv.h"

struct work {
	const struct topo_machine *m;
	const struct topo_scope *scope;
	struct topo_choice *c;
	uint32_t *cand; /* candidates by PCI address and name */
	uint32_t n_cand;
	struct topo_distance *distance; /* of one GPU, to each candidate */
	uint32_t *gpu;                  /* GPUs that have a nearest HCA, by PCI address */
	uint32_t n_gpus;
	uint32_t *group; /* GPUs with the same nearest HCAs, for one call of topo_assign() */
	uint32_t *load;  /* struct topo_assignment */
};

static void choose_work_clear(struct work *w)
{
	free(w->cand);
	free(w->distance);
	free(w->gpu);
	free(w->group);
	free(w->load);
}
#define auto_work auto_clean(choose_work_clear)

bool topo_usable(const struct topo_hca *h)
{
	if (!topo_is_network(h))
		return false;
	for (size_t i = 0; i < h->n_ports; i++) {
		if (h->port[i].active != TOPO_NO)
			return true;
	}
	return h->n_ports == 0;
}

static bool hca_in_scope(const struct work *w, uint32_t hca)
{
	return !w->scope || !w->scope->hca || w->scope->hca[hca];
}

/* ---- the order of addresses ---- */

static int by_hca(const void *x, const void *y, void *arg)
{
	const struct topo_machine *m = arg;
	const struct topo_hca *a = &m->hca[*(const uint32_t *)x],
			      *b = &m->hca[*(const uint32_t *)y];
	int c = cmp_u64(topo_pci_order(m, a->pci), topo_pci_order(m, b->pci));

	return c ? c : strverscmp(a->name, b->name);
}

/* ---- candidates ---- */

/* The RDMA device of an accelerator with ports on its package, such as hbl_0 of a Gaudi. */
static bool is_accelerator(const struct topo_machine *m, const struct topo_hca *h)
{
	for (size_t i = 0; i < m->n_gpus; i++)
		if (m->gpu[i].on_package && m->gpu[i].pci == h->pci)
			return true;
	return false;
}

/* all_roles: also cards for storage and management. */
static void gather_candidates(struct work *w, bool all_roles)
{
	for (uint32_t i = 0; i < w->m->n_hcas; i++) {
		const struct topo_hca *h = &w->m->hca[i];
		bool other = h->role == TOPO_STORAGE || h->role == TOPO_MANAGEMENT;
		if (hca_in_scope(w, i) && topo_usable(h) && (all_roles || !other) &&
		    !is_accelerator(w->m, h))
			w->cand[w->n_cand++] = i;
	}
}

/* Omit VFs and SFs whose PF is a candidate: they have the same distance, and hundreds of them would
 * hide it. */
static int drop_vfs(struct work *w, struct err *e)
{
	auto_free bool *is_pf = calloc(w->m->n_pci + 1, sizeof(*is_pf));
	uint32_t n = 0;

	if (!is_pf)
		return err_nomem(e);
	for (uint32_t i = 0; i < w->n_cand; i++) {
		const struct topo_hca *h = &w->m->hca[w->cand[i]];
		if (h->kind != TOPO_HCA_PF && h->kind != TOPO_HCA_BOND)
			continue;
		if (h->pci != TOPO_NONE)
			is_pf[h->pci] = true;
		if (h->second != TOPO_NONE)
			is_pf[h->second] = true;
	}
	for (uint32_t i = 0; i < w->n_cand; i++) {
		const struct topo_hca *h = &w->m->hca[w->cand[i]];
		uint32_t pf = TOPO_NONE;
		if (h->kind == TOPO_HCA_SF)
			pf = h->pci;
		else if (h->kind == TOPO_HCA_VF && h->pci != TOPO_NONE)
			pf = w->m->pci[h->pci].physfn;
		if (pf == TOPO_NONE || !is_pf[pf])
			w->cand[n++] = w->cand[i];
	}
	w->n_cand = n;
	return 0;
}

static int find_candidates(struct work *w, struct err *e)
{
	gather_candidates(w, false);
	if (!w->n_cand)
		gather_candidates(w, true);
	if (drop_vfs(w, e))
		return -1;
	qsort_r(w->cand, w->n_cand, sizeof(*w->cand), by_hca, (void *)w->m);
	return 0;
}

/* ---- nearest ---- */

static const char *why_no_candidate(const struct work *w)
{
	bool any = false, hardware = false;

	for (uint32_t i = 0; i < w->m->n_hcas; i++) {
		bool in = hca_in_scope(w, i);
		any = any || in;
		hardware = hardware || (in && w->m->hca[i].kind != TOPO_HCA_SOFTWARE);
	}
	if (!any)
		return "there is no RDMA device";
	return hardware ? "no RDMA device has an active port"
			: "there are only RDMA devices in software";
}

static const char *why_none(const struct work *w, uint32_t gpu)
{
	if (w->scope && w->scope->gpu && !w->scope->gpu[gpu])
		return "it is not one of the GPUs asked for";
	if (w->m->gpu[gpu].on_package)
		return "its RDMA ports are on its own package, and jobs use them before any HCA";
	return w->n_cand ? NULL : why_no_candidate(w);
}

static int find_nearest(struct work *w, uint32_t gpu, struct err *e)
{
	struct topo_gpu_choice *g = &w->c->gpu[gpu];
	const struct topo_distance *best = NULL;
	size_t n = 0;

	g->why_none = why_none(w, gpu);
	if (g->why_none)
		return 0;
	for (uint32_t i = 0; i < w->n_cand; i++) {
		struct topo_distance *d = &w->distance[i];
		topo_distance_to_hca(w->m, gpu, w->cand[i], d);
		if (d->class == TOPO_CLASS_UNKNOWN)
			continue;
		if (!best || topo_distance_cmp(d, best) < 0) {
			best = d;
			n = 0;
		}
		n += topo_distance_cmp(d, best) == 0;
	}
	if (!best) {
		g->why_none = "the place of the RDMA devices is not known";
		return 0;
	}
	g->nearest = calloc(n + 1, sizeof(*g->nearest));
	if (!g->nearest)
		return err_nomem(e);
	for (uint32_t i = 0; i < w->n_cand; i++) {
		if (topo_distance_cmp(&w->distance[i], best) == 0)
			g->nearest[g->n_nearest++] = w->cand[i];
	}
	w->gpu[w->n_gpus++] = gpu;
	return 0;
}

/* ---- assigning ---- */

static bool same_nearest(const struct topo_gpu_choice *a, const struct topo_gpu_choice *b)
{
	return a->n_nearest == b->n_nearest && a->nearest && b->nearest &&
	       !memcmp(a->nearest, b->nearest, a->n_nearest * sizeof(*a->nearest));
}

/*
 * The GPU without an assignment that has the fewest nearest HCAs: a GPU with eight nearest HCAs
 * then leaves those that are the only ones of another GPU.
 */
static uint32_t next_gpu(const struct work *w)
{
	uint32_t best = TOPO_NONE;

	for (uint32_t i = 0; i < w->n_gpus; i++) {
		const struct topo_gpu_choice *g = &w->c->gpu[w->gpu[i]];
		if (!g->share && (best == TOPO_NONE || g->n_nearest < w->c->gpu[best].n_nearest))
			best = w->gpu[i];
	}
	return best;
}

static int assign_all(struct work *w, struct err *e)
{
	const struct topo_assignment d = { w->m, w->c, w->load };
	uint32_t first;

	while ((first = next_gpu(w)) != TOPO_NONE) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < w->n_gpus; i++) {
			if (same_nearest(&w->c->gpu[w->gpu[i]], &w->c->gpu[first]))
				w->group[n++] = w->gpu[i];
		}
		if (topo_assign(&d, w->group, n, e))
			return -1;
	}
	return 0;
}

/* ---- rails ---- */

/* Number the cards in the order of their first HCA. c->rail is 0 for HCAs that are nearest to a GPU
 * until it gets its value. */
static void number_rails(struct work *w)
{
	uint32_t *number = w->load;

	for (uint32_t i = 0; i < w->m->n_hcas; i++)
		number[i] = TOPO_NONE;
	for (uint32_t i = 0; i < w->n_gpus; i++) {
		const struct topo_gpu_choice *g = &w->c->gpu[w->gpu[i]];
		for (size_t k = 0; k < g->n_nearest; k++)
			w->c->rail[g->nearest[k]] = 0;
	}
	for (uint32_t i = 0; i < w->n_cand; i++) {
		uint32_t card = w->m->hca[w->cand[i]].card;
		if ((!w->n_gpus || w->c->rail[w->cand[i]] == 0) && number[card] == TOPO_NONE)
			number[card] = w->c->n_rails++;
	}
	for (uint32_t i = 0; i < w->m->n_hcas; i++)
		w->c->rail[i] = hca_in_scope(w, i) && topo_usable(&w->m->hca[i])
					? number[w->m->hca[i].card]
					: TOPO_NONE;
}

/* ---- all of it ---- */

static int prepare_work(struct work *w, struct err *e)
{
	size_t gpus = w->m->n_gpus + 1, hcas = w->m->n_hcas + 1;

	w->cand = calloc(hcas, sizeof(*w->cand));
	w->distance = calloc(hcas, sizeof(*w->distance));
	w->load = calloc(hcas, sizeof(*w->load));
	w->gpu = calloc(gpus, sizeof(*w->gpu));
	w->group = calloc(gpus, sizeof(*w->group));
	w->c->gpu = calloc(gpus, sizeof(*w->c->gpu));
	w->c->rail = calloc(hcas, sizeof(*w->c->rail));
	if (!w->cand || !w->distance || !w->load || !w->gpu || !w->group || !w->c->gpu ||
	    !w->c->rail)
		return err_nomem(e);
	w->c->n_gpus = w->m->n_gpus;
	w->c->n_hcas = w->m->n_hcas;
	for (size_t i = 0; i < w->m->n_gpus; i++)
		w->c->gpu[i].assigned = TOPO_NONE;
	for (size_t i = 0; i < w->m->n_hcas; i++)
		w->c->rail[i] = TOPO_NONE;
	return 0;
}

/* For qsort_r() of indices of GPUs, by PCI address. */
static int by_gpu_address(const void *x, const void *y, void *m)
{
	const struct topo_gpu *gpu = ((const struct topo_machine *)m)->gpu;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return cmp_u64(topo_pci_order(m, gpu[a].pci), topo_pci_order(m, gpu[b].pci));
}

int topo_choose(const struct topo_machine *m, const struct topo_scope *scope,
		struct topo_choice *out, struct err *e)
{
	auto_topo_choice struct topo_choice c = { 0 };
	auto_work struct work w = { .m = m, .scope = scope, .c = &c };

	if (prepare_work(&w, e) || find_candidates(&w, e))
		return -1;
	for (uint32_t i = 0; i < m->n_gpus; i++) {
		if (find_nearest(&w, i, e))
			return -1;
	}
	qsort_r(w.gpu, w.n_gpus, sizeof(*w.gpu), by_gpu_address, (void *)m);
	if (assign_all(&w, e))
		return -1;
	number_rails(&w);
	*out = c;
	c = (struct topo_choice){ 0 };
	return 0;
}

void topo_choice_clear(struct topo_choice *c)
{
	for (size_t i = 0; i < c->n_gpus; i++) {
		free(c->gpu[i].nearest);
		free(c->gpu[i].share);
	}
	free(c->gpu);
	free(c->rail);
	*c = (struct topo_choice){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the checks: opens the tree, calls each check for the devices it is about, and sorts the
 * findings. */
#include "topo/gdr/gdr.h"

#include <fcntl.h>

#include "topo/gdr/priv.h"

void gdr_findings_clear(struct gdr_findings *f)
{
	findings_clear(&f->all);
	free(f->gpu);
	*f = (struct gdr_findings){ 0 };
}

enum finding_state gdr_worst(const struct gdr_findings *f, uint32_t gpu)
{
	enum finding_state worst = FINDING_OK;

	if (gpu != TOPO_NONE)
		return gpu < f->n_gpus ? f->gpu[gpu] : FINDING_UNKNOWN;
	for (size_t i = 0; i < f->n_gpus; i++)
		worst = finding_worse(worst, f->gpu[i]);
	return worst;
}

/* ---- findings ---- */

struct finding *gdr_add(struct gdr *r, const char *id, enum finding_state state, uint32_t gpu,
			uint32_t hca)
{
	struct finding *f = findings_add(&r->out.all, id, state);

	f->of[GDR_OF_GPU] = gpu;
	f->of[GDR_OF_HCA] = hca;
	/* "GPU 0", "mlx5_0", "GPU 0 mlx5_0" */
	const char *name = hca == TOPO_NONE ? "" : r->m->hca[hca].name;
	if (gpu != TOPO_NONE)
		finding_set_subject(f, "GPU %d%s%s", r->m->gpu[gpu].index, *name ? " " : "", name);
	else if (*name)
		finding_set_subject(f, "%s", name);
	return f;
}

void gdr_path(const struct gdr *r, struct finding *f, enum gdr_dir dir, const char *path)
{
	static const char *const names[] = { "/sys", "/proc", "/boot" };

	if (r->tree)
		finding_set_path(f, "%s/%s", names[dir], path);
}

/* ---- the devices of a finding ---- */

uint32_t gdr_owner(const struct topo_machine *m, uint32_t hca)
{
	uint32_t pci = m->hca[hca].pci;

	return pci != TOPO_NONE && m->pci[pci].is_vf ? m->pci[pci].physfn : pci;
}

bool gdr_has_gpu(const struct gdr *r, size_t gpu)
{
	return !r->scope || !r->scope->gpu || r->scope->gpu[gpu];
}

bool gdr_has_hca(const struct gdr *r, size_t hca)
{
	return !r->scope || !r->scope->hca || r->scope->hca[hca];
}

static bool is_near(const struct gdr *r, uint32_t gpu, uint32_t hca)
{
	return r->near[gpu * r->m->n_hcas + hca];
}

bool gdr_is_near_any(const struct gdr *r, uint32_t hca)
{
	for (uint32_t g = 0; g < r->m->n_gpus; g++)
		if (is_near(r, g, hca))
			return true;
	return false;
}

bool gdr_once(struct gdr *r, uint32_t pci)
{
	bool first = !r->checked[pci];

	r->checked[pci] = true;
	return first;
}

/* A finding about a PF concerns the GPUs of all its VFs. */
static bool concerns_gpu(const struct gdr *r, const struct finding *f, uint32_t gpu)
{
	uint32_t hca = f->of[GDR_OF_HCA], owner;

	if (f->of[GDR_OF_GPU] != TOPO_NONE)
		return f->of[GDR_OF_GPU] == gpu;
	if (hca == TOPO_NONE || is_near(r, gpu, hca))
		return true;
	owner = gdr_owner(r->m, hca);
	return owner != TOPO_NONE && r->near_card[gpu * r->m->n_pci + owner];
}

static bool *alloc_flags(size_t n, size_t m)
{
	return calloc(n * m + 1, sizeof(bool));
}

/* Fill `near` and `near_card`. */
static int prepare_subjects(struct gdr *r)
{
	const struct topo_machine *m = r->m;

	r->near = alloc_flags(m->n_gpus, m->n_hcas);
	r->near_card = alloc_flags(m->n_gpus, m->n_pci);
	r->checked = alloc_flags(m->n_pci, 1);
	if (!r->near || !r->near_card || !r->checked)
		return -1;
	for (size_t g = 0; g < m->n_gpus; g++)
		for (size_t i = 0; i < r->c->gpu[g].n_nearest; i++) {
			uint32_t hca = r->c->gpu[g].nearest[i], owner = gdr_owner(m, hca);

			r->near[g * m->n_hcas + hca] = true;
			if (owner != TOPO_NONE)
				r->near_card[g * m->n_pci + owner] = true;
		}
	return 0;
}

/* ---- without a tree ---- */

/* One finding for all of them: they have one reason and one remedy. */
static void gdr_add_unknown(struct gdr *r)
{
	struct finding *f = gdr_add(r, "file", FINDING_UNKNOWN, TOPO_NONE, TOPO_NONE);

	finding_set_value(f, "not known: peermem, dmabuf, acs, iommu, bar1, payload, port, "
			     "read-request, relaxed-ordering, vm");
	finding_set_reason(f, "a topology file does not have this information");
	finding_set_remedy(f, "run railctl topo check on the machine itself, as root; or "
			      "give it a capture with --sysfs");
}

/* ---- all of it ---- */

static void gdr_free(struct gdr *r)
{
	for (size_t i = 0; i < GDR_DIRS; i++)
		base_close_fd(&r->dir[i]);
	gdr_findings_clear(&r->out);
	free(r->near);
	free(r->near_card);
	free(r->checked);
}

static void run_checks(struct gdr *r)
{
	if (r->tree && r->m->n_gpus) {
		gdr_host(r);
		gdr_driver(r);
	} else if (r->m->n_gpus) {
		gdr_add_unknown(r);
	}
	for (uint32_t g = 0; g < r->m->n_gpus && !r->failed; g++) {
		if (!gdr_has_gpu(r, g))
			continue;
		gdr_gpu(r, g);
		gdr_ports(r, g);
		for (size_t i = 0; i < r->c->gpu[g].n_nearest; i++)
			gdr_pair(r, g, r->c->gpu[g].nearest[i]);
	}
	for (uint32_t h = 0; h < r->m->n_hcas && !r->failed; h++)
		if (gdr_is_near_any(r, h))
			gdr_hca(r, h);
}

/* The worst state for each GPU. */
static int judge_gpus(struct gdr *r)
{
	struct gdr_findings *o = &r->out;

	if (!r->m->n_gpus)
		return 0;
	o->gpu = calloc(r->m->n_gpus, sizeof(*o->gpu));
	if (!o->gpu)
		return -1;
	o->n_gpus = r->m->n_gpus;
	for (uint32_t g = 0; g < o->n_gpus; g++)
		for (size_t i = 0; i < o->all.n; i++)
			if (concerns_gpu(r, &o->all.item[i], g))
				o->gpu[g] = finding_worse(o->gpu[g], o->all.item[i].state);
	return 0;
}

static void open_tree(struct gdr *r, const struct topo_tree_dirs *d)
{
	const char *const paths[] = { d ? d->sysfs : NULL, d ? d->proc : NULL, d ? d->boot : NULL };

	r->tree = d && (r->m->source == TOPO_LIVE || r->m->source == TOPO_CAPTURE);
	for (size_t i = 0; r->tree && i < GDR_DIRS; i++)
		if (paths[i])
			r->dir[i] = open(paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int gdr_check(const struct topo_machine *m, const struct topo_choice *c,
	      const struct topo_tree_dirs *d, struct gdr_findings *out, struct err *e)
{
	auto_clean(gdr_free) struct gdr r = {
		.m = m,
		.c = c,
		.dir = { -1, -1, -1 },
		.scope = d ? d->scope : NULL,
		.others_seen = d && d->others_seen,
		.nccl = d ? d->nccl : NULL,
	};

	open_tree(&r, d);
	if (prepare_subjects(&r))
		return err_nomem(e);
	run_checks(&r);
	if (r.failed)
		return err_nomem(e);
	if (findings_check(&r.out.all, e) || findings_sort(&r.out.all, e))
		return -1;
	if (judge_gpus(&r))
		return err_nomem(e);
	*out = r.out;
	r.out = (struct gdr_findings){ 0 };
	return 0;
}

int gdr_check_rail(const struct topo_machine *m, const struct topo_tree_dirs *d,
		   struct gdr_rail which, struct findings *out, struct err *e)
{
	auto_clean(gdr_free) struct gdr r = { .m = m, .dir = { -1, -1, -1 } };
	const struct topo_hca *h = &m->hca[which.hca];

	open_tree(&r, d);
	gdr_port(&r, which);
	gdr_link_state(&r, h->pci, TOPO_NONE, which.hca);
	if (h->second != TOPO_NONE)
		gdr_link_state(&r, h->second, TOPO_NONE, which.hca);
	if (findings_check(&r.out.all, e))
		return -1;
	*out = r.out.all;
	r.out.all = (struct findings){ 0 };
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ready.c: the frame of the checks: what is asked of whom, and in which order it is said. */
#include "topo/gdr/ready.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "topo/gdr/ready_priv.h"

const char *aff_state_name(enum aff_state s)
{
	static const char *const names[] = { "ok", "warn", "fail", "unknown" };

	return names[s];
}

int aff_state_weight(enum aff_state s)
{
	static const int weights[] = {
		[AFF_STATE_OK] = 0,
		[AFF_STATE_UNKNOWN] = 1,
		[AFF_STATE_WARN] = 2,
		[AFF_STATE_FAIL] = 3,
	};

	return weights[s];
}

static void finding_clear(struct aff_finding *f)
{
	free(f->path);
	free(f->value);
	free(f->consequence);
	free(f->remedy);
	*f = (struct aff_finding){ 0 };
}

void aff_findings_clear(struct aff_findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		finding_clear(&f->finding[i]);
	free(f->finding);
	free(f->gpu);
	*f = (struct aff_findings){ 0 };
}

enum aff_state aff_worst(const struct aff_findings *f, uint32_t gpu)
{
	enum aff_state worst = AFF_STATE_OK;

	if (gpu != AFF_NONE)
		return gpu < f->n_gpus ? f->gpu[gpu] : AFF_STATE_UNKNOWN;
	for (size_t i = 0; i < f->n_gpus; i++)
		if (aff_state_weight(f->gpu[i]) > aff_state_weight(worst))
			worst = f->gpu[i];
	return worst;
}

/* ---- saying ---- */

struct aff_finding *ready_add(struct ready *r, const char *id, enum aff_state state, uint32_t gpu,
			      uint32_t hca)
{
	struct aff_findings *o = &r->out;
	/* Room for the next power of two: it grows when n is one. */
	struct aff_finding *more = o->finding;

	if (!(o->n & (o->n - 1)))
		more = reallocarray(o->finding, o->n ? 2 * o->n : 1, sizeof(*more));
	if (!more) {
		r->failed = true;
		finding_clear(&r->spare);
		return &r->spare;
	}
	o->finding = more;
	more[o->n] = (struct aff_finding){ .id = id, .state = state, .gpu = gpu, .hca = hca };
	return &more[o->n++];
}

static void set_text(struct ready *r, char **to, const char *text)
{
	free(*to);
	*to = strdup(text);
	if (!*to)
		r->failed = true;
}

#define SENTENCE_LEN 768

/* Once memory has ended nothing is kept any more. */
static void printf_like(3, 0) format_text(struct ready *r, char **to, const char *fmt, va_list ap)
{
	char text[SENTENCE_LEN];

	if (r->failed)
		return;
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	set_text(r, to, text);
}

void ready_path(struct ready *r, struct aff_finding *f, enum ready_dir dir, const char *path)
{
	static const char *const names[] = { "/sys", "/proc", "/boot" };
	char text[SENTENCE_LEN];

	if (r->failed || !r->tree)
		return;
	(void)snprintf(text, sizeof(text), "%s/%s", names[dir], path);
	set_text(r, &f->path, text);
}

void ready_value(struct ready *r, struct aff_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format_text(r, &f->value, fmt, ap);
	va_end(ap);
}

void ready_so(struct ready *r, struct aff_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format_text(r, &f->consequence, fmt, ap);
	va_end(ap);
}

void ready_do(struct ready *r, struct aff_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format_text(r, &f->remedy, fmt, ap);
	va_end(ap);
}

/* ---- whom it is about ---- */

uint32_t ready_owner(const struct aff_machine *m, uint32_t hca)
{
	uint32_t pci = m->hca[hca].pci;

	return pci != AFF_NONE && m->pci[pci].is_vf ? m->pci[pci].physfn : pci;
}

bool ready_has_gpu(const struct ready *r, size_t gpu)
{
	return !r->scope || !r->scope->gpu || r->scope->gpu[gpu];
}

bool ready_has_hca(const struct ready *r, size_t hca)
{
	return !r->scope || !r->scope->hca || r->scope->hca[hca];
}

static bool is_near(const struct ready *r, uint32_t gpu, uint32_t hca)
{
	return r->near[gpu * r->m->n_hcas + hca];
}

bool ready_is_near_any(const struct ready *r, uint32_t hca)
{
	for (uint32_t g = 0; g < r->m->n_gpus; g++)
		if (is_near(r, g, hca))
			return true;
	return false;
}

bool ready_once(struct ready *r, uint32_t pci)
{
	bool first = !r->said[pci];

	r->said[pci] = true;
	return first;
}

/* VFs of one PF share what is said of it once. */
static bool concerns_gpu(const struct ready *r, const struct aff_finding *f, uint32_t gpu)
{
	uint32_t owner;

	if (f->gpu != AFF_NONE)
		return f->gpu == gpu;
	if (f->hca == AFF_NONE || is_near(r, gpu, f->hca))
		return true;
	owner = ready_owner(r->m, f->hca);
	return owner != AFF_NONE && r->near_card[gpu * r->m->n_pci + owner];
}

static bool *alloc_flags(size_t n, size_t m)
{
	return calloc(n * m + 1, sizeof(bool));
}

/* Whom each check is about, looked up once. */
static int prepare_subjects(struct ready *r)
{
	const struct aff_machine *m = r->m;

	r->near = alloc_flags(m->n_gpus, m->n_hcas);
	r->near_card = alloc_flags(m->n_gpus, m->n_pci);
	r->said = alloc_flags(m->n_pci, 1);
	if (!r->near || !r->near_card || !r->said)
		return -1;
	for (size_t g = 0; g < m->n_gpus; g++)
		for (size_t i = 0; i < r->c->gpu[g].n_nearest; i++) {
			uint32_t hca = r->c->gpu[g].nearest[i], owner = ready_owner(m, hca);

			r->near[g * m->n_hcas + hca] = true;
			if (owner != AFF_NONE)
				r->near_card[g * m->n_pci + owner] = true;
		}
	return 0;
}

/* ---- without a tree ---- */

static void say_no_tree(struct ready *r)
{
	static const char *const ids[] = { "peermem", "dmabuf",       "acs",
					   "iommu",   "bar1",         "payload",
					   "port",    "read-request", "relaxed-ordering",
					   "vm" };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct aff_finding *f = ready_add(r, ids[i], AFF_STATE_UNKNOWN, AFF_NONE, AFF_NONE);

		ready_so(r, f, "a topology file does not tell it");
		ready_do(r, f,
			 "railctl topo check on the machine itself, as root, or with "
			 "--sysfs and a capture of it");
	}
}

/* ---- all of it ---- */

static void open_dirs(struct ready *r, const struct aff_tree_dirs *d)
{
	const char *const paths[] = { d->sysfs, d->proc, d->boot };

	for (size_t i = 0; i < READY_DIRS; i++)
		if (paths[i])
			r->dir[i] = open(paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void ready_free(struct ready *r)
{
	for (size_t i = 0; i < READY_DIRS; i++)
		base_close_fd(&r->dir[i]);
	aff_findings_clear(&r->out);
	finding_clear(&r->spare);
	free(r->near);
	free(r->near_card);
	free(r->said);
}

static void read_system(struct ready *r)
{
	if (r->tree && r->m->n_gpus) {
		ready_host(r);
		ready_driver(r);
	} else if (r->m->n_gpus) {
		say_no_tree(r);
	}
	for (uint32_t g = 0; g < r->m->n_gpus && !r->failed; g++) {
		if (!ready_has_gpu(r, g))
			continue;
		ready_gpu(r, g);
		ready_ports(r, g);
		for (size_t i = 0; i < r->c->gpu[g].n_nearest; i++)
			ready_pair(r, g, r->c->gpu[g].nearest[i]);
	}
	for (uint32_t h = 0; h < r->m->n_hcas && !r->failed; h++)
		if (ready_is_near_any(r, h))
			ready_hca(r, h);
}

/* Stable: what is equally bad stays in the order in which it was looked at. */
static int sort_findings(struct ready *r)
{
	static const enum aff_state order[] = { AFF_STATE_FAIL, AFF_STATE_WARN, AFF_STATE_UNKNOWN,
						AFF_STATE_OK };
	struct aff_findings *o = &r->out;
	struct aff_finding *sorted = o->n ? reallocarray(NULL, o->n, sizeof(*sorted)) : NULL;
	size_t n = 0;

	if (o->n && !sorted)
		return -1;
	for (size_t s = 0; s < ARRAY_SIZE(order); s++)
		for (size_t i = 0; i < o->n; i++)
			if (o->finding[i].state == order[s])
				sorted[n++] = o->finding[i];
	free(o->finding);
	o->finding = sorted;
	return 0;
}

static int run_checks(struct ready *r)
{
	struct aff_findings *o = &r->out;

	if (!r->m->n_gpus)
		return 0;
	o->gpu = calloc(r->m->n_gpus, sizeof(*o->gpu));
	if (!o->gpu)
		return -1;
	o->n_gpus = r->m->n_gpus;
	for (uint32_t g = 0; g < o->n_gpus; g++)
		for (size_t i = 0; i < o->n; i++)
			if (concerns_gpu(r, &o->finding[i], g) &&
			    aff_state_weight(o->finding[i].state) > aff_state_weight(o->gpu[g]))
				o->gpu[g] = o->finding[i].state;
	return 0;
}

int aff_ready(const struct aff_machine *m, const struct aff_choice *c,
	      const struct aff_tree_dirs *d, struct aff_findings *out, struct err *e)
{
	auto_clean(ready_free) struct ready r = {
		.m = m,
		.c = c,
		.tree = d && (m->source == AFF_LIVE || m->source == AFF_CAPTURE),
		.dir = { -1, -1, -1 },
		.scope = d ? d->scope : NULL,
		.others_seen = d && d->others_seen,
	};

	if (r.tree)
		open_dirs(&r, d);
	if (prepare_subjects(&r))
		return err_nomem(e);
	read_system(&r);
	if (r.failed || sort_findings(&r) || run_checks(&r))
		return err_nomem(e);
	*out = r.out;
	r.out = (struct aff_findings){ 0 };
	return 0;
}

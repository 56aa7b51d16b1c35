// SPDX-License-Identifier: Apache-2.0
/*
 * near.c: orders the PFs of a resource by their distance to the pod's GPUs, and claims a free VF of
 * the first one that has any.
 */
#include "sriov/choose/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sriov/choose/near_holders.h"
#include "topo/read/read.h"

/* One PF, with the GPU that it suits best. */
struct candidate {
	const char *name; /* as the resource has it */
	char addr[PCI_STR_LEN];
	uint32_t pci;
	bool held;         /* the container has a VF of it */
	bool card_held;    /* the container has a VF of a function of its card */
	size_t gpu;        /* index of the GPU */
	size_t nth;        /* its place in the resource */
	uint32_t assigned; /* VFs that the container has for that GPU */
	struct topo_distance distance;
};

struct survey {
	const struct claimant *who;
	const struct near_gpus *gpus;
	struct topo_machine m;
	uint32_t gpu[NEAR_GPUS_MAX];      /* functions of m */
	uint32_t assigned[NEAR_GPUS_MAX]; /* VFs that the container has for each GPU */
	struct candidate *pf;
	size_t n;
};

static void near_survey_clear(struct survey *s)
{
	topo_machine_clear(&s->m);
	free(s->pf);
}
#define auto_survey auto_clean(near_survey_clear)

/* ---- the devices ---- */

static uint32_t function_of(const struct survey *s, const char *addr)
{
	struct pci_addr a;

	return pci_parse(addr, &a) ? TOPO_NONE : topo_find_pci(&s->m, a);
}

static int find_pfs(struct survey *s, struct pf_list pfs, struct err *e)
{
	s->pf = calloc(pfs.n + 1, sizeof(*s->pf));
	if (!s->pf)
		return err_nomem(e);
	for (size_t i = 0; i < pfs.n; i++) {
		struct candidate *o = &s->pf[s->n++];
		o->name = pfs.name[i];
		o->nth = i;
		if (claim_find_pf(s->who->ctx, o->name, o->addr, e))
			return -1;
	}
	return 0;
}

static int read_paths(struct survey *s, struct err *e)
{
	size_t n = 0;
	auto_free const char **bdf = calloc(s->gpus->n + s->n + 1, sizeof(*bdf));

	if (!bdf)
		return err_nomem(e);
	for (size_t i = 0; i < s->gpus->n; i++)
		bdf[n++] = s->gpus->gpu[i];
	for (size_t i = 0; i < s->n; i++)
		bdf[n++] = s->pf[i].addr;
	return topo_read_functions(s->who->ctx->sysfs, bdf, n, &s->m, e);
}

static int near_find_functions(struct survey *s, struct err *e)
{
	for (size_t i = 0; i < s->gpus->n; i++) {
		s->gpu[i] = function_of(s, s->gpus->gpu[i]);
		if (s->gpu[i] != TOPO_NONE)
			continue;
		err_set(e, ERR_CONFIG, 0, "%s: \"%s\": this machine has no such PCI device",
			s->gpus->source, s->gpus->gpu[i]);
		return err_hint(e, "railctl topo shows the addresses of the GPUs");
	}
	for (size_t i = 0; i < s->n; i++) {
		s->pf[i].pci = function_of(s, s->pf[i].addr);
		if (s->pf[i].pci == TOPO_NONE)
			return err_set(e, ERR_CONFIG, 0,
				       "resource.pf: \"%s\": there is no such PCI device",
				       s->pf[i].name);
	}
	return 0;
}

/* ---- the order ---- */

/* A GPU that has fewer VFs comes first, then the shorter distance. */
static int near_compare_candidates(const struct candidate *a, const struct candidate *b)
{
	int c = cmp_u64(a->assigned, b->assigned);

	return c ? c : topo_distance_cmp(&a->distance, &b->distance);
}

static void near_find_gpu(const struct survey *s, struct candidate *o)
{
	for (size_t i = 0; i < s->gpus->n; i++) {
		struct candidate x = *o;
		x.gpu = i;
		x.assigned = s->assigned[i];
		topo_distance(&s->m, s->gpu[i], o->pci, &x.distance);
		if (i == 0 || near_compare_candidates(&x, o) < 0)
			*o = x;
	}
}

/* True if two PCI addresses differ only in the function number. */
static bool is_same_card(const char *a, const char *b)
{
	const char *dot = strrchr(a, '.');

	return dot && !strncmp(a, b, (size_t)(dot - a) + 1);
}

/* A VF that the container has already counts for the GPU that its PF suits best. */
static void near_count_held(struct survey *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct candidate *o = &s->pf[i];
		o->held = claim_has_vf_of(s->who, o->addr);
		if (!o->held)
			continue;
		near_find_gpu(s, o);
		s->assigned[o->gpu]++;
		for (size_t k = 0; k < s->n; k++)
			s->pf[k].card_held |= is_same_card(o->addr, s->pf[k].addr);
	}
}

static int by_preference(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	int c = near_compare_candidates(a, b);

	c = c ? c : cmp_u64(a->card_held, b->card_held);
	return c ? c : cmp_u64(a->nth, b->nth);
}

static int make_survey(struct survey *s, struct pf_list pfs, struct err *e)
{
	if (find_pfs(s, pfs, e) || read_paths(s, e) || near_find_functions(s, e))
		return -1;
	near_count_held(s);
	for (size_t i = 0; i < s->n; i++)
		near_find_gpu(s, &s->pf[i]);
	qsort(s->pf, s->n, sizeof(*s->pf), by_preference);
	return 0;
}

/* ---- the claim ---- */

/* True if some PF is nearer to the GPU of this one. */
static bool is_farther(const struct survey *s, const struct candidate *o)
{
	struct topo_distance other;

	for (size_t i = 0; i < s->n; i++) {
		topo_distance(&s->m, s->gpu[o->gpu], s->pf[i].pci, &other);
		if (topo_distance_cmp(&other, &o->distance) < 0)
			return true;
	}
	return false;
}

static void explain_result(const struct survey *s, const char *pf, struct affinity_result *f)
{
	*f = (struct affinity_result){ .source = s->gpus->source };
	for (size_t i = 0; i < s->n; i++) {
		const struct candidate *o = &s->pf[i];
		if (strcmp(o->addr, pf) != 0)
			continue;
		memcpy(f->gpu, s->gpus->gpu[o->gpu], sizeof(f->gpu));
		f->class = o->distance.class;
		f->switches = o->distance.switches;
		f->bw = o->distance.max_bw;
		f->farther = is_farther(s, o);
		return;
	}
}

/* claim_any() says how many VFs there are, and which PFs it passed over, but not who has them. */
static int refuse_near(const struct survey *s, struct pf_list pfs, struct err *e)
{
	char holders[NEAR_HOLDERS_LEN], names[128] = "";
	const struct err counted = *e;

	if (e->code != ERR_EXHAUSTED)
		return -1;
	for (size_t i = 0; i < s->n; i++) {
		size_t at = strlen(names);
		if (!is_farther(s, &s->pf[i]))
			(void)snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "",
				       s->pf[i].name);
	}
	near_holders(s->who, pfs, holders);
	err_set(e, ERR_EXHAUSTED, 0, "nearOnly: no free VF of the nearest PFs (%s)%s%s", names,
		*holders ? ": " : "", holders);
	(void)err_hint(e, "%s", counted.msg);
	(void)err_hint(e, "%s", counted.detail);
	return err_hint(e, "without nearOnly, the next PF is used");
}

int affinity_claim(const struct claimant *who, struct affinity_request request,
		   struct vf_place *place, struct affinity_result *found, struct err *e)
{
	struct claimant apart = *who;
	auto_survey struct survey s = { .who = &apart, .gpus = request.gpus };
	size_t n = 0;

	apart.skip_pfs_in_use = true;
	if (make_survey(&s, request.pfs, e))
		return -1;
	auto_free const char **name = calloc(s.n + 1, sizeof(*name));
	if (!name)
		return err_nomem(e);
	for (size_t i = 0; i < s.n; i++)
		if (!request.nearest_only || !is_farther(&s, &s.pf[i]))
			name[n++] = s.pf[i].addr;
	const struct pf_list pfs = { name, n };
	if (claim_any(&apart, pfs, place, e))
		return request.nearest_only ? refuse_near(&s, pfs, e) : -1;
	explain_result(&s, place->pf, found);
	return 0;
}

int affinity_of(const struct claimant *who, struct affinity_request request, const char *pf,
		struct affinity_result *found, struct err *e)
{
	auto_survey struct survey s = { .who = who, .gpus = request.gpus };
	auto_free const char **name = calloc(request.pfs.n + 1, sizeof(*name));
	char addr[PCI_STR_LEN];
	bool listed = false;
	size_t n = 0;

	if (!name)
		return err_nomem(e);
	while (n < request.pfs.n) {
		name[n] = request.pfs.name[n];
		if (claim_find_pf(who->ctx, name[n++], addr, e))
			return -1;
		listed |= strcmp(addr, pf) == 0;
	}
	/* Twice in the list, a VF that the container has of it would count twice. */
	if (!listed)
		name[n++] = pf;
	if (make_survey(&s, (struct pf_list){ name, n }, e))
		return -1;
	explain_result(&s, pf, found);
	found->given = true;
	return 0;
}

/* ---- the result as text ---- */

const char *affinity_text(const struct affinity_result *f, char out[AFFINITY_TEXT_LEN])
{
	char bw[32] = "";

	if (f->bw)
		(void)snprintf(bw, sizeof(bw), ", %u.%u Gbit/s", f->bw / 10, f->bw % 10);
	(void)snprintf(out, AFFINITY_TEXT_LEN, "%s over %u switch%s%s%s", topo_class_name(f->class),
		       f->switches, f->switches == 1 ? "" : "es", bw,
		       !f->farther ? ""
		       : f->given  ? "; the resource has nearer PFs"
				   : "; nearer PFs have none for this pod");
	return out;
}

struct json *affinity_to_json(const struct affinity_result *f)
{
	auto_json struct json *o = json_new_object();
	char text[AFFINITY_TEXT_LEN];

	if (!o || json_add_str(o, "gpu", f->gpu) || json_add_str(o, "from", f->source) ||
	    json_add_str(o, "class", topo_class_name(f->class)) ||
	    json_add_int(o, "switches", f->switches) ||
	    json_add_str(o, "why", affinity_text(f, text)))
		return NULL;
	return TAKE_PTR(o);
}

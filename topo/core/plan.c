// SPDX-License-Identifier: Apache-2.0
/*
 * Plans pods: groups the GPUs in scope, finds the cards that only one pod would use, and picks a
 * free VF of each. plan.h has the rules.
 */
#include "topo/core/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

struct planning {
	const struct topo_machine *m;
	const struct topo_choice *c;
	const struct topo_plan_request *request;
	struct topo_plan *plan;
	uint32_t *gpu; /* in scope, by PCI address */
	uint32_t n_gpus;
	uint32_t *pod_of; /* by card: the pod that uses it; TOPO_NONE: no pod, or SEVERAL */
};

#define SEVERAL (UINT32_MAX - 1)

static void planning_clear(struct planning *p)
{
	free(p->gpu);
	free(p->pod_of);
}
#define auto_planning auto_clean(planning_clear)

void topo_plan_clear(struct topo_plan *p)
{
	for (size_t i = 0; i < p->n_pods; i++) {
		free(p->pod[i].gpu);
		free(p->pod[i].item);
	}
	for (size_t i = 0; i < p->n_notes; i++)
		free(p->note[i]);
	free(p->pod);
	free(p->note);
	*p = (struct topo_plan){ 0 };
}

static const char *gpu_text(const struct planning *p, uint32_t gpu, char out[PCI_STR_LEN])
{
	return pci_format(p->m->pci[p->m->gpu[gpu].pci].addr, out);
}

#define NOTES_MAX 65536

static int plan_add_note(struct planning *p, struct err *e, const char *fmt, ...) printf_like(3, 4);

static int plan_add_note(struct planning *p, struct err *e, const char *fmt, ...)
{
	char text[320];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	char *copy = strdup(text);
	if (!copy)
		return err_nomem(e);
	if (ARRAY_GROW(p->plan->note, p->plan->n_notes, NOTES_MAX, "notes", e)) {
		free(copy);
		return -1;
	}
	p->plan->note[p->plan->n_notes++] = copy;
	return 0;
}

/* ---- GPUs and cards ---- */

static int check_request(const struct planning *p, struct err *e)
{
	const struct topo_plan_request *r = p->request;
	uint64_t need = (uint64_t)r->pods * r->gpus_per_pod;

	if (!r->pods)
		return err_set(e, ERR_FIELD, 0, "pods: 0: must be at least 1");
	if (!r->gpus_per_pod)
		return err_set(e, ERR_FIELD, 0, "gpus-per-pod: 0: must be at least 1");
	if (need <= p->n_gpus)
		return 0;
	err_set(e, ERR_EXHAUSTED, 0, "%u pods of %u GPUs need %llu GPUs, there are %u", r->pods,
		r->gpus_per_pod, (unsigned long long)need, p->n_gpus);
	return err_hint(e, "fewer pods, or fewer GPUs each");
}

static int gather_gpus(struct planning *p, struct err *e)
{
	const struct topo_scope *s = p->request->scope;

	p->gpu = calloc(p->m->n_gpus + 1, sizeof(*p->gpu));
	p->pod_of = calloc(p->m->n_hcas + 1, sizeof(*p->pod_of));
	if (!p->gpu || !p->pod_of)
		return err_nomem(e);
	for (size_t i = 0; i < p->m->n_hcas; i++)
		p->pod_of[i] = TOPO_NONE;
	for (uint32_t i = 0; i < p->m->n_gpus; i++) {
		if (!s || !s->gpu || s->gpu[i])
			p->gpu[p->n_gpus++] = i;
	}
	qsort_r(p->gpu, p->n_gpus, sizeof(*p->gpu), topo_cmp_gpus, (void *)p->m);
	return 0;
}

/* Find out for each card which pod uses it. */
static int claim_cards(struct planning *p, struct err *e)
{
	uint32_t each = p->request->gpus_per_pod;
	char text[PCI_STR_LEN];

	for (uint32_t i = 0; i < p->request->pods * each; i++) {
		const struct topo_gpu_choice *g = &p->c->gpu[p->gpu[i]];
		uint32_t pod = i / each;
		if (g->assigned == TOPO_NONE)
			return err_set(e, ERR_EXHAUSTED, 0, "GPU %s has no HCA: %s",
				       gpu_text(p, p->gpu[i], text),
				       g->why_none ? g->why_none : "nothing is assigned to it");
		for (size_t k = 0; k < g->n_share; k++) {
			uint32_t *at = &p->pod_of[p->m->hca[g->share[k]].card];
			*at = *at == TOPO_NONE || *at == pod ? pod : SEVERAL;
		}
	}
	return 0;
}

/* ---- which VF ---- */

/* The free VF with the lowest address; TOPO_NONE: the HCA has no VFs. */
static int pick_vf(const struct planning *p, uint32_t hca, uint32_t *out, struct err *e)
{
	const struct topo_hca *h = &p->m->hca[hca];
	const bool *taken = p->request->taken;
	uint32_t best = TOPO_NONE, all = 0;

	for (uint32_t i = 0; i < p->m->n_pci; i++) {
		uint32_t pf = p->m->pci[i].is_vf ? p->m->pci[i].physfn : TOPO_NONE;
		bool vf_of_hca = pf != TOPO_NONE && (pf == h->pci || pf == h->second);
		if (!vf_of_hca && !(h->kind == TOPO_HCA_VF && i == h->pci))
			continue;
		all++;
		if ((!taken || !taken[i]) &&
		    (best == TOPO_NONE || topo_pci_order(p->m, i) < topo_pci_order(p->m, best)))
			best = i;
	}
	*out = best;
	if (best != TOPO_NONE || !all)
		return 0;
	err_set(e, ERR_EXHAUSTED, 0, "%s: no free VF: all %u are taken", h->name, all);
	return err_hint(e, "railctl vf list shows whose they are; railctl vf create makes more");
}

/* ---- one pod ---- */

static void core_plan_add_item(const struct planning *p, struct topo_plan_pod *pod, uint32_t gpu,
			       uint32_t hca, uint32_t vf)
{
	struct topo_plan_item *i = &pod->item[pod->n_items++];

	*i = (struct topo_plan_item){ .gpu = gpu, .hca = hca, .rail = p->c->rail[hca], .vf = vf };
	if (vf == TOPO_NONE)
		topo_distance_to_hca(p->m, gpu, hca, &i->distance);
	else
		topo_distance(p->m, p->m->gpu[gpu].pci, vf, &i->distance);
}

/* Give an HCA to a GPU; if another GPU of the pod has it already, they share its VF. */
static int plan_assign_hca(struct planning *p, struct topo_plan_pod *pod, uint32_t gpu,
			   uint32_t hca, struct err *e)
{
	const struct topo_plan_item *before = NULL;
	char one[PCI_STR_LEN], other[PCI_STR_LEN];
	uint32_t vf;

	for (size_t i = 0; i < pod->n_items && !before; i++) {
		if (pod->item[i].hca == hca)
			before = &pod->item[i];
	}
	if (!before) {
		if (pick_vf(p, hca, &vf, e))
			return -1;
		core_plan_add_item(p, pod, gpu, hca, vf);
		return 0;
	}
	core_plan_add_item(p, pod, gpu, hca, before->vf);
	return plan_add_note(p, e, "GPU %s and GPU %s of one pod share %s",
			     gpu_text(p, before->gpu, one), gpu_text(p, gpu, other),
			     p->m->hca[hca].name);
}

/* All cards of a GPU are shared with another pod: no plan gives each pod a rail of its own. */
static int refuse_shared(const struct planning *p, uint32_t pod, uint32_t gpu, struct err *e)
{
	const struct topo_gpu_choice *g = &p->c->gpu[gpu];
	uint32_t card = p->m->hca[g->assigned].card, other = gpu;
	char mine[PCI_STR_LEN], text[PCI_STR_LEN];

	for (uint32_t i = 0; i < p->request->pods * p->request->gpus_per_pod; i++) {
		const struct topo_gpu_choice *o = &p->c->gpu[p->gpu[i]];
		if (i / p->request->gpus_per_pod != pod && p->m->hca[o->assigned].card == card)
			other = p->gpu[i];
	}
	err_set(e, ERR_EXHAUSTED, 0, "GPU %s and GPU %s would be in two pods, and both need %s",
		gpu_text(p, gpu, mine), gpu_text(p, other, text), p->m->hca[g->assigned].name);
	return err_hint(e, "with more GPUs per pod they come into one, and no two pods share a "
			   "rail");
}

static int plan_gpu(struct planning *p, uint32_t number, uint32_t gpu, struct err *e)
{
	const struct topo_gpu_choice *g = &p->c->gpu[gpu];
	struct topo_plan_pod *pod = &p->plan->pod[number];
	size_t before = pod->n_items;

	for (size_t k = 0; k < g->n_share; k++) {
		uint32_t hca = g->share[k];
		if (p->pod_of[p->m->hca[hca].card] == number &&
		    plan_assign_hca(p, pod, gpu, hca, e))
			return -1;
	}
	return pod->n_items > before ? 0 : refuse_shared(p, number, gpu, e);
}

static int plan_pod(struct planning *p, uint32_t number, struct err *e)
{
	struct topo_plan_pod *pod = &p->plan->pod[number];
	uint32_t each = p->request->gpus_per_pod;
	const uint32_t *first = p->gpu + (size_t)number * each;
	size_t items = 0;

	for (uint32_t i = 0; i < each; i++)
		items += p->c->gpu[first[i]].n_share;
	pod->gpu = calloc(each + 1, sizeof(*pod->gpu));
	pod->item = calloc(items + 1, sizeof(*pod->item));
	if (!pod->gpu || !pod->item)
		return err_nomem(e);
	for (uint32_t i = 0; i < each; i++)
		pod->gpu[pod->n_gpus++] = first[i];
	for (uint32_t i = 0; i < each; i++) {
		if (plan_gpu(p, number, first[i], e))
			return err_wrap(e, "pod %u", number);
	}
	return 0;
}

static bool has_layer(const struct planning *p, const struct topo_plan_pod *pod,
		      enum topo_layer layer)
{
	for (size_t i = 0; i < pod->n_items; i++) {
		const struct topo_hca *h = &p->m->hca[pod->item[i].hca];

		for (size_t k = 0; k < h->n_ports; k++) {
			if (h->port[k].layer == layer)
				return true;
		}
	}
	return false;
}

/* NCCL connects no port of InfiniBand to one of Ethernet. */
static int note_layers(struct planning *p, struct err *e)
{
	for (uint32_t i = 0; i < p->plan->n_pods; i++) {
		const struct topo_plan_pod *pod = &p->plan->pod[i];

		if (has_layer(p, pod, TOPO_INFINIBAND) && has_layer(p, pod, TOPO_ETHERNET) &&
		    plan_add_note(
			    p, e,
			    "pod %u has InfiniBand and Ethernet, which NCCL does not connect: "
			    "leave one out with --hcas",
			    i))
			return -1;
	}
	return 0;
}

static int note_unused(struct planning *p, struct err *e)
{
	for (uint32_t i = 0; i < p->m->n_hcas; i++) {
		const struct topo_hca *h = &p->m->hca[i];
		if (p->pod_of[h->card] == SEVERAL && p->c->rail[i] != TOPO_NONE &&
		    h->kind != TOPO_HCA_VF &&
		    plan_add_note(p, e, "%s stays unused: it is nearest to GPUs of two pods",
				  h->name))
			return -1;
	}
	return 0;
}

int topo_plan_make(const struct topo_machine *m, const struct topo_choice *c,
		   const struct topo_plan_request *r, struct topo_plan *out, struct err *e)
{
	auto_topo_plan struct topo_plan plan = { 0 };
	auto_planning struct planning p = { .m = m, .c = c, .request = r, .plan = &plan };

	if (gather_gpus(&p, e) || check_request(&p, e) || claim_cards(&p, e))
		return -1;
	plan.pod = calloc(r->pods, sizeof(*plan.pod));
	if (!plan.pod)
		return err_nomem(e);
	plan.n_pods = r->pods;
	for (uint32_t i = 0; i < r->pods; i++) {
		if (plan_pod(&p, i, e))
			return -1;
	}
	if (note_unused(&p, e) || note_layers(&p, e))
		return -1;
	*out = plan;
	plan = (struct topo_plan){ 0 };
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* dra_rail.c: which functions and GPUs belong to a rail, and whether pcieRoot tells them apart. */
#include <stdlib.h>
#include <string.h>

#include "topo/output/dra_priv.h"

void dra_rail_clear(struct dra_rail *r)
{
	free(r->pf);
	free(r->vf);
	free(r->gpu);
}

/* ---- functions ---- */

/* A VF belongs to its PF, where the machine shows it. Devices in software have no function. */
static void dra_rail_add_function(const struct topo_machine *m, struct dra_rail *r, uint32_t pci)
{
	const struct topo_pci *p;

	if (pci == TOPO_NONE)
		return;
	p = &m->pci[pci];
	if (p->is_vf && p->physfn == TOPO_NONE) {
		if (!has_u32(r->vf, r->n_vf, pci))
			r->vf[r->n_vf++] = pci;
		return;
	}
	if (p->is_vf)
		pci = p->physfn;
	if (!has_u32(r->pf, r->n_pf, pci))
		r->pf[r->n_pf++] = pci;
}

static int dra_rail_by_address(const void *a, const void *b, void *m)
{
	uint64_t x = topo_pci_order(m, *(const uint32_t *)a);
	uint64_t y = topo_pci_order(m, *(const uint32_t *)b);

	return (x > y) - (x < y);
}

static void dra_rail_find_functions(const struct dra_input *in, struct dra_rail *r)
{
	const struct topo_machine *m = in->m;

	for (size_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *h = &m->hca[i];

		if (in->choice->rail[i] != r->number || h->kind == TOPO_HCA_SOFTWARE)
			continue;
		dra_rail_add_function(m, r, h->pci);
		dra_rail_add_function(m, r, h->second);
	}
	r->n_alone = r->n_vf;
	for (uint32_t i = 0; i < m->n_pci; i++)
		if (m->pci[i].is_vf && m->pci[i].physfn != TOPO_NONE &&
		    has_u32(r->pf, r->n_pf, m->pci[i].physfn))
			r->vf[r->n_vf++] = i;
	if (r->n_pf)
		qsort_r(r->pf, r->n_pf, sizeof(*r->pf), dra_rail_by_address, (void *)m);
	if (r->n_vf)
		qsort_r(r->vf, r->n_vf, sizeof(*r->vf), dra_rail_by_address, (void *)m);
}

/* ---- GPUs ---- */

static void dra_rail_find_gpus(const struct dra_input *in, struct dra_rail *r)
{
	for (uint32_t g = 0; g < in->choice->n_gpus; g++) {
		const struct topo_gpu_choice *c = &in->choice->gpu[g];

		for (size_t i = 0; i < c->n_nearest; i++) {
			if (in->choice->rail[c->nearest[i]] != r->number)
				continue;
			r->gpu[r->n_gpus++] = g;
			break;
		}
	}
}

/* The name of the root complex of a function, "" if it is not known. */
static const char *root_of(const struct topo_machine *m, uint32_t pci)
{
	return pci == TOPO_NONE || m->pci[pci].root == TOPO_NONE ? ""
								 : m->root[m->pci[pci].root].name;
}

static uint32_t first_function(const struct dra_rail *r)
{
	return r->n_pf ? r->pf[0] : r->n_vf ? r->vf[0] : TOPO_NONE;
}

/* The root complex that all functions of the rail have, "" if there is none. */
static const char *root_of_rail(const struct topo_machine *m, const struct dra_rail *r)
{
	const char *root = root_of(m, first_function(r));

	for (size_t i = 0; i < r->n_pf + r->n_vf; i++) {
		uint32_t pci = i < r->n_pf ? r->pf[i] : r->vf[i - r->n_pf];

		if (strcmp(root_of(m, pci), root) != 0)
			return "";
	}
	return root;
}

/* Why pcieRoot does not tell the GPUs of the rail from others; TOPO_NONE: it does. */
struct mismatch {
	uint32_t outside; /* a GPU of the rail below another root complex */
	uint32_t other;   /* a GPU below the rail's root complex that is nearer to another rail */
};

static struct mismatch compare_roots(const struct topo_machine *m, const struct dra_rail *r)
{
	const char *root = root_of_rail(m, r);
	struct mismatch found = { TOPO_NONE, TOPO_NONE };

	for (uint32_t g = 0; g < m->n_gpus; g++) {
		bool below = strcmp(root_of(m, m->gpu[g].pci), root) == 0;
		bool ours = has_u32(r->gpu, r->n_gpus, g);

		if (ours && !below && found.outside == TOPO_NONE)
			found.outside = g;
		if (!ours && below && found.other == TOPO_NONE)
			found.other = g;
	}
	return found;
}

int dra_rail_fill(const struct dra_input *in, uint32_t number, struct dra_rail *out)
{
	struct mismatch differ;

	*out = (struct dra_rail){ .number = number };
	out->pf = calloc(in->m->n_pci + 1, sizeof(*out->pf));
	out->vf = calloc(in->m->n_pci + 1, sizeof(*out->vf));
	out->gpu = calloc(in->m->n_gpus + 1, sizeof(*out->gpu));
	if (!out->pf || !out->vf || !out->gpu)
		return -1;
	dra_rail_find_functions(in, out);
	dra_rail_find_gpus(in, out);
	differ = compare_roots(in->m, out);
	out->match_root = out->n_gpus && *root_of_rail(in->m, out) && differ.outside == TOPO_NONE &&
			  differ.other == TOPO_NONE;
	return 0;
}

/* ---- the note ---- */

static void dra_rail_add_gpus(const struct dra_input *in, const struct dra_rail *r,
			      struct text *out)
{
	text_add(out, r->n_gpus == 1 ? "GPU " : "GPUs ");
	for (size_t i = 0; i < r->n_gpus; i++)
		text_addf(out, "%s%d", i ? ", " : "", in->m->gpu[r->gpu[i]].index);
}

void dra_rail_note(const struct dra_input *in, const struct dra_rail *r, struct text *out)
{
	const struct topo_machine *m = in->m;
	const char *root = root_of_rail(m, r);
	struct mismatch differ = compare_roots(m, r);

	if (!r->n_gpus) {
		text_add(out, "No GPU is nearest to this rail, so the claim has none.");
		return;
	}
	dra_rail_add_gpus(in, r, out);
	text_add(out, r->n_gpus == 1 ? " is" : " are");
	if (r->match_root) {
		text_addf(out,
			  " below the root complex of this rail, %s, and no other GPU is: the "
			  "claim compares pcieRoot.",
			  root);
		return;
	}
	text_add(out, " nearest to this rail. The claim names addresses, because ");
	if (!*root)
		text_add(out, "the root complex of the rail is not known or not the same.");
	else if (differ.outside != TOPO_NONE)
		text_addf(out, "GPU %d is below %s and the rail below %s.",
			  m->gpu[differ.outside].index,
			  *root_of(m, m->gpu[differ.outside].pci)
				  ? root_of(m, m->gpu[differ.outside].pci)
				  : "an unknown root complex",
			  root);
	else
		text_addf(out, "GPU %d is below %s, too, but nearer to another rail.",
			  m->gpu[differ.other].index, root);
}

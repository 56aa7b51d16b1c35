/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of a node. Kubernetes allows values of at most 63 letters, digits, '-', '_' and '.', with
 * a letter or digit at both ends.
 */
#include <stdio.h>
#include <string.h>

#include "topo/show/show_priv.h"

#define PREFIX "railhead.io/"

/* ---- the shape ---- */

/* FNV-1a, 64 bits. */
struct hash {
	uint64_t h;
};

static void hash_add(struct hash *x, uint32_t n)
{
	for (unsigned i = 0; i < sizeof(n); i++) {
		x->h ^= n >> 8 * i & 0xff;
		x->h *= 0x100000001b3;
	}
}

static void add_function(struct hash *x, const struct topo_machine *m, uint32_t pci)
{
	const struct topo_pci *p = &m->pci[pci];

	hash_add(x, p->has_ids ? (uint32_t)p->vendor << 16 | p->device : 0);
	hash_add(x, (uint32_t)show_numa(m, pci));
}

/* The number of VFs and subfunctions changes often, so that they are not part of the shape. */
static bool is_part_of_shape(const struct topo_view *v, size_t hca)
{
	const struct topo_hca *h = &v->m->hca[hca];

	return show_has_hca(v, hca) && (h->kind == TOPO_HCA_PF || h->kind == TOPO_HCA_BOND) &&
	       h->pci != TOPO_NONE;
}

char *show_shape(const struct topo_view *v, char out[SHOW_SHAPE_LEN])
{
	struct hash x = { 0xcbf29ce484222325 };
	struct topo_distance r;

	for (size_t h = 0; h < v->m->n_hcas; h++)
		if (is_part_of_shape(v, h))
			add_function(&x, v->m, v->m->hca[h].pci);
	for (size_t g = 0; g < v->m->n_gpus; g++) {
		if (!show_has_gpu(v, g))
			continue;
		add_function(&x, v->m, v->m->gpu[g].pci);
		for (size_t h = 0; h < v->m->n_hcas; h++) {
			if (!is_part_of_shape(v, h))
				continue;
			topo_distance_to_hca(v->m, (uint32_t)g, (uint32_t)h, &r);
			hash_add(&x, (uint32_t)r.class);
			hash_add(&x, r.switches);
			hash_add(&x, r.max_bw);
		}
	}
	(void)snprintf(out, SHOW_SHAPE_LEN, "%016llx", (unsigned long long)x.h);
	return out;
}

/* ---- labels ---- */

/* The class of the GPU with the farthest HCA; "none": a GPU has no HCA. */
static const char *worst_class(const struct topo_view *v, size_t *behind_switch)
{
	enum topo_class worst = TOPO_X;
	struct topo_distance r;
	bool none = false;

	*behind_switch = 0;
	for (size_t g = 0; g < v->m->n_gpus; g++) {
		const struct topo_gpu_choice *c = &v->choice->gpu[g];

		if (!show_has_gpu(v, g))
			continue;
		none |= !c->n_nearest;
		if (!c->n_nearest)
			continue;
		topo_distance_to_hca(v->m, (uint32_t)g, c->nearest[0], &r);
		*behind_switch += r.class == TOPO_PIX || r.class == TOPO_PXB;
		if (r.class > worst)
			worst = r.class;
	}
	if (none || worst == TOPO_X)
		return "none";
	return worst == TOPO_CLASS_UNKNOWN ? "unknown" : topo_class_name(worst);
}

int show_labels(const struct topo_view *v, FILE *to, struct err *e)
{
	enum finding_state ready =
		v->findings ? gdr_worst(v->findings, TOPO_NONE) : FINDING_UNKNOWN;
	char shape[SHOW_SHAPE_LEN];
	size_t behind_switch, differing = 0;
	const char *class = worst_class(v, &behind_switch);

	for (size_t g = 0; g < v->m->n_gpus; g++)
		differing += show_has_gpu(v, g) && show_unavailable(v, g);
	fprintf(to, PREFIX "gpus=%zu\n", show_count_gpus(v));
	fprintf(to, PREFIX "hcas=%zu\n", show_count_hcas(v));
	fprintf(to, PREFIX "rails=%u\n", v->choice->n_rails);
	fprintf(to, PREFIX "gpu-nic=%s\n", class);
	fprintf(to, PREFIX "gpus-behind-switch=%zu\n", behind_switch);
	fprintf(to, PREFIX "nccl-differs=%zu\n", differing);
	fprintf(to, PREFIX "gdr-ready=%s\n", finding_state_name(ready));
	fprintf(to, PREFIX "pcie-shape=%s\n", show_shape(v, shape));
	return show_finish(to, e);
}

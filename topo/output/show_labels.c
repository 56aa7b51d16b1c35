/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of a node. Kubernetes allows values of at most 63 letters, digits, '-', '_' and '.', with
 * a letter or digit at both ends.
 */
#include <stdio.h>

#include "lib/base/hash.h"
#include "topo/output/show_priv.h"

#define PREFIX "railhead.io/"

/* ---- the shape ---- */

/* Lowest byte first, so that a label is the same whatever the byte order of the machine. */
static void show_labels_add_number(uint64_t *h, uint32_t n)
{
	const uint8_t bytes[] = { (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16),
				  (uint8_t)(n >> 24) };

	*h = hash_add(*h, bytes, sizeof(bytes));
}

static void show_labels_add_function(uint64_t *h, const struct topo_machine *m, uint32_t pci)
{
	const struct topo_pci *p = &m->pci[pci];

	show_labels_add_number(h, p->has_ids ? (uint32_t)p->vendor << 16 | p->device : 0);
	show_labels_add_number(h, (uint32_t)topo_numa(m, pci));
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
	uint64_t h = HASH_START;
	struct topo_distance r;

	for (size_t i = 0; i < v->m->n_hcas; i++)
		if (is_part_of_shape(v, i))
			show_labels_add_function(&h, v->m, v->m->hca[i].pci);
	for (size_t g = 0; g < v->m->n_gpus; g++) {
		if (!show_has_gpu(v, g))
			continue;
		show_labels_add_function(&h, v->m, v->m->gpu[g].pci);
		for (size_t i = 0; i < v->m->n_hcas; i++) {
			if (!is_part_of_shape(v, i))
				continue;
			topo_distance_to_hca(v->m, (uint32_t)g, (uint32_t)i, &r);
			show_labels_add_number(&h, (uint32_t)r.class);
			show_labels_add_number(&h, r.switches);
			show_labels_add_number(&h, r.max_bw);
		}
	}
	(void)snprintf(out, SHOW_SHAPE_LEN, "%016llx", (unsigned long long)h);
	return out;
}

/* Subfunctions and VFs come and go with their PF. */
static bool has_own_address(const struct topo_machine *m, const struct topo_hca *h)
{
	return h->pci != TOPO_NONE && h->kind != TOPO_HCA_SF && topo_is_network(h) &&
	       m->pci[h->pci].physfn == TOPO_NONE;
}

static void show_labels_add_address(uint64_t *h, struct pci_addr a)
{
	show_labels_add_number(h, a.domain);
	show_labels_add_number(h, pci_routing_id(a));
}

/* A hash of the rails in scope and the PCI addresses of their PFs. VFs do not change it, unless the
 * machine does not show their PF. */
static char *rail_addresses(const struct topo_view *v, char out[SHOW_SHAPE_LEN])
{
	const struct topo_machine *m = v->m;
	uint64_t h = HASH_START;

	for (size_t i = 0; i < m->n_hcas; i++) {
		if (v->choice->rail[i] == TOPO_NONE || !has_own_address(m, &m->hca[i]))
			continue;
		show_labels_add_number(&h, v->choice->rail[i]);
		show_labels_add_address(&h, m->pci[m->hca[i].pci].addr);
		if (m->hca[i].second != TOPO_NONE)
			show_labels_add_address(&h, m->pci[m->hca[i].second].addr);
	}
	(void)snprintf(out, SHOW_SHAPE_LEN, "%016llx", (unsigned long long)h);
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

/* The link layer that the ports of all rails have. */
static const char *link_layer(const struct topo_view *v)
{
	static const char *const names[] = { "unknown", "Ethernet", "InfiniBand" };
	bool seen[ARRAY_SIZE(names)] = { false };
	size_t n = 0, last = 0;

	for (size_t i = 0; i < v->m->n_hcas; i++)
		for (size_t p = 0; v->choice->rail[i] != TOPO_NONE && p < v->m->hca[i].n_ports; p++)
			seen[v->m->hca[i].port[p].layer] = true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		n += seen[i];
		last = seen[i] ? i : last;
	}
	if (!v->choice->n_rails)
		return v->named ? "unknown" : "none";
	return n > 1 ? "several" : names[last];
}

int show_labels(const struct topo_view *v, FILE *to, struct err *e)
{
	const enum finding_state state =
		v->findings ? gdr_worst(v->findings, TOPO_NONE) : FINDING_UNKNOWN;
	const char *ready = show_count_gpus(v) ? finding_state_name(state) : "none";
	char shape[SHOW_SHAPE_LEN];
	size_t behind_switch, differing = 0;
	const char *class = worst_class(v, &behind_switch);

	for (size_t g = 0; g < v->m->n_gpus; g++)
		differing += show_has_gpu(v, g) && show_unavailable(v, g);
	fprintf(to, PREFIX "gpus=%zu\n", show_count_gpus(v));
	fprintf(to, PREFIX "hcas=%zu\n", show_count_hcas(v));
	fprintf(to, PREFIX "rails=%u\n", v->named ? v->named : v->choice->n_rails);
	fprintf(to, PREFIX "link-layer=%s\n", link_layer(v));
	fprintf(to, PREFIX "gpu-nic=%s\n", class);
	fprintf(to, PREFIX "gpus-behind-switch=%zu\n", behind_switch);
	fprintf(to, PREFIX "nccl-differs=%zu\n", differing);
	fprintf(to, PREFIX "gdr-ready=%s\n", ready);
	fprintf(to, PREFIX "pcie-shape=%s\n", show_shape(v, shape));
	fprintf(to, PREFIX "rail-addresses=%s\n", rail_addresses(v, shape));
	return show_finish(to, e);
}

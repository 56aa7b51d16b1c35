// SPDX-License-Identifier: Apache-2.0
/* In which order a machine's things stand, and which of them are one card. */
#include <string.h>

#include "rdma/affinity/build.h"

static int cmp(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Without a function: behind all others. */
static uint64_t place(const struct aff_machine *m, uint32_t pci)
{
	if (pci == AFF_NONE)
		return UINT64_MAX;
	struct pci_addr a = m->pci[pci].addr;
	return (uint64_t)a.domain << 24 | (uint64_t)a.bus << 16 | (uint64_t)a.dev << 8 | a.fn;
}

static int by_gpu(const void *x, const void *y, void *m)
{
	const struct aff_gpu *a = x, *b = y;

	return cmp(place(m, a->pci), place(m, b->pci));
}

/* Names as a person counts: mlx5_2 before mlx5_10. */
static int by_hca(const void *x, const void *y, void *m)
{
	const struct aff_hca *a = x, *b = y;
	int c = cmp(place(m, a->pci), place(m, b->pci));

	return c ? c : strverscmp(a->name, b->name);
}

void aff_sort(struct aff_machine *m)
{
	if (m->n_gpus)
		qsort_r(m->gpu, m->n_gpus, sizeof(*m->gpu), by_gpu, m);
	for (size_t i = 0; i < m->n_gpus; i++)
		m->gpu[i].index = (int)i;
	if (m->n_hcas)
		qsort_r(m->hca, m->n_hcas, sizeof(*m->hca), by_hca, m);
	aff_cards(m);
}

/* One card: the same system image GUID, or the same device of one bus and vendor. */
static bool one_card(const struct aff_machine *m, const struct aff_hca *a, const struct aff_hca *b)
{
	if (a->guid && b->guid)
		return a->guid == b->guid;
	if (a->pci == AFF_NONE || b->pci == AFF_NONE ||
	    place(m, a->pci) >> 8 != place(m, b->pci) >> 8)
		return false;
	return a->kind != AFF_HCA_VF && b->kind != AFF_HCA_VF &&
	       m->pci[a->pci].vendor == m->pci[b->pci].vendor;
}

void aff_cards(struct aff_machine *m)
{
	for (size_t i = 0; i < m->n_hcas; i++) {
		struct aff_hca *h = &m->hca[i];
		h->card = (uint32_t)i;
		for (size_t k = 0; k < i && h->card == i; k++) {
			if (one_card(m, &m->hca[k], h))
				h->card = m->hca[k].card;
		}
	}
}

// SPDX-License-Identifier: Apache-2.0
/* Sorts the GPUs and HCAs of a machine, and finds out which HCAs are one card. */
#include <string.h>

#include "topo/core/machine_build.h"

static int by_gpu(const void *x, const void *y, void *m)
{
	const struct topo_gpu *a = x, *b = y;

	return cmp_u64(topo_pci_order(m, a->pci), topo_pci_order(m, b->pci));
}

/* strverscmp: mlx5_2 comes before mlx5_10. */
static int sort_by_hca(const void *x, const void *y, void *m)
{
	const struct topo_hca *a = x, *b = y;
	int c = cmp_u64(topo_pci_order(m, a->pci), topo_pci_order(m, b->pci));

	return c ? c : strverscmp(a->name, b->name);
}

void topo_sort(struct topo_machine *m)
{
	if (m->n_gpus)
		qsort_r(m->gpu, m->n_gpus, sizeof(*m->gpu), by_gpu, m);
	for (size_t i = 0; i < m->n_gpus; i++)
		m->gpu[i].index = (int)i;
	if (m->n_hcas)
		qsort_r(m->hca, m->n_hcas, sizeof(*m->hca), sort_by_hca, m);
}

struct key {
	uint64_t part[2]; /* equal for the HCAs of one card */
	uint32_t hca;
};

static int by_key(const void *x, const void *y)
{
	const struct key *a = x, *b = y;
	int c = cmp_u64(a->part[0], b->part[0]);

	c = c ? c : cmp_u64(a->part[1], b->part[1]);
	return c ? c : cmp_u64(a->hca, b->hca);
}

/* Key {1, GUID}; without a GUID {2 + vendor, domain:bus:device}; without a function {0, index}. A
 * VF has another address than its PF, so the PF's address counts. */
static struct key sort_key_of(const struct topo_machine *m, uint32_t i)
{
	const struct topo_hca *h = &m->hca[i];
	uint32_t pci = h->pci;

	if (h->guid)
		return (struct key){ { 1, h->guid }, i };
	if (pci == TOPO_NONE)
		return (struct key){ { 0, i }, i };
	if (m->pci[pci].physfn != TOPO_NONE)
		pci = m->pci[pci].physfn;
	return (struct key){ { 2 + m->pci[pci].vendor, topo_pci_order(m, pci) >> 8 }, i };
}

int topo_number_cards(struct topo_machine *m, struct err *e)
{
	auto_free struct key *key = calloc(m->n_hcas + 1, sizeof(*key));

	if (!key)
		return err_nomem(e);
	for (uint32_t i = 0; i < m->n_hcas; i++)
		key[i] = sort_key_of(m, i);
	qsort(key, m->n_hcas, sizeof(*key), by_key);
	for (size_t i = 0; i < m->n_hcas; i++) {
		bool same = i && !memcmp(key[i].part, key[i - 1].part, sizeof(key[i].part));
		m->hca[key[i].hca].card = same ? m->hca[key[i - 1].hca].card : key[i].hca;
	}
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* Finds records of a machine by address or name, and frees a machine. */
#include <string.h>

#include "topo/core/machine.h"

uint32_t topo_find_pci(const struct topo_machine *m, struct pci_addr a)
{
	for (size_t i = 0; i < m->n_pci; i++) {
		if (pci_same(m->pci[i].addr, a))
			return (uint32_t)i;
	}
	return TOPO_NONE;
}

uint32_t topo_find_gpu(const struct topo_machine *m, struct pci_addr a)
{
	for (size_t i = 0; i < m->n_gpus; i++) {
		if (pci_same(m->pci[m->gpu[i].pci].addr, a))
			return (uint32_t)i;
	}
	return TOPO_NONE;
}

uint32_t topo_find_hca(const struct topo_machine *m, const char *name)
{
	for (size_t i = 0; i < m->n_hcas; i++) {
		if (!strcmp(m->hca[i].name, name))
			return (uint32_t)i;
	}
	return TOPO_NONE;
}

uint64_t topo_pci_order(const struct topo_machine *m, uint32_t pci)
{
	return pci == TOPO_NONE ? UINT64_MAX : pci_order(m->pci[pci].addr);
}

void topo_machine_clear(struct topo_machine *m)
{
	for (size_t i = 0; i < m->n_gpus; i++)
		free(m->gpu[i].nvlink);
	for (size_t i = 0; i < m->n_hcas; i++)
		free(m->hca[i].port);
	for (size_t i = 0; i < m->n_notes; i++)
		free(m->note[i]);
	free(m->pci);
	free(m->root);
	free(m->cpu);
	free(m->gpu);
	free(m->hca);
	free(m->note);
	*m = (struct topo_machine){ 0 };
}

bool topo_is_socket(const struct topo_machine *m, uint32_t hca)
{
	const struct topo_hca *h = &m->hca[hca];
	bool file = m->source == TOPO_NCCL_XML || m->source == TOPO_RCCL_XML;

	return file && h->n_ports && !h->port[0].port;
}

bool topo_is_network(const struct topo_hca *h)
{
	return h->kind != TOPO_HCA_SOFTWARE && h->kind != TOPO_HCA_SMI &&
	       h->kind != TOPO_HCA_NVSWITCH;
}

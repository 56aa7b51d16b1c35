/* SPDX-License-Identifier: Apache-2.0 */
/* assign_place.c: where a function is in the machine: below which switch, how near to a GPU, on
 * which port. */
#include <stdio.h>
#include <string.h>

#include "railheadd/devices/assign.h"
#include "topo/core/distance.h"
#include "topo/core/pci_switch.h"

#define CLASS_STEP 1024u /* more than any path has switches */

/* The order is that of topo_distance_cmp(). */
static uint32_t assign_place_number_of(const struct topo_distance *d)
{
	enum topo_class class = d->class == TOPO_PXB ? TOPO_PIX : d->class;
	uint32_t switches = d->switches < CLASS_STEP ? d->switches : CLASS_STEP - 1;

	return (uint32_t) class * CLASS_STEP + switches;
}

static uint32_t nearest_gpu(const struct topo_machine *m, uint32_t pci)
{
	uint32_t best = TOPO_CLASS_UNKNOWN * CLASS_STEP;

	for (size_t i = 0; i < m->n_gpus; i++) {
		struct topo_distance d;

		topo_distance(m, m->gpu[i].pci, pci, &d);
		if (assign_place_number_of(&d) < best)
			best = assign_place_number_of(&d);
	}
	return best;
}

static void find_bridge(struct function *f, const struct topo_machine *m, uint32_t pci)
{
	uint32_t above = topo_parent(m, pci), bridge;

	if (above == TOPO_NONE)
		return;
	bridge = topo_switch_of(m, above);
	pci_format(m->pci[bridge == TOPO_NONE ? above : bridge].addr, f->bridge);
}

/* All ports of the function count, because nothing says which one a VF uses. */
static void find_port(struct function *f, const struct topo_machine *m, uint32_t pci)
{
	for (size_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *h = &m->hca[i];

		if ((h->pci != pci && h->second != pci) || !topo_is_network(h) ||
		    h->kind == TOPO_HCA_SF)
			continue;
		memcpy(f->port, h->name, sizeof(f->port));
		for (size_t k = 0; k < h->n_ports; k++) {
			if (f->link_up != TOPO_YES && h->port[k].active != TOPO_UNKNOWN)
				f->link_up = h->port[k].active;
		}
	}
}

void function_place(struct function *f, const struct topo_machine *m)
{
	struct pci_addr addr;
	uint32_t pci;

	f->gpu_distance = TOPO_CLASS_UNKNOWN * CLASS_STEP;
	if (pci_parse(*f->pf ? f->pf : f->addr, &addr) ||
	    (pci = topo_find_pci(m, addr)) == TOPO_NONE)
		return;
	find_bridge(f, m, pci);
	find_port(f, m, pci);
	f->gpu_distance = nearest_gpu(m, pci);
	if (f->numa < 0)
		f->numa = m->pci[pci].numa;
}

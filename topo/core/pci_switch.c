// SPDX-License-Identifier: Apache-2.0
/* Which bridges are ports of one switch, and which switches are one physical chip. */
#include "topo/core/pci_switch.h"

#define VENDOR_BROADCOM 0x1000
#define VENDOR_NVIDIA   0x10de
#define VENDOR_AMD      0x1022
#define VENDOR_AMD_GPU  0x1002
#define PEX880XX        0xc010
#define PEX890XX        0xc030
#define AMD_GPU_BRIDGE  0x1500 /* inside the package of MI300 and MI350 */

uint32_t topo_parent(const struct topo_machine *m, uint32_t pci)
{
	uint32_t parent = m->pci[pci].parent;

	/* Parents come before children, so that a climb always ends. */
	return parent < pci ? parent : TOPO_NONE;
}

uint32_t topo_switch_of(const struct topo_machine *m, uint32_t pci)
{
	uint32_t parent;

	switch (m->pci[pci].kind) {
	case TOPO_UPSTREAM:
	case TOPO_BRIDGE:
		return pci;
	case TOPO_DOWNSTREAM:
		parent = topo_parent(m, pci);
		return parent != TOPO_NONE && m->pci[parent].kind == TOPO_UPSTREAM ? parent : pci;
	case TOPO_ENDPOINT:
	case TOPO_ROOT_PORT:
		break;
	}
	return TOPO_NONE;
}

static bool has_ids(const struct topo_pci *p, uint16_t vendor, uint16_t device)
{
	return p->has_ids && p->vendor == vendor && p->device == device;
}

#define IDS_MASK  UINT64_C(0xfffffffffffff000)
#define IDS_GEN4  UINT64_C(0x1000c0101000a000)
#define IDS_GEN5  UINT64_C(0x1000c03010000000)
#define IDS_LOWER UINT64_C(0x1000)

uint64_t topo_pci_ids(const struct topo_pci *p)
{
	if (!p->has_ids)
		return 0;
	return (uint64_t)p->vendor << 48 | (uint64_t)p->device << 32 |
	       (uint64_t)p->sub_vendor << 16 | p->sub_device;
}

int topo_pex_generation(uint64_t ids, bool lower)
{
	ids &= IDS_MASK;
	if (ids == IDS_GEN4)
		return 4;
	return ids == (lower ? IDS_GEN5 | IDS_LOWER : IDS_GEN5) ? 5 : 0;
}

bool topo_one_chip(uint64_t upper, uint64_t lower)
{
	int generation = topo_pex_generation(upper, false);

	return generation && topo_pex_generation(lower, true) == generation;
}

/* The topmost port of a chip represents it. A switch below a switch may belong to the upper one's
 * chip; comparing with that topmost port also merges three levels. */
static uint32_t chip_of(const struct topo_machine *m, uint32_t pci)
{
	uint32_t self = topo_switch_of(m, pci), above;

	if (self == TOPO_NONE)
		return TOPO_NONE;
	if (self != pci)
		return m->pci[self].chip;
	above = topo_parent(m, pci);
	above = above == TOPO_NONE ? TOPO_NONE : topo_switch_of(m, above);
	if (above == TOPO_NONE)
		return pci;
	above = m->pci[above].chip;
	return topo_one_chip(topo_pci_ids(&m->pci[above]), topo_pci_ids(&m->pci[pci])) ? above
										       : pci;
}

void topo_number_chips(struct topo_machine *m)
{
	for (uint32_t i = 0; i < m->n_pci; i++)
		m->pci[i].chip = chip_of(m, i);
}

bool topo_maybe_one_chip(const struct topo_machine *m, uint32_t above, uint32_t below)
{
	const struct topo_pci *a = &m->pci[above], *b = &m->pci[below];
	bool gen4 = has_ids(a, VENDOR_BROADCOM, PEX880XX) && has_ids(b, VENDOR_BROADCOM, PEX880XX);
	bool gen5 = has_ids(a, VENDOR_BROADCOM, PEX890XX) && has_ids(b, VENDOR_BROADCOM, PEX890XX);

	/* NVIDIA's own boards have two chips: one on the board of the GPUs, one on the mainboard.
	 */
	return (gen4 || gen5) && a->chip != b->chip && a->sub_vendor == b->sub_vendor &&
	       a->sub_vendor != VENDOR_BROADCOM && a->sub_vendor != VENDOR_NVIDIA;
}

bool topo_own_bridge(const struct topo_machine *m, uint32_t bridge, uint32_t endpoint)
{
	const struct topo_pci *p = &m->pci[endpoint];

	return p->has_ids && p->vendor == VENDOR_AMD_GPU &&
	       has_ids(&m->pci[bridge], VENDOR_AMD, AMD_GPU_BRIDGE);
}

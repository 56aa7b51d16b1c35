/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pci_switch.h: switches and chips in the tree of PCI functions. Pure. Of a machine whose chips
 * aff_number_chips() has numbered.
 */
#ifndef RAILHEAD_TOPO_CORE_PCI_SWITCH_H
#define RAILHEAD_TOPO_CORE_PCI_SWITCH_H

#include "topo/core/machine.h"

/*
 * aff_number_chips - number the chips: an upstream port and the downstream ports below it are one;
 * so are two levels of a Broadcom PEX880xx (1000:c010, subsystem 1000:axxx) or PEX890xx (1000:c030,
 * subsystem 1000:0xxx above 1000:1xxx). The readers call it last.
 */
void aff_number_chips(struct aff_machine *m);

/* aff_parent - the function above; AFF_NONE at the root complex. */
uint32_t aff_parent(const struct aff_machine *m, uint32_t pci);

/* aff_switch_of - the port that stands for the switch that this one is of: its upstream port.
 * AFF_NONE: pci is no port of a switch. */
uint32_t aff_switch_of(const struct aff_machine *m, uint32_t pci);

/* aff_pci_ids - vendor and device, and those of the subsystem, 16 bits each; 0: not told. */
uint64_t aff_pci_ids(const struct aff_pci *p);

/*
 * aff_pex_generation - the generation, 4 or 5, of a switch of Broadcom's that shows two levels for
 * one chip: PEX880xx (1000:c010, subsystem 1000:axxx), PEX890xx (1000:c030, subsystem 1000:0xxx
 * above 1000:1xxx). lower: of the level below. 0: of none, also where a maker of cards put
 * subsystem ids of its own: that hides, from us and from NCCL, whether there is one chip or two.
 */
int aff_pex_generation(uint64_t ids, bool lower);
/* aff_one_chip - the ids of a level and of that right below it are those of one such switch. */
bool aff_one_chip(uint64_t upper, uint64_t lower);

/*
 * aff_maybe_one_chip - two switches of which aff_switch_of speaks, one right below the other, count
 * as two and may be one: Broadcom's silicon under the subsystem ids of another maker, the same for
 * both.
 */
bool aff_maybe_one_chip(const struct aff_machine *m, uint32_t above, uint32_t below);

/* aff_own_bridge - a switch right above a GPU that is inside the GPU's package: 1022:1500 above an
 * accelerator of AMD. */
bool aff_own_bridge(const struct aff_machine *m, uint32_t bridge, uint32_t endpoint);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pci_switch.h: switches and chips in the tree of PCI functions. Pure.
 *
 * Some Broadcom switches show two levels of ports for one chip: PEX880xx (1000:c010, subsystem
 * 1000:axxx at both levels) and PEX890xx (1000:c030, subsystem 1000:0xxx above 1000:1xxx). NCCL
 * merges the same ids in ncclTopoFlattenBcmSwitches.
 */
#ifndef RAILHEAD_TOPO_CORE_PCI_SWITCH_H
#define RAILHEAD_TOPO_CORE_PCI_SWITCH_H

#include "topo/core/machine.h"

/*
 * topo_number_chips - set `chip` of each function. An upstream port and the downstream ports below
 * it are one chip. Two levels of a PEX880xx or PEX890xx are also one chip. The readers call it
 * last; functions that count chips need it.
 */
void topo_number_chips(struct topo_machine *m);

/* topo_parent - the function above; TOPO_NONE at the root complex. */
uint32_t topo_parent(const struct topo_machine *m, uint32_t pci);

/* topo_switch_of - the upstream port of the switch that pci is a port of; it represents the switch.
 * TOPO_NONE: pci is not a port of a switch. */
uint32_t topo_switch_of(const struct topo_machine *m, uint32_t pci);

/* topo_pci_ids - vendor, device, subsystem vendor, subsystem device, 16 bits each, first one
 * highest; 0: not known. */
uint64_t topo_pci_ids(const struct topo_pci *p);

/*
 * topo_pex_generation - 4 for ids of a PEX880xx, 5 for a PEX890xx, 0 for other ids. lower: the ids
 * are compared with those of the lower level. A maker's own subsystem ids give 0, because they do
 * not show whether there is one chip or two.
 */
int topo_pex_generation(uint64_t ids, bool lower);
/* topo_one_chip - the ids of two levels, one directly below the other, are those of one chip. */
bool topo_one_chip(uint64_t upper, uint64_t lower);

/*
 * topo_maybe_one_chip - two switches, one directly below the other, that count as two chips and may
 * be one: both are PEX880xx or PEX890xx with the subsystem vendor of the same other maker.
 */
bool topo_maybe_one_chip(const struct topo_machine *m, uint32_t above, uint32_t below);

/* topo_own_bridge - the bridge is inside the GPU's package: 1022:1500 directly above an accelerator
 * of AMD (MI300, MI350). */
bool topo_own_bridge(const struct topo_machine *m, uint32_t bridge, uint32_t endpoint);

#endif

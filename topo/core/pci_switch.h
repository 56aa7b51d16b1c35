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
 * aff_number_chips - set `chip` of each function. An upstream port and the downstream ports below
 * it are one chip. Two levels of a PEX880xx or PEX890xx are also one chip. The readers call it
 * last; functions that count chips need it.
 */
void aff_number_chips(struct aff_machine *m);

/* aff_parent - the function above; AFF_NONE at the root complex. */
uint32_t aff_parent(const struct aff_machine *m, uint32_t pci);

/* aff_switch_of - the upstream port of the switch that pci is a port of; it represents the switch.
 * AFF_NONE: pci is not a port of a switch. */
uint32_t aff_switch_of(const struct aff_machine *m, uint32_t pci);

/* aff_pci_ids - vendor, device, subsystem vendor, subsystem device, 16 bits each, first one
 * highest; 0: not known. */
uint64_t aff_pci_ids(const struct aff_pci *p);

/*
 * aff_pex_generation - 4 for ids of a PEX880xx, 5 for a PEX890xx, 0 for other ids. lower: the ids
 * are compared with those of the lower level. A maker's own subsystem ids give 0, because they do
 * not show whether there is one chip or two.
 */
int aff_pex_generation(uint64_t ids, bool lower);
/* aff_one_chip - the ids of two levels, one directly below the other, are those of one chip. */
bool aff_one_chip(uint64_t upper, uint64_t lower);

/*
 * aff_maybe_one_chip - two switches, one directly below the other, that count as two chips and may
 * be one: both are PEX880xx or PEX890xx with the subsystem vendor of the same other maker.
 */
bool aff_maybe_one_chip(const struct aff_machine *m, uint32_t above, uint32_t below);

/* aff_own_bridge - the bridge is inside the GPU's package: 1022:1500 directly above an accelerator
 * of AMD (MI300, MI350). */
bool aff_own_bridge(const struct aff_machine *m, uint32_t bridge, uint32_t endpoint);

#endif

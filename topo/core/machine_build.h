/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_build.h: functions with which a reader, or a test, builds a machine.
 */
#ifndef RAILHEAD_TOPO_CORE_MACHINE_BUILD_H
#define RAILHEAD_TOPO_CORE_MACHINE_BUILD_H

#include "topo/core/machine.h"

/*
 * topo_add_* - append a record whose values are all "not known"; *out is its index. ERR_FIELD: the
 * array is full (65536 functions, 8192 HCAs, 1024 of each other kind), or a name is too long.
 * topo_add_note keeps the first 255 notes, then one that says that more notes are left out.
 */
int topo_add_pci(struct topo_machine *m, struct pci_addr a, uint32_t *out,
		 struct err *e) must_check;
int topo_add_root(struct topo_machine *m, const char *name, uint32_t *out,
		  struct err *e) must_check;
int topo_add_cpu(struct topo_machine *m, int numa, uint32_t *out, struct err *e) must_check;
int topo_add_gpu(struct topo_machine *m, uint32_t pci, uint32_t *out, struct err *e) must_check;
int topo_add_hca(struct topo_machine *m, const char *name, uint32_t *out, struct err *e) must_check;
int topo_add_port(struct topo_hca *h, uint32_t port, struct err *e) must_check;
int topo_add_nvlink(struct topo_gpu *g, const struct topo_nvlink *l, struct err *e) must_check;
int topo_add_note(struct topo_machine *m, struct err *e, const char *fmt, ...)
	printf_like(3, 4) must_check;

/* topo_sort - sort GPUs and HCAs by PCI address and number the GPUs; for machines from sysfs. */
void topo_sort(struct topo_machine *m);

/* topo_number_cards - set `card` of each HCA; call it after topo_sort(). HCAs with the same GUID
 * are one card. Without a GUID, functions of one vendor with the same bus and device are one card.
 */
int topo_number_cards(struct topo_machine *m, struct err *e) must_check;

/* topo_vendor_of - the maker of an accelerator, by its PCI vendor id. *on_package: accelerators of
 * this vendor have RDMA ports on their own package. */
enum topo_vendor topo_vendor_of(const struct topo_pci *p, bool *on_package);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_build.h: how a reader, or a test, puts a machine together.
 */
#ifndef RAILHEAD_TOPO_CORE_MACHINE_BUILD_H
#define RAILHEAD_TOPO_CORE_MACHINE_BUILD_H

#include "topo/core/machine.h"

/*
 * aff_add_* - a new record at the end of its array, all fields "not told", and its index. -1 only
 * when memory ends, or at the bound: 65536 functions, 8192 HCAs, 1024 of everything else
 * (ERR_FIELD). Of notes the first 255 are kept, and one that tells there were more.
 */
int aff_add_pci(struct aff_machine *m, struct pci_addr a, uint32_t *out, struct err *e) must_check;
int aff_add_root(struct aff_machine *m, const char *name, uint32_t *out, struct err *e) must_check;
int aff_add_cpu(struct aff_machine *m, int numa, uint32_t *out, struct err *e) must_check;
int aff_add_gpu(struct aff_machine *m, uint32_t pci, uint32_t *out, struct err *e) must_check;
int aff_add_hca(struct aff_machine *m, const char *name, uint32_t *out, struct err *e) must_check;
int aff_add_port(struct aff_hca *h, uint32_t port, struct err *e) must_check;
int aff_add_nvlink(struct aff_gpu *g, const struct aff_nvlink *l, struct err *e) must_check;
int aff_add_note(struct aff_machine *m, struct err *e, const char *fmt, ...)
	printf_like(3, 4) must_check;

/* aff_sort - GPUs and HCAs into the order that machine.h says, GPUs numbered; for a tree. */
void aff_sort(struct aff_machine *m);

/* aff_number_cards - number the cards, when the HCAs are in their order: one are those with the
 * same GUID; where one has none, those of the same device of one bus and vendor. */
int aff_number_cards(struct aff_machine *m, struct err *e) must_check;

/* aff_vendor_of - by vendor and device id. on_package: its RDMA ports are its own. */
enum aff_vendor aff_vendor_of(const struct aff_pci *p, bool *on_package);

#endif

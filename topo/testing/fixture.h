/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture.h: for tests, machines as sysfs shows them, put together port by port. Everything
 * fails the test if it cannot.
 */
#ifndef RAILHEAD_TOPO_TESTING_FIXTURE_H
#define RAILHEAD_TOPO_TESTING_FIXTURE_H

#include "topo/core/machine.h"

struct fixture {
	struct topo_machine *m;
	uint32_t root; /* where fixture_port() puts root ports */
	int numa;      /* of that root complex, and so of all below */
	uint8_t bus;   /* of the next bridge's other side */
};

/* Four ids of a function. */
struct fixture_ids {
	uint16_t vendor, device, sub_vendor, sub_device;
};
extern const struct fixture_ids fixture_plain; /* a switch of no special kind */
extern const struct fixture_ids fixture_gen4;  /* PEX880xx, both levels */
extern const struct fixture_ids fixture_gen5_upper, fixture_gen5_lower;
extern const struct fixture_ids fixture_dgx; /* the switch on the GPUs' board of a DGX A100 */
extern const struct fixture_ids fixture_amd; /* the bridge of an MI300 */

/* fixture_root - a root complex of its own, on NUMA node numa (-1: not known). */
void fixture_root(struct fixture *fx, int numa);
/* fixture_port - a root port; fixture_switch, fixture_down - upstream port below a port, downstream
 * port below an upstream one. All links x16 of the fifth generation. */
uint32_t fixture_port(struct fixture *fx);
uint32_t fixture_switch(struct fixture *fx, uint32_t below, const struct fixture_ids *ids);
uint32_t fixture_down(struct fixture *fx, uint32_t upstream);
/* fixture_slot - a whole switch: upstream port and one downstream port; returns that. */
uint32_t fixture_slot(struct fixture *fx, uint32_t below, const struct fixture_ids *ids);

/* fixture_fn - an endpoint below a port, device 0. fixture_gpu, fixture_hca - with a GPU, an HCA of
 * one ACTIVE port (vendor 10de, 15b3); return their number. below TOPO_NONE: at the root complex.
 */
uint32_t fixture_fn(struct fixture *fx, uint32_t below, uint8_t fn, const struct fixture_ids *ids);
uint32_t fixture_gpu(struct fixture *fx, uint32_t below);
uint32_t fixture_hca(struct fixture *fx, uint32_t below, const char *name);
/* fixture_hca_fn - one more function of the card that is there. */
uint32_t fixture_hca_fn(struct fixture *fx, uint32_t hca, uint8_t fn, const char *name);
/* fixture_vf - VF number n of an HCA's function; name NULL: without an RDMA device. Returns the
 * function. */
uint32_t fixture_vf(struct fixture *fx, uint32_t hca, uint8_t n, const char *name);

/*
 * The computers of testdata/matrix, built by what is published of them; fixture_done() included.
 * DGX A100: two GPUs and two HCAs on a PEX88096 of two levels, GPUs behind one more switch, on each
 * of four nodes of eight. DGX H100: a GPU and an HCA on a PEX89000 of two levels for itself, whose
 * HCAs' nodes are not known. HGX H200: the same of one level, and a bond. PCIe: four GPUs, four
 * nodes, one HCA.
 */
void fixture_dgx_a100(struct topo_machine *m);
void fixture_dgx_h100(struct topo_machine *m);
void fixture_hgx_h200(struct topo_machine *m);
void fixture_pcie4(struct topo_machine *m);

/* fixture_done - as the readers end. */
void fixture_done(struct fixture *fx);

#endif

// SPDX-License-Identifier: Apache-2.0
/* Builds machines port by port, as a reader of sysfs would. */
#include "topo/testing/fixture.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "topo/core/machine_build.h"
#include "topo/core/pci_switch.h"

const struct fixture_ids fixture_plain = { 0x104c, 0x8232, 0, 0 };
const struct fixture_ids fixture_gen4 = { 0x1000, 0xc010, 0x1000, 0xa096 };
const struct fixture_ids fixture_gen5_upper = { 0x1000, 0xc030, 0x1000, 0x0072 };
const struct fixture_ids fixture_gen5_lower = { 0x1000, 0xc030, 0x1000, 0x1003 };
const struct fixture_ids fixture_dgx = { 0x1000, 0xc010, 0x10de, 0x13b8 };
const struct fixture_ids fixture_amd = { 0x1022, 0x1500, 0x1022, 0x1500 };
static const struct fixture_ids root_port = { 0x8086, 0x352a, 0x8086, 0 };
static const struct fixture_ids h100 = { 0x10de, 0x2330, 0x10de, 0x16c1 };
static const struct fixture_ids connectx = { 0x15b3, 0x1021, 0x15b3, 0x0038 };

static void check(int rc, const struct err *e)
{
	if (rc)
		ck_abort_msg("%s", e->msg);
}

static uint32_t cpu_of(struct fixture *y, int numa)
{
	struct err e = { 0 };
	uint32_t cpu;

	for (uint32_t i = 0; i < y->m->n_cpus; i++) {
		if (y->m->cpu[i].numa == numa)
			return i;
	}
	check(topo_add_cpu(y->m, numa, &cpu, &e), &e);
	return cpu;
}

void fixture_root(struct fixture *y, int numa)
{
	struct err e = { 0 };
	char name[PCI_ROOT_LEN];

	(void)snprintf(name, sizeof(name), "pci0000:%02x", y->bus);
	check(topo_add_root(y->m, name, &y->root, &e), &e);
	y->m->root[y->root].cpu = cpu_of(y, numa);
	y->numa = numa;
	y->bus++;
}

static uint32_t add(struct fixture *y, struct pci_addr a, uint32_t parent,
		    const struct fixture_ids *ids)
{
	struct err e = { 0 };
	uint32_t i;

	check(topo_add_pci(y->m, a, &i, &e), &e);
	struct topo_pci *p = &y->m->pci[i];
	p->parent = parent;
	p->root = parent == TOPO_NONE ? y->root : y->m->pci[parent].root;
	p->has_ids = true;
	p->vendor = ids->vendor;
	p->device = ids->device;
	p->sub_vendor = ids->sub_vendor;
	p->sub_device = ids->sub_device;
	p->numa = parent == TOPO_NONE ? y->numa : y->m->pci[parent].numa;
	p->max = p->cur = (struct topo_pcie_link){ 240, 16 };
	return i;
}

static uint32_t bridge(struct fixture *y, uint32_t parent, const struct fixture_ids *ids,
		       enum topo_kind kind)
{
	uint32_t i = add(y, (struct pci_addr){ 0, y->bus++, 0, 0 }, parent, ids);

	y->m->pci[i].kind = kind;
	y->m->pci[i].has_class = true;
	y->m->pci[i].class_code = 0x060400;
	if (kind != TOPO_UPSTREAM)
		y->m->pci[i].max = y->m->pci[i].cur = (struct topo_pcie_link){ 0, 0 };
	return i;
}

uint32_t fixture_port(struct fixture *y)
{
	return bridge(y, TOPO_NONE, &root_port, TOPO_ROOT_PORT);
}

uint32_t fixture_switch(struct fixture *y, uint32_t below, const struct fixture_ids *ids)
{
	return bridge(y, below, ids, TOPO_UPSTREAM);
}

uint32_t fixture_down(struct fixture *y, uint32_t upstream)
{
	const struct topo_pci *up = &y->m->pci[upstream];
	struct fixture_ids ids = { up->vendor, up->device, up->sub_vendor, up->sub_device };

	return bridge(y, upstream, &ids, TOPO_DOWNSTREAM);
}

uint32_t fixture_slot(struct fixture *y, uint32_t below, const struct fixture_ids *ids)
{
	return fixture_down(y, fixture_switch(y, below, ids));
}

uint32_t fixture_fn(struct fixture *y, uint32_t below, uint8_t fn, const struct fixture_ids *ids)
{
	return add(y, (struct pci_addr){ 0, y->bus++, 0, fn }, below, ids);
}

uint32_t fixture_gpu(struct fixture *y, uint32_t below)
{
	uint32_t pci = fixture_fn(y, below, 0, &h100), gpu;
	struct err e = { 0 };

	y->m->pci[pci].has_class = true;
	y->m->pci[pci].class_code = 0x030200;
	check(topo_add_gpu(y->m, pci, &gpu, &e), &e);
	y->m->gpu[gpu].vendor = TOPO_NVIDIA;
	return gpu;
}

static uint32_t hca_of(struct fixture *y, uint32_t pci, const char *name)
{
	struct err e = { 0 };
	uint32_t hca;

	check(topo_add_hca(y->m, name, &hca, &e), &e);
	y->m->hca[hca].pci = pci;
	check(topo_add_port(&y->m->hca[hca], 1, &e), &e);
	y->m->hca[hca].port[0].active = TOPO_YES;
	return hca;
}

uint32_t fixture_hca(struct fixture *y, uint32_t below, const char *name)
{
	return hca_of(y, fixture_fn(y, below, 0, &connectx), name);
}

uint32_t fixture_hca_fn(struct fixture *y, uint32_t hca, uint8_t fn, const char *name)
{
	const struct topo_pci *p = &y->m->pci[y->m->hca[hca].pci];
	struct pci_addr a = { p->addr.domain, p->addr.bus, p->addr.dev, fn };

	return hca_of(y, add(y, a, p->parent, &connectx), name);
}

uint32_t fixture_vf(struct fixture *y, uint32_t hca, uint8_t n, const char *name)
{
	uint32_t pf = y->m->hca[hca].pci, vf;
	struct pci_addr a = y->m->pci[pf].addr;

	a.dev = (uint8_t)(1 + n / 8);
	a.fn = n % 8;
	vf = add(y, a, y->m->pci[pf].parent, &connectx);
	y->m->pci[vf].is_vf = true;
	y->m->pci[vf].physfn = pf;
	y->m->pci[vf].max = y->m->pci[vf].cur = (struct topo_pcie_link){ 0, 0 };
	if (name) {
		uint32_t i = hca_of(y, vf, name);
		y->m->hca[i].kind = TOPO_HCA_VF;
	}
	return vf;
}

void fixture_done(struct fixture *y)
{
	struct err e = { 0 };

	topo_sort(y->m);
	check(topo_number_cards(y->m, &e), &e);
	topo_number_chips(y->m);
}

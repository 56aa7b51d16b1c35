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

static uint32_t cpu_of(struct fixture *fx, int numa)
{
	struct err e = { 0 };
	uint32_t cpu;

	for (uint32_t i = 0; i < fx->m->n_cpus; i++) {
		if (fx->m->cpu[i].numa == numa)
			return i;
	}
	check(topo_add_cpu(fx->m, numa, &cpu, &e), &e);
	return cpu;
}

void fixture_root(struct fixture *fx, int numa)
{
	struct err e = { 0 };
	char name[PCI_ROOT_LEN];

	(void)snprintf(name, sizeof(name), "pci0000:%02x", fx->bus);
	check(topo_add_root(fx->m, name, &fx->root, &e), &e);
	fx->m->root[fx->root].cpu = cpu_of(fx, numa);
	fx->numa = numa;
	fx->bus++;
}

static uint32_t add(struct fixture *fx, struct pci_addr a, uint32_t parent,
		    const struct fixture_ids *ids)
{
	struct err e = { 0 };
	uint32_t i;

	check(topo_add_pci(fx->m, a, &i, &e), &e);
	struct topo_pci *p = &fx->m->pci[i];
	p->parent = parent;
	p->root = parent == TOPO_NONE ? fx->root : fx->m->pci[parent].root;
	p->has_ids = true;
	p->vendor = ids->vendor;
	p->device = ids->device;
	p->sub_vendor = ids->sub_vendor;
	p->sub_device = ids->sub_device;
	p->numa = parent == TOPO_NONE ? fx->numa : fx->m->pci[parent].numa;
	p->max = p->cur = (struct topo_pcie_link){ 240, 16 };
	return i;
}

static uint32_t bridge(struct fixture *fx, uint32_t parent, const struct fixture_ids *ids,
		       enum topo_kind kind)
{
	uint32_t i = add(fx, (struct pci_addr){ 0, fx->bus++, 0, 0 }, parent, ids);

	fx->m->pci[i].kind = kind;
	fx->m->pci[i].has_class = true;
	fx->m->pci[i].class_code = 0x060400;
	if (kind != TOPO_UPSTREAM)
		fx->m->pci[i].max = fx->m->pci[i].cur = (struct topo_pcie_link){ 0, 0 };
	return i;
}

uint32_t fixture_port(struct fixture *fx)
{
	return bridge(fx, TOPO_NONE, &root_port, TOPO_ROOT_PORT);
}

uint32_t fixture_switch(struct fixture *fx, uint32_t below, const struct fixture_ids *ids)
{
	return bridge(fx, below, ids, TOPO_UPSTREAM);
}

uint32_t fixture_down(struct fixture *fx, uint32_t upstream)
{
	const struct topo_pci *up = &fx->m->pci[upstream];
	struct fixture_ids ids = { up->vendor, up->device, up->sub_vendor, up->sub_device };

	return bridge(fx, upstream, &ids, TOPO_DOWNSTREAM);
}

uint32_t fixture_slot(struct fixture *fx, uint32_t below, const struct fixture_ids *ids)
{
	return fixture_down(fx, fixture_switch(fx, below, ids));
}

uint32_t fixture_fn(struct fixture *fx, uint32_t below, uint8_t fn, const struct fixture_ids *ids)
{
	return add(fx, (struct pci_addr){ 0, fx->bus++, 0, fn }, below, ids);
}

uint32_t fixture_gpu(struct fixture *fx, uint32_t below)
{
	uint32_t pci = fixture_fn(fx, below, 0, &h100), gpu;
	struct err e = { 0 };

	fx->m->pci[pci].has_class = true;
	fx->m->pci[pci].class_code = 0x030200;
	check(topo_add_gpu(fx->m, pci, &gpu, &e), &e);
	fx->m->gpu[gpu].vendor = TOPO_NVIDIA;
	return gpu;
}

static uint32_t hca_of(struct fixture *fx, uint32_t pci, const char *name)
{
	struct err e = { 0 };
	uint32_t hca;

	check(topo_add_hca(fx->m, name, &hca, &e), &e);
	fx->m->hca[hca].pci = pci;
	check(topo_add_port(&fx->m->hca[hca], 1, &e), &e);
	fx->m->hca[hca].port[0].active = TOPO_YES;
	return hca;
}

uint32_t fixture_hca(struct fixture *fx, uint32_t below, const char *name)
{
	return hca_of(fx, fixture_fn(fx, below, 0, &connectx), name);
}

uint32_t fixture_hca_fn(struct fixture *fx, uint32_t hca, uint8_t fn, const char *name)
{
	const struct topo_pci *p = &fx->m->pci[fx->m->hca[hca].pci];
	struct pci_addr a = { p->addr.domain, p->addr.bus, p->addr.dev, fn };

	return hca_of(fx, add(fx, a, p->parent, &connectx), name);
}

uint32_t fixture_vf(struct fixture *fx, uint32_t hca, uint8_t n, const char *name)
{
	uint32_t pf = fx->m->hca[hca].pci, vf;
	struct pci_addr a = fx->m->pci[pf].addr;

	a.dev = (uint8_t)(1 + n / 8);
	a.fn = n % 8;
	vf = add(fx, a, fx->m->pci[pf].parent, &connectx);
	fx->m->pci[vf].is_vf = true;
	fx->m->pci[vf].physfn = pf;
	fx->m->pci[vf].max = fx->m->pci[vf].cur = (struct topo_pcie_link){ 0, 0 };
	if (name) {
		uint32_t i = hca_of(fx, vf, name);
		fx->m->hca[i].kind = TOPO_HCA_VF;
	}
	return vf;
}

void fixture_done(struct fixture *fx)
{
	struct err e = { 0 };

	topo_sort(fx->m);
	check(topo_number_cards(fx->m, &e), &e);
	topo_number_chips(fx->m);
}

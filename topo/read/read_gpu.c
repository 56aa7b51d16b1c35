// SPDX-License-Identifier: Apache-2.0
/*
 * Which functions are GPUs and other accelerators, by vendor and class. A display controller alone
 * is none: every server has one in its management processor.
 */
#include "topo/read/tree.h"

#define ANY 0xffff

/* Vendor, class, and the devices from..to. The Xeon Phi shares its class with crypto processors. */
static const struct {
	uint16_t vendor, class, from, to;
} accelerators[] = {
	{ 0x10de, 0x0300, 0, ANY },         { 0x10de, 0x0302, 0, ANY }, /* NVIDIA */
	{ 0x1002, 0x0300, 0, ANY },         { 0x1002, 0x0380, 0, ANY }, /* AMD, to MI200 */
	{ 0x1002, 0x1200, 0, ANY },                                     /* AMD, from MI300 */
	{ 0x1da3, 0x1200, 0, ANY },                                     /* Intel Gaudi */
	{ 0x19e5, 0x1200, 0, ANY },                                     /* Huawei Ascend */
	{ 0x1bcf, 0x0b40, 0, ANY },                                     /* NEC Vector Engine */
	{ 0x8086, 0x0b40, 0x2250, 0x225f },                             /* Intel Xeon Phi */
};

/* Of AMD's VGAs those that sit on a server's management processor: Rage XL, ES1000. */
static bool is_management_vga(const struct aff_pci *p)
{
	return p->vendor == 0x1002 &&
	       (p->device == 0x4752 || p->device == 0x515e || p->device == 0x5969);
}

/* Other makers': what is no VGA and lies below a PCIe switch was put there to compute. */
static bool is_below_switch(const struct aff_machine *m, const struct aff_pci *p)
{
	for (uint32_t up = p->parent; up != AFF_NONE; up = m->pci[up].parent) {
		if (m->pci[up].kind == AFF_UPSTREAM)
			return true;
	}
	return false;
}

static bool is_gpu(const struct tree *t, const struct aff_pci *p)
{
	uint32_t class = p->class_code >> 8;

	/* A slice of a GPU, made for a virtual machine: the GPU itself is here. */
	if (!p->has_class || p->physfn != AFF_NONE)
		return false;
	if (tree_asked_for(p, t->opts))
		return true;
	for (size_t i = 0; p->has_ids && i < ARRAY_SIZE(accelerators); i++) {
		if (p->vendor == accelerators[i].vendor && class == accelerators[i].class &&
		    p->device >= accelerators[i].from && p->device <= accelerators[i].to)
			return !is_management_vga(p);
	}
	return (class == 0x0302 || class == 0x0380) && is_below_switch(t->m, p);
}

int tree_gpus(struct tree *t, struct err *e)
{
	struct aff_machine *m = t->m;
	uint32_t gpu;

	for (uint32_t i = 0; i < m->n_pci; i++) {
		if (!is_gpu(t, &m->pci[i]))
			continue;
		if (aff_add_gpu(m, i, &gpu, e))
			return -1;
		struct aff_gpu *g = &m->gpu[gpu];
		g->vendor = aff_vendor_of(&m->pci[i], &g->on_package);
	}
	return 0;
}

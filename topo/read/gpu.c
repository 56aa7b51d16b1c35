// SPDX-License-Identifier: Apache-2.0
/*
 * Finds GPUs and other accelerators by vendor and class. A display controller of another vendor is
 * not a GPU, because every server has one in its management processor.
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

/* VGAs of AMD on the management processor of a server: Rage XL, ES1000. */
static bool is_management_vga(const struct topo_pci *p)
{
	return p->vendor == 0x1002 &&
	       (p->device == 0x4752 || p->device == 0x515e || p->device == 0x5969);
}

static bool read_is_gpu(const struct tree *t, const struct topo_pci *p)
{
	uint32_t class = p->class_code >> 8;

	/* A VF is a slice of a GPU for a virtual machine; its PF is the GPU. */
	if (!p->has_class || p->physfn != TOPO_NONE)
		return false;
	if (tree_asked_for(p, t->opts))
		return true;
	for (size_t i = 0; p->has_ids && i < ARRAY_SIZE(accelerators); i++) {
		if (p->vendor == accelerators[i].vendor && class == accelerators[i].class &&
		    p->device >= accelerators[i].from && p->device <= accelerators[i].to)
			return !is_management_vga(p);
	}
	/* Another vendor's 3D or display controller counts if it is below a PCIe switch. */
	if (class != 0x0302 && class != 0x0380)
		return false;
	for (uint32_t up = p->parent; up != TOPO_NONE; up = t->m->pci[up].parent) {
		if (t->m->pci[up].kind == TOPO_UPSTREAM)
			return true;
	}
	return false;
}

int tree_gpus(struct tree *t, struct err *e)
{
	struct topo_machine *m = t->m;
	uint32_t gpu;

	for (uint32_t i = 0; i < m->n_pci; i++) {
		if (!read_is_gpu(t, &m->pci[i]))
			continue;
		if (topo_add_gpu(m, i, &gpu, e))
			return -1;
		struct topo_gpu *g = &m->gpu[gpu];
		g->vendor = topo_vendor_of(&m->pci[i], &g->on_package);
	}
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * VFs. A PF tells where they are (sriov_offset, sriov_stride: PCI Express base specification
 * 9.2.1.2), so that of hundreds that are alike only the first is read: their ids stand in the PF's
 * capability, once for all.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "topo/read/tree.h"

#define VFS_MAX 65535

static struct pci_addr address_of(uint32_t domain, uint32_t number)
{
	return (struct pci_addr){ domain, (uint8_t)(number >> 8), number >> 3 & 31, number & 7 };
}

const struct tree_vfs *tree_vf_of(const struct tree *t, struct pci_addr a)
{
	uint32_t n = pci_routing_id(a);

	/* Those of the PF that was read last are looked for first: they come behind it. */
	for (size_t i = t->n_vfs; i-- > 0;) {
		const struct tree_vfs *v = &t->vfs[i];
		uint32_t first = pci_routing_id(v->first);
		if (v->first.domain == a.domain && n >= first && (n - first) % v->stride == 0 &&
		    (n - first) / v->stride < v->n)
			return v;
	}
	return NULL;
}

#define FUNCTIONS_MAX (1u << 24)

static int add_vf(struct tree *t, const struct tree_vfs *v, struct err *e)
{
	if (ARRAY_GROW(t->vfs, t->n_vfs, FUNCTIONS_MAX, "VFs", e))
		return -1;
	t->vfs[t->n_vfs++] = *v;
	return 0;
}

/* "../0000:25:00.0": only the name counts. */
static bool link_to(const struct tree *t, struct tree_path *p, const char *name,
		    struct pci_addr *out)
{
	char path[TREE_PATH];

	return tree_link(t->fd, "x/x", tree_at(p, name), path) == TREE_LINK &&
	       tree_is_function(tree_last_name(path), out);
}

/* By offset and stride, when the first link agrees; else by all links. */
static int add_vfs(struct tree *t, struct tree_path *p, uint32_t pf, uint32_t n, struct err *e)
{
	struct pci_addr a = t->m->pci[pf].addr, vf;
	struct tree_vfs v = { .n = n, .stride = 1, .pf = pf, .like = AFF_NONE };
	int offset = 0, stride = 0;
	char name[24];

	(void)tree_number(t->fd, tree_at(p, "sriov_offset"), &offset);
	(void)tree_number(t->fd, tree_at(p, "sriov_stride"), &stride);
	v.first = address_of(a.domain, (pci_routing_id(a) + (uint32_t)offset) & 0xffff);
	v.stride = stride > 0 ? (uint32_t)stride : 1;
	if (offset > 0 && (stride > 0 || n == 1) && link_to(t, p, "virtfn0", &vf) &&
	    vf.domain == v.first.domain && pci_routing_id(vf) == pci_routing_id(v.first))
		return add_vf(t, &v, e);
	for (uint32_t i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "virtfn%u", i);
		if (!link_to(t, p, name, &v.first))
			return 0;
		v.n = v.stride = 1;
		if (add_vf(t, &v, e))
			return -1;
	}
	return 0;
}

static int add_physfn(struct tree *t, uint32_t vf, struct pci_addr pf, struct err *e)
{
	t->m->pci[vf].is_vf = true;
	if (ARRAY_GROW(t->physfn, t->n_physfns, FUNCTIONS_MAX, "VFs", e))
		return -1;
	t->physfn[t->n_physfns++] = (struct tree_place){ pf, vf };
	return 0;
}

int tree_sriov(struct tree *t, struct tree_path *p, uint32_t pci, struct err *e)
{
	struct tree_vfs *v = (struct tree_vfs *)tree_vf_of(t, t->m->pci[pci].addr);
	struct pci_addr pf;
	int n = 0;

	if (t->m->pci[pci].class_code >> 8 == 0x0604)
		return 0;
	if (v) { /* the first of them: the others are made as this one */
		v->like = pci;
		t->m->pci[pci].is_vf = true;
		t->m->pci[pci].physfn = v->pf;
		return 0;
	}
	if (link_to(t, p, "physfn", &pf))
		return add_physfn(t, pci, pf, e);
	if (tree_number(t->fd, tree_at(p, "sriov_numvfs"), &n) || n <= 0 || n > VFS_MAX)
		return 0;
	return add_vfs(t, p, pci, (uint32_t)n, e);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * VFs. Their addresses follow from sriov_offset and sriov_stride of the PF (PCI Express base
 * specification 9.2.1.2). All VFs of a PF have the same ids, so that only the first is read.
 */
#include <stdio.h>

#include "lib/base/array.h"
#include "topo/read/tree.h"

#define VFS_MAX 65535

const struct tree_vfs *tree_vf_of(const struct tree *t, struct pci_addr a)
{
	uint32_t n = pci_routing_id(a);

	/* VFs come directly after their PF, so start with the PF that was read last. */
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

static int read_add_vf(struct tree *t, const struct tree_vfs *v, struct err *e)
{
	return ARRAY_PUSH(t->vfs, t->n_vfs, FUNCTIONS_MAX, "VFs", *v, e);
}

/* The address that a link such as "../0000:25:00.0" names. */
static bool link_to(const struct tree *t, struct tree_path *p, const char *name,
		    struct pci_addr *out)
{
	char path[TREE_PATH];

	return tree_link(t->fd, "x/x", tree_at(p, name), path) == TREE_LINK &&
	       tree_is_function(tree_last_name(path), out);
}

/* Store the VFs of a PF: by offset and stride if virtfn0 agrees, else each link virtfnN. */
static int vf_add_vfs(struct tree *t, struct tree_path *p, uint32_t pf, uint32_t n, struct err *e)
{
	struct pci_addr a = t->m->pci[pf].addr, vf;
	struct tree_vfs v = { .n = n, .stride = 1, .pf = pf, .like = TOPO_NONE };
	int offset = 0, stride = 0;
	char name[24];

	(void)tree_number(t->fd, tree_at(p, "sriov_offset"), &offset);
	(void)tree_number(t->fd, tree_at(p, "sriov_stride"), &stride);
	uint32_t id = (pci_routing_id(a) + (uint32_t)offset) & 0xffff;
	v.first = (struct pci_addr){ a.domain, (uint8_t)(id >> 8), id >> 3 & 31, id & 7 };
	v.stride = stride > 0 ? (uint32_t)stride : 1;
	if (offset > 0 && (stride > 0 || n == 1) && link_to(t, p, "virtfn0", &vf) &&
	    vf.domain == v.first.domain && pci_routing_id(vf) == pci_routing_id(v.first))
		return read_add_vf(t, &v, e);
	for (uint32_t i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "virtfn%u", i);
		if (!link_to(t, p, name, &v.first))
			return 0;
		v.n = v.stride = 1;
		if (read_add_vf(t, &v, e))
			return -1;
	}
	return 0;
}

int tree_sriov(struct tree *t, struct tree_path *p, uint32_t pci, struct err *e)
{
	struct tree_vfs *v = (struct tree_vfs *)tree_vf_of(t, t->m->pci[pci].addr);
	struct pci_addr pf;
	int n = 0;

	if (t->m->pci[pci].class_code >> 8 == 0x0604)
		return 0;
	if (v) { /* the first of these VFs that is read; add_vf() of walk.c copies it */
		v->like = pci;
		t->m->pci[pci].is_vf = true;
		t->m->pci[pci].physfn = v->pf;
		return 0;
	}
	if (link_to(t, p, "physfn", &pf)) {
		if (ARRAY_GROW(t->physfn, t->n_physfns, FUNCTIONS_MAX, "VFs", e))
			return -1;
		t->m->pci[pci].is_vf = true;
		t->physfn[t->n_physfns++] = (struct tree_place){ pf, pci };
		return 0;
	}
	if (tree_number(t->fd, tree_at(p, "sriov_numvfs"), &n) || n <= 0 || n > VFS_MAX)
		return 0;
	return vf_add_vfs(t, p, pci, (uint32_t)n, e);
}

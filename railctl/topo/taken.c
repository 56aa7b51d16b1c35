/* SPDX-License-Identifier: Apache-2.0 */
/* taken.c: the VFs that no pod can take now, for a plan of this machine. */
#include <stdlib.h>

#include "railctl/topo/topo.h"
#include "sriov/choose/inventory.h"

static bool topo_is_taken(const struct vf_view *v)
{
	return v->use == VF_IN_USE || v->use == VF_TAKEN || v->use == VF_PEER_GONE ||
	       v->use == VF_OTHER_NETNS || v->use == VF_DAMAGED;
}

static void mark_taken(const struct topo_machine *m, const struct vf_view *v, bool *taken)
{
	struct pci_addr a;

	if (!topo_is_taken(v) || pci_parse(v->addr, &a))
		return;
	uint32_t i = topo_find_pci(m, a);
	if (i != TOPO_NONE)
		taken[i] = true;
}

int topo_taken(struct cmd_run *r, const struct topo *t, bool **out, struct err *e)
{
	auto_inventory struct inventory all = { 0 };
	auto_nl struct nl *nl = NULL;
	auto_free bool *taken = NULL;

	if (t->m.source != TOPO_LIVE)
		return 0;
	if (nl_open(&nl, e) || inventory_read(&r->ctx, nl, &all, e)) {
		err_wrap(e, "which VFs are taken");
		return -1;
	}
	taken = calloc(t->m.n_pci + 1, sizeof(*taken));
	if (!taken)
		return err_nomem(e);
	for (size_t i = 0; i < all.n_pfs; i++) {
		for (size_t k = 0; k < all.pf[i].n_vfs; k++)
			mark_taken(&t->m, &all.pf[i].vf[k], taken);
	}
	*out = TAKE_PTR(taken);
	return 0;
}

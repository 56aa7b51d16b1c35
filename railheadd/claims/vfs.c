/* SPDX-License-Identifier: Apache-2.0 */
/* vfs.c: looks at the VFs of rails. */
#include "railheadd/claims/vfs.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/rdma/bus.h"
#include "railheadd/devices/rail_network.h"
#include "sriov/choose/inventory.h"
#include "sriov/vf/guid.h"

#define VFS_MAX (RAIL_LIST_MAX * 65536)

/* claim_uid NULL: any claim may have it. */
static int vfs_check(const struct vf_view *v, const char *claim_uid, struct err *e)
{
	const struct record_key *owner = &v->entry.owner.key;
	struct vf_place p = { .pf = "" };

	memcpy(p.vf, v->addr, sizeof(p.vf));
	memcpy(p.name, v->netdev.name, sizeof(p.name));
	memcpy(p.driver, v->pci.driver, sizeof(p.driver));
	if (v->use == VF_OWNER_GONE ||
	    (v->use == VF_IN_USE && strcmp(owner->network, CLAIM_NETWORK) == 0 &&
	     (!claim_uid || strcmp(owner->container, claim_uid) == 0)))
		return 0;
	if (v->use == VF_IN_USE)
		return err_set(e, ERR_BUSY, 0, "VF %s belongs to container %s (network %s, %s)",
			       v->addr, owner->container, owner->network, owner->ifname);
	if (v->use == VF_TAKEN)
		return err_set(e, ERR_STATE, 0, "VF %s is in use: it %s", v->addr, v->why);
	if (v->use == VF_UNREPAIRED && v->entry.has_left && v->entry.to_restore & VF_ISOLATES)
		return err_set(e, ERR_STATE, 0, "VF %s: %s", v->addr, v->why);
	if (vf_has_userspace_driver(&p))
		return err_set(e, ERR_STATE, 0,
			       "VF %s has the driver %s, and so no network interface", v->addr,
			       v->pci.driver);
	return vf_check_usable(&p, e);
}

/* ---- for slices ---- */

/* A VF whose interface came back between two steps of a look is looked at once more. */
static int vfs_add(const struct ctx *ctx, struct nl *nl, const struct vf_view *v,
		   struct slices_facts *f, struct err *e)
{
	auto_vf_view struct vf_view again = { .addr = "" };
	struct err why;

	if (vfs_check(v, NULL, &why)) {
		if (v->use != VF_OTHER_NETNS || inventory_vf(ctx, nl, v->addr, &again, &why) ||
		    vfs_check(&again, NULL, &why))
			return 0;
	}
	if (ARRAY_GROW(f->vf, f->n_vfs, VFS_MAX, "VFs", e))
		return -1;
	struct slices_vf *to = &f->vf[f->n_vfs++];

	*to = (struct slices_vf){ .index = v->index };
	memcpy(to->pci, v->addr, sizeof(to->pci));
	/* An RDMA device that is in a pod comes back under its name. */
	(void)snprintf(to->hca, sizeof(to->hca), "%s",
		       *v->rdma ? v->rdma : v->entry.owner.rdma.name);
	return 0;
}

static int vfs_read_rail(const struct ctx *ctx, struct nl *nl, size_t rail, struct slices_facts *f,
			 struct err *e)
{
	auto_pf_view struct pf_view pf = { .addr = "" };
	const size_t first = f->n_vfs;
	struct err why;

	/* Two ports of one function have the same VFs. */
	for (size_t i = 0; i < rail; i++) {
		if (strcmp(f->rail[i].pci, f->rail[rail].pci) == 0)
			return 0;
	}
	if (inventory_pf(ctx, nl, f->rail[rail].pci, &pf, &why))
		return why.code == ERR_NOTFOUND ? 0 : err_pass(e, &why);
	for (size_t i = 0; i < pf.n_vfs; i++) {
		if (vfs_add(ctx, nl, &pf.vf[i], f, e))
			return -1;
	}
	for (size_t i = first; i < f->n_vfs; i++)
		f->vf[i].rail = rail;
	return 0;
}

int vfs_read(const struct ctx *ctx, struct slices_facts *f, struct err *e)
{
	auto_nl struct nl *nl = NULL;

	for (size_t i = 0; i < f->n; i++) {
		if (*f->rail[i].pci &&
		    ((!nl && nl_open(&nl, e)) || vfs_read_rail(ctx, nl, i, f, e)))
			return -1;
	}
	return 0;
}

/* ---- of a claim ---- */

struct vfs_giving {
	const struct ctx *ctx;
	struct nl *nl;
	const char *claim_uid;
	struct rail_list rails;
};

/* The fabric does not know a port without a GUID; "pod" makes one. */
static int vfs_check_guid(const struct vfs_giving *g, const struct vf_view *v,
			  const struct json *network, struct err *e)
{
	char text[GUID_STR_LEN];

	if (strcmp(json_text(network, "kind"), "ib-sriov") != 0 ||
	    strcmp(json_text(network, "guidFrom"), "pod") == 0 || !*v->netdev.name)
		return 0;
	const struct guid port = vf_own_guids(g->ctx, v->addr, v->netdev.addr).port;

	if (guid_is_usable(port))
		return 0;
	err_set(e, ERR_STATE, 0, "VF %s has no usable GUID: %s", v->addr, guid_format(port, text));
	return err_hint(e, "set network.guidFrom to \"pod\", or assign GUIDs to the VFs");
}

/* One that a pod has is there, too. */
static int vfs_check_rdma(const struct vfs_giving *g, const struct vf_view *v,
			  const struct json *network, struct err *e)
{
	if (!rail_network_moves_rdma(network) || rdma_bus_verbs(g->ctx->sysfs, v->addr, NULL))
		return 0;
	err_set(e, ERR_STATE, 0, "network.rdma: \"exclusive\", but VF %s has no RDMA device",
		v->addr);
	return err_hint(e, "load ib_uverbs and the RDMA driver of the card; railctl rdma list "
			   "shows the devices");
}

static int vfs_find(const struct vfs_giving *g, const struct rail_entry *rail, int index,
		    struct json *network, struct err *e)
{
	auto_vf_view struct vf_view v = { .addr = "" };
	char pf[PCI_STR_LEN], vf[PCI_STR_LEN];

	if (pci_of_netdev(g->ctx->sysfs, rail->ifname, pf, e) ||
	    pci_vf_addr(g->ctx->sysfs, pf, (uint32_t)index, vf, e) ||
	    inventory_vf(g->ctx, g->nl, vf, &v, e) || vfs_check(&v, g->claim_uid, e) ||
	    vfs_check_guid(g, &v, network, e) || vfs_check_rdma(g, &v, network, e))
		return err_wrap(e, "rail %u, VF %d", rail->number, index);
	return json_push_str(json_get_mut(network, "deviceIDs"), v.addr) ? err_nomem(e) : 0;
}

/* With "min", rails without an interface are missing. */
static int vfs_give_device(const struct vfs_giving *g, const struct claim_part *part,
			   struct json *network, struct err *e)
{
	if (part->rails == UINT64_MAX && g->rails.n_dead && !json_get(network, "min"))
		return err_set(e, ERR_NOTFOUND, 0,
			       "rail %u: its card %s has no interface on this node now",
			       g->rails.dead[0].number, g->rails.dead[0].pci);
	if (!json_get(network, "deviceIDs") && !json_add_array(network, "deviceIDs"))
		return err_nomem(e);
	for (size_t i = 0; i < g->rails.n; i++) {
		if (part->rails >> g->rails.rail[i].number & 1 &&
		    vfs_find(g, &g->rails.rail[i], part->vf, network, e))
			return -1;
	}
	return 0;
}

int vfs_give(const struct ctx *ctx, struct claim *c, struct err *e)
{
	struct vfs_giving g = { .ctx = ctx, .claim_uid = c->prepared.claim.uid };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < c->n; i++) {
		const struct claim_device *d = &c->device[i];

		if (d->part.vf < 0)
			continue;
		if (!g.nl)
			rc = nl_open(&g.nl, e) || rail_list_load(ctx, &g.rails, e) ? -1 : 0;
		if (rc == 0 &&
		    vfs_give_device(&g, &d->part, json_at_mut(c->prepared.networks, d->network), e))
			rc = err_wrap(e, "request %.80s, device %.80s", d->request, d->device);
	}
	nl_release(g.nl);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.c: lists the PFs and VFs of the host, and finds out how each VF is used. */
#include "sriov/choose/inventory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/net/link.h"
#include "lib/sys/fs.h"
#include "sriov/claim/peer.h"
#include "sriov/vf/host_use.h"

#define CLASS_NETWORK 0x02u

const char *vf_use_name(enum vf_use u)
{
	static const char *const names[] = {
		[VF_FREE] = "free",
		[VF_IN_USE] = "in-use",
		[VF_OWNER_GONE] = "owner-gone",
		[VF_UNREPAIRED] = "unrepaired",
		[VF_OTHER_NETNS] = "elsewhere",
		[VF_DAMAGED] = "damaged",
		[VF_TAKEN] = "in-use",
		[VF_PEER_GONE] = "owner-gone",
	};

	return names[u];
}

void vf_view_clear(struct vf_view *v)
{
	vf_entry_clear(&v->entry);
}

void pf_view_clear(struct pf_view *p)
{
	for (size_t i = 0; i < p->n_vfs; i++)
		vf_view_clear(&p->vf[i]);
	free(p->vf);
	*p = (struct pf_view){ 0 };
}

void inventory_clear(struct inventory *v)
{
	for (size_t i = 0; i < v->n_pfs; i++)
		pf_view_clear(&v->pf[i]);
	free(v->pf);
	*v = (struct inventory){ 0 };
}

/* ---- interfaces ---- */

/* rc, why: the result of the search for the name of the interface. */
static int read_netdev(struct nl *nl, int rc, const struct err *why, struct netdev_view *d,
		       struct err *e)
{
	struct link_info link;
	struct err gone;

	if (rc) {
		d->name[0] = '\0';
		if (why->code == ERR_NOTFOUND)
			return 0;
		return err_pass(e, why);
	}
	if (nl_link_by_name(nl, d->name, &link, &gone)) {
		/* It was renamed or moved meanwhile, or sysfs shows another namespace. */
		if (gone.errnum == ENODEV)
			return 0;
		return err_pass(e, &gone);
	}
	d->ifindex = link.ifindex;
	d->addr = link.addr;
	d->mtu = link.mtu;
	d->up = link.flags & IFF_UP;
	return 0;
}

static int inventory_find_rdma(const struct ctx *ctx, const char *addr, char out[PCI_RDMA_LEN],
			       struct err *e)
{
	struct err why;

	if (pci_rdma_device(ctx->sysfs, addr, out, &why) == 0)
		return 0;
	out[0] = '\0';
	if (why.code == ERR_NOTFOUND)
		return 0;
	return err_pass(e, &why);
}

/* ---- VFs ---- */

static bool is_unreachable(const struct vf_view *v)
{
	struct vf_place p = { 0 };

	memcpy(p.driver, v->pci.driver, sizeof(p.driver));
	return *p.driver && !*v->netdev.name && !vf_has_userspace_driver(&p);
}

static bool inventory_is_free(const struct vf_view *v)
{
	return v->use == VF_FREE || v->use == VF_UNREPAIRED;
}

static int inventory_check_peer(const struct ctx *ctx, struct vf_view *v, struct err *e)
{
	auto_peer struct peer p = { .file = "" };
	int rc = peer_of_vf(ctx, v->addr, &p, e);

	if (rc <= (int)PEER_NONE)
		return rc;
	v->use = rc == (int)PEER_LIVES ? VF_TAKEN : VF_PEER_GONE;
	(void)snprintf(v->why, sizeof(v->why),
		       "was attached by sriov-cni to container %.64s%s%.16s",
		       *p.container ? p.container : "(unknown)", *p.ifname ? " as " : "", p.ifname);
	return 0;
}

static int inventory_check_host(const struct ctx *ctx, struct nl *nl, struct vf_view *v,
				struct err *e)
{
	char why[HOST_USE_LEN];
	struct vf_place p = { 0 };
	int use = HOST_USES_NOT;

	memcpy(p.driver, v->pci.driver, sizeof(p.driver));
	if (*v->netdev.name)
		use = host_use(ctx, nl, v->netdev.name, why, e);
	else if (vf_has_userspace_driver(&p))
		use = host_use_vfio(ctx, v->addr, why, e);

	if (use <= (int)HOST_USES_NOT)
		return use;
	v->use = VF_TAKEN;
	(void)snprintf(v->why, sizeof(v->why), "%s", why);
	return 0;
}

/* Differences from the state that its administrator may expect. */
static void say_left(struct vf_view *v)
{
	struct vf_differences d;

	if (v->entry.has_left) {
		vf_compare(&v->entry.left, &v->entry.base, true, &d);
		(void)snprintf(v->why, sizeof(v->why), "not restored: %.170s", d.text);
	} else if (v->entry.base_lost) {
		(void)snprintf(v->why, sizeof(v->why),
			       "its baseline was lost: it has the values of a new VF");
	}
}

/* The VF state comes first. A VF that is free there may still be in use by others. */
static int inventory_find_use(const struct ctx *ctx, struct nl *nl, struct vf_view *v,
			      struct err *e)
{
	struct err why;

	if (vf_state_current(ctx, v->addr, &v->entry, &why)) {
		if (why.code != ERR_NOTFOUND && why.code != ERR_DECODE)
			return err_pass(e, &why);
		v->use = why.code == ERR_DECODE ? VF_DAMAGED : VF_FREE;
	} else if (v->entry.owned) {
		v->use = vf_owner_lives(ctx, &v->entry) ? VF_IN_USE : VF_OWNER_GONE;
		if (v->entry.to_restore & VF_UNREACHABLE)
			(void)snprintf(v->why, sizeof(v->why),
				       "DEL did not find its interface: the pod moved it on, or a "
				       "process keeps its network namespace");
	} else {
		v->use = v->entry.to_restore ? VF_UNREPAIRED : VF_FREE;
		say_left(v);
	}
	if ((inventory_is_free(v) && inventory_check_peer(ctx, v, e)) ||
	    (inventory_is_free(v) && inventory_check_host(ctx, nl, v, e)))
		return -1;
	if (inventory_is_free(v) && is_unreachable(v))
		v->use = VF_OTHER_NETNS;
	return 0;
}

/* v->addr is set. */
static int read_vf(const struct ctx *ctx, struct nl *nl, struct vf_view *v, struct err *e)
{
	struct err why = { 0 };

	if (pci_read(ctx->sysfs, v->addr, &v->pci, e))
		return -1;
	int rc = pci_vf_netdev(ctx->sysfs, v->addr, v->netdev.name, &why);
	if (read_netdev(nl, rc, &why, &v->netdev, e) ||
	    inventory_find_rdma(ctx, v->addr, v->rdma, e) || inventory_find_use(ctx, nl, v, e))
		return -1;
	return 0;
}

/* ---- VFs whose state is lost ---- */

struct lost_views {
	const struct ctx *ctx;
	struct vf_view *v;
	size_t n;
	struct err *e;
	int rc;
};

static int show_lost(struct lost_views *l, struct vf_view *v)
{
	int rc = lost_find(l->ctx, v->addr, &v->entry, l->e);

	if (rc <= 0)
		return rc;
	v->use = vf_owner_lives(l->ctx, &v->entry) ? VF_IN_USE : VF_OWNER_GONE;
	(void)snprintf(v->why, sizeof(v->why),
		       "its state is lost: DEL gives it the values of a new VF");
	return 0;
}

static int consider_part(const struct record *part, void *arg)
{
	struct lost_views *l = arg;

	for (size_t i = 0; l->rc == 0 && i < l->n; i++) {
		struct vf_view *v = &l->v[i];

		if (!*v->entry.vf && strcmp(sriov_device_vf(part), v->addr) == 0)
			l->rc = show_lost(l, v);
	}
	return l->rc;
}

/* The records are read once for all VFs of a PF. */
static int find_lost(const struct ctx *ctx, struct vf_view *v, size_t n, struct err *e)
{
	struct lost_views l = { .ctx = ctx, .v = v, .n = n, .e = e };
	size_t without = 0;

	for (size_t i = 0; i < n; i++)
		without += !*v[i].entry.vf;
	return without && (taken_each(ctx, consider_part, &l, e) || l.rc) ? -1 : 0;
}

int inventory_vf(const struct ctx *ctx, struct nl *nl, const char *addr, struct vf_view *out,
		 struct err *e)
{
	auto_vf_view struct vf_view v = { 0 };
	char pf[PCI_STR_LEN];
	struct pci_addr a;

	if (pci_parse(addr, &a))
		return err_set(e, ERR_NOTFOUND, 0,
			       "\"%.64s\" is not a PCI address such as 0000:3b:02.5", addr);
	pci_format(a, v.addr);
	if (pci_physfn(ctx->sysfs, v.addr, pf, e) ||
	    pci_vf_index(ctx->sysfs, pf, v.addr, &v.index, e) || read_vf(ctx, nl, &v, e) ||
	    find_lost(ctx, &v, 1, e))
		return -1;
	*out = v;
	v = (struct vf_view){ 0 };
	return 0;
}

/* ---- PFs ---- */

static int inventory_add_vf(const struct ctx *ctx, struct nl *nl, struct pf_view *p, uint32_t index,
			    struct err *e)
{
	struct vf_view *v = &p->vf[p->n_vfs];
	struct err why;

	v->index = index;
	if (pci_vf_addr(ctx->sysfs, p->addr, index, v->addr, &why) == 0 &&
	    read_vf(ctx, nl, v, &why) == 0) {
		p->n_vfs++;
		return 0;
	}
	vf_view_clear(v);
	*v = (struct vf_view){ 0 };
	if (why.code == ERR_NOTFOUND)
		return 0;
	return err_pass(e, &why);
}

/* One request for all VFs of a PF. */
static int read_pf_side(struct nl *nl, struct pf_view *p, struct err *e)
{
	auto_free struct vf_info *state = NULL;
	struct err why;

	if (!p->netdev.ifindex || !p->n_vfs)
		return 0;
	state = calloc(p->count.num, sizeof(*state));
	if (!state)
		return err_nomem(e);
	if (nl_vf_list(nl, p->netdev.ifindex, p->count.num, state, &why))
		return why.errnum == ENODEV ? 0 : err_pass(e, &why);
	for (size_t i = 0; i < p->n_vfs; i++)
		p->vf[i].pf_side = state[p->vf[i].index];
	return 0;
}

static int add_vfs(const struct ctx *ctx, struct nl *nl, struct pf_view *p, struct err *e)
{
	if (!p->count.num)
		return 0;
	p->vf = calloc(p->count.num, sizeof(*p->vf));
	if (!p->vf)
		return err_nomem(e);
	for (uint32_t i = 0; i < p->count.num; i++) {
		if (inventory_add_vf(ctx, nl, p, i, e))
			return -1;
	}
	return find_lost(ctx, p->vf, p->n_vfs, e) || read_pf_side(nl, p, e) ? -1 : 0;
}

int inventory_pf(const struct ctx *ctx, struct nl *nl, const char *addr, struct pf_view *out,
		 struct err *e)
{
	auto_pf_view struct pf_view p = { 0 };
	struct err why = { 0 };

	(void)snprintf(p.addr, sizeof(p.addr), "%s", addr);
	if (pci_read(ctx->sysfs, addr, &p.pci, e) || pci_sriov(ctx->sysfs, addr, &p.count, e))
		return -1;
	int rc = pci_pf_netdev(ctx->sysfs, addr, p.netdev.name, &why);
	if (read_netdev(nl, rc, &why, &p.netdev, e) || inventory_find_rdma(ctx, addr, p.rdma, e) ||
	    add_vfs(ctx, nl, &p, e))
		return -1;
	*out = p;
	p = (struct pf_view){ 0 };
	return 0;
}

int inventory_find_pf(const struct ctx *ctx, const char *name, char out[PCI_STR_LEN], struct err *e)
{
	char addr[PCI_STR_LEN], pf[PCI_STR_LEN];
	struct pci_sriov count;
	struct pci_addr a;
	struct err ignored;

	if (pci_parse(name, &a) == 0)
		pci_format(a, addr);
	else if (pci_of_netdev(ctx->sysfs, name, addr, e))
		return err_wrap(e, "PF \"%.64s\"", name);
	if (pci_sriov(ctx->sysfs, addr, &count, e) == 0) {
		memcpy(out, addr, PCI_STR_LEN);
		return 0;
	}
	if (pci_physfn(ctx->sysfs, addr, pf, &ignored) == 0)
		err_hint(e, "%.64s is a VF of %s: name the PF", name, pf);
	else if (e->errnum == EOPNOTSUPP)
		err_hint(e, "railctl vf list shows the PFs of this host; SR-IOV may be off in the "
			    "firmware of the machine or the card");
	return err_wrap(e, "PF \"%.64s\"", name);
}

/* ---- the whole host ---- */

static bool is_pf(const struct ctx *ctx, const char *addr)
{
	struct pci_info pci;
	struct pci_sriov count;
	struct err ignored;

	return pci_sriov(ctx->sysfs, addr, &count, &ignored) == 0 && count.total &&
	       pci_read(ctx->sysfs, addr, &pci, &ignored) == 0 &&
	       pci.class_code >> 16 == CLASS_NETWORK;
}

#define PFS_MAX 65536

static int inventory_add_pf(const struct ctx *ctx, struct nl *nl, const char *addr,
			    struct inventory *v, struct err *e)
{
	struct err why;

	if (ARRAY_GROW(v->pf, v->n_pfs, PFS_MAX, "PFs", e))
		return -1;
	if (inventory_pf(ctx, nl, addr, &v->pf[v->n_pfs], &why) == 0) {
		v->n_pfs++;
		return 0;
	}
	if (why.code == ERR_NOTFOUND)
		return 0;
	return err_pass(e, &why);
}

int inventory_read(const struct ctx *ctx, struct nl *nl, struct inventory *out, struct err *e)
{
	auto_inventory struct inventory v = { 0 };
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX];
	struct pci_addr addr;
	struct err why;

	(void)snprintf(path, sizeof(path), "%.1024s/bus/pci/devices", ctx->sysfs);
	if (fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &names, &why) &&
	    why.errnum != ENOENT) { /* ENOENT: a machine without PCI */
		return err_pass(e, &why);
	}
	for (size_t i = 0; i < names.n; i++) {
		if (pci_parse(names.name[i], &addr) == 0 && is_pf(ctx, names.name[i]) &&
		    inventory_add_pf(ctx, nl, names.name[i], &v, e))
			return -1;
	}
	*out = v;
	v = (struct inventory){ 0 };
	return 0;
}

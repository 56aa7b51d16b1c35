/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager_create.c: changes the number of VFs of a PF.
 *
 * sriov_drivers_autoprobe is off while VFs are created. So the MAC is set before a driver sees the
 * VF: RDMA drivers make the GUID from it, and plugins refuse a VF without a MAC. The same holds for
 * the GUIDs of InfiniBand, which drivers read only when they are bound. The old value of
 * that switch is written to a file first. If this process is killed, the next call restores it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/net/link.h"
#include "lib/device/sysfs.h"
#include "lib/base/undo.h"
#include "sriov/admin/manager_priv.h"

struct creation {
	const struct manager *m;
	const struct vf_order *order;
	char pf[PCI_STR_LEN];
	char name[IFNAME_LEN + PCI_STR_LEN + 4]; /* "ens3f0 (0000:3b:00.0)" */
	uint32_t before;
	uint64_t life; /* of the first of those VFs */
	int pf_ifindex;
	bool infiniband;
	struct guid pf_guid; /* of its port */
	struct pf_state pf_state;
	bool interrupted; /* an earlier call did not end */
	bool no_switch;   /* drivers see VFs as soon as they exist */
};

static void creation_clear(struct creation *k)
{
	pf_state_clear(&k->pf_state);
}
#define auto_creation auto_clean(creation_clear)

/* ---- the switch of drivers for new VFs ---- */

static const char *switch_path(const struct creation *k, char out[128])
{
	(void)snprintf(out, 128, "bus/pci/devices/%s/sriov_drivers_autoprobe", k->pf);
	return out;
}

static int set_autoprobe(const struct creation *k, bool on, struct err *e)
{
	char path[128];
	struct err why;

	if (sysfs_write(k->m->ctx->sysfs, switch_path(k, path), on ? "1" : "0", &why) == 0 ||
	    why.errnum == ENOENT) /* kernels before 4.12, and PFs of some drivers */
		return 0;
	return err_pass(e, &why);
}

static int get_autoprobe(struct creation *k, bool *on, struct err *e)
{
	char path[128];
	uint64_t value = 1;
	struct err why;
	int rc = sysfs_read_u64(k->m->ctx->sysfs, switch_path(k, path), &value, &why);

	if (rc && why.errnum != ENOENT)
		return err_pass(e, &why);
	k->no_switch = rc != 0;
	*on = value != 0;
	return 0;
}

/* ---- the state of the PF ---- */

static int begin_creation(struct creation *k, struct err *e)
{
	struct pf_state *b = &k->pf_state;

	/* An interrupted call recorded the old value. The present value is that call's. */
	if (!k->interrupted && get_autoprobe(k, &b->autoprobe, e))
		return -1;
	b->making = true;
	return ctx_boot_id(k->m->ctx, b->boot, e) || pf_state_write(k->m->ctx, b, e) ? -1 : 0;
}

static int finish_creation(struct creation *k, struct err *e)
{
	k->pf_state.making = false;
	return pf_state_write(k->m->ctx, &k->pf_state, e);
}

/* ---- reading and locking ---- */

/* Uses the permanent address: a bond can change the other one. */
static int remember_macs(struct creation *k, const struct pf_view *p, struct err *e)
{
	struct link_info link;

	k->infiniband = hw_addr_guid(p->netdev.addr, &k->pf_guid);
	if (!k->infiniband && (k->order->guids.n || !guid_equal(k->order->guids.first, GUID_ZERO)))
		return err_set(e, ERR_CONFIG, 0, "guids: the PF %s is not of InfiniBand", k->name);
	if (!hw_addr_is_mac(p->netdev.addr)) {
		k->pf_state.n = 0;
		return 0;
	}
	if (nl_link_by_index(k->m->nl, p->netdev.ifindex, &link, e))
		return -1;
	return pf_state_extend(
		&k->pf_state, hw_addr_is_mac(link.perm_addr) ? link.perm_addr.byte : link.addr.byte,
		k->order->count, e);
}

static int look_at_pf(struct creation *k, bool judge, struct err *e)
{
	auto_pf_view struct pf_view p = { 0 };

	if (inventory_pf(k->m->ctx, k->m->nl, k->pf, &p, e))
		return -1;
	if (*p.netdev.name)
		(void)snprintf(k->name, sizeof(k->name), "%s (%s)", p.netdev.name, k->pf);
	if (judge && !k->order->force &&
	    (manager_refuse_in_use(&p, e) || manager_refuse_default_route(k->m, &p, e)))
		return -1;
	if (k->order->count && !p.netdev.ifindex) {
		err_set(e, ERR_NOTFOUND, 0, "PF %s has no network interface here", k->pf);
		return err_hint(e, "its VFs get their MACs through it: bind the card's driver to "
				   "the PF, or return its interface to this namespace");
	}
	k->pf_ifindex = p.netdev.ifindex;
	return remember_macs(k, &p, e);
}

/* These locks keep plugins from claiming VFs that are about to be removed. */
struct vf_locks {
	struct {
		char vf[PCI_STR_LEN];
		int fd;
	} * at;
	uint32_t n;
};

static void unlock_vfs(struct vf_locks *l)
{
	while (l->n)
		base_close_fd(&l->at[--l->n].fd);
	free(l->at);
	l->at = NULL;
}
#define auto_vf_locks auto_clean(unlock_vfs)

static int lock_vfs(struct creation *k, struct vf_locks *l, struct err *e)
{
	const struct ctx *ctx = k->m->ctx;

	l->at = calloc(k->before + 1, sizeof(*l->at));
	if (!l->at)
		return err_nomem(e);
	for (; l->n < k->before; l->n++) {
		if (pci_vf_addr(ctx->sysfs, k->pf, l->n, l->at[l->n].vf, e))
			return -1;
		l->at[l->n].fd = vf_state_lock(ctx, l->at[l->n].vf, VF_STATE_LOCK_MS, e);
		if (l->at[l->n].fd < 0)
			return -1;
	}
	return l->n ? vf_life(ctx, l->at[0].vf, &k->life, e) : 0;
}

/* ---- the change ---- */

static int manager_create_set_up(const struct creation *k, uint32_t n, const char *driver,
				 struct err *e)
{
	struct vf_setup s = {
		.m = k->m,
		.pf_ifindex = k->pf_ifindex,
		.n = n,
		.pf_state = &k->pf_state,
		.driver = driver,
		.bind = driver || k->pf_state.autoprobe,
		.guids = k->infiniband ? &k->order->guids : NULL,
		.pf_guid = k->pf_guid,
		.rebind = k->no_switch,
	};

	memcpy(s.pf, k->pf, sizeof(s.pf));
	return (k->infiniband ? manager_give_guids(&s, e) : manager_give_macs(&s, e)) ||
			       set_autoprobe(k, k->pf_state.autoprobe, e) ||
			       manager_give_drivers(&s, e)
		       ? -1
		       : 0;
}

/* Entries with a living owner stay: the owner's DEL notices that the VF is gone. */
static void forget_entries(const struct creation *k, const struct vf_locks *l)
{
	struct err why;

	for (uint32_t i = 0; i < l->n; i++) {
		auto_vf_entry struct vf_entry x = { 0 };

		if (vf_state_read(k->m->ctx, l->at[i].vf, &x, &why) ||
		    vf_owner_lives(k->m->ctx, &x))
			continue;
		if (vf_state_remove(k->m->ctx, l->at[i].vf, &why))
			log_debug(&k->m->ctx->log, "%s", why.msg);
	}
}

static int set_number(const struct creation *k, const struct vf_locks *l, struct err *e)
{
	if (k->before)
		manager_report(k->m, "%s: removing %u VF%s", k->name, k->before,
			       k->before == 1 ? "" : "s");
	if (k->order->count)
		manager_report(k->m, "%s: making %u VF%s", k->name, k->order->count,
			       k->order->count == 1 ? "" : "s");
	if (pci_set_numvfs(k->m->ctx->sysfs, k->pf, k->order->count, e))
		return -1;
	forget_entries(k, l);
	return 0;
}

/* Whether the VFs from before still exist: then their number was not changed yet. */
static bool has_old_vfs(const struct creation *k)
{
	char vf[PCI_STR_LEN];
	struct err ignored;
	uint64_t life;

	return k->before && pci_vf_addr(k->m->ctx->sysfs, k->pf, 0, vf, &ignored) == 0 &&
	       vf_life(k->m->ctx, vf, &life, &ignored) == 0 && life == k->life;
}

static int restore_numvfs(void *arg, struct err *e)
{
	struct creation *k = arg;

	if (has_old_vfs(k))
		return set_autoprobe(k, k->pf_state.autoprobe, e) || finish_creation(k, e) ? -1 : 0;
	manager_report(k->m, "%s: that failed; restoring the old number of VFs: %u", k->name,
		       k->before);
	if (pci_set_numvfs(k->m->ctx->sysfs, k->pf, k->before, e) ||
	    manager_create_set_up(k, k->before, NULL, e))
		return -1;
	return finish_creation(k, e);
}

static int change_numvfs(struct creation *k, struct err *e)
{
	auto_undo struct undo undo = { .log = &k->m->ctx->log };
	auto_vf_locks struct vf_locks locks = { 0 };

	if (lock_vfs(k, &locks, e) || look_at_pf(k, true, e) || begin_creation(k, e))
		return -1;
	undo_push(&undo, restore_numvfs, k, "the old number of VFs");
	if (set_autoprobe(k, false, e) || set_number(k, &locks, e))
		return -1;
	unlock_vfs(&locks);
	if (manager_create_set_up(k, k->order->count, k->order->driver, e) || finish_creation(k, e))
		return -1;
	undo_commit(&undo);
	return 0;
}

static int complete_creation(struct creation *k, struct err *e)
{
	if (look_at_pf(k, false, e))
		return -1;
	manager_report(k->m, "%s: finishing what was interrupted", k->name);
	return manager_create_set_up(k, k->order->count, k->order->driver, e) ||
			       finish_creation(k, e)
		       ? -1
		       : 0;
}

/* ---- the whole call ---- */

static int manager_create_check_count(struct creation *k, struct err *e)
{
	struct pci_sriov vfs;

	if (pci_sriov(k->m->ctx->sysfs, k->pf, &vfs, e))
		return -1;
	k->before = vfs.num;
	if (k->order->count <= vfs.total)
		return 0;
	err_set(e, ERR_CONFIG, 0, "count %u: PF %s supports %u", k->order->count, k->pf, vfs.total);
	return err_hint(e, "that is its sriov_totalvfs; the setup of the card's firmware sets it");
}

int manager_create(const struct manager *m, const struct vf_order *o, struct vf_order_result *out,
		   struct err *e)
{
	auto_creation struct creation k = { .m = m, .order = o };
	char boot[CTX_BOOT_ID_LEN + 1];

	if (inventory_find_pf(m->ctx, o->pf, k.pf, e))
		return -1;
	(void)snprintf(k.name, sizeof(k.name), "%s", k.pf);
	auto_fd int lock = vf_state_lock(m->ctx, k.pf, VF_STATE_LOCK_MS, e);
	if (lock < 0 || manager_create_check_count(&k, e) ||
	    guid_source_check(&o->guids, o->count, e) ||
	    pf_state_read(m->ctx, k.pf, &k.pf_state, e) || ctx_boot_id(m->ctx, boot, e))
		return -1;
	k.interrupted = k.pf_state.making && strcmp(k.pf_state.boot, boot) == 0;
	if (k.before != o->count) {
		if (change_numvfs(&k, e))
			return -1;
	} else if (k.interrupted && complete_creation(&k, e)) {
		return -1;
	}
	*out = (struct vf_order_result){ .before = k.before,
					 .changed = k.interrupted || k.before != o->count };
	memcpy(out->pf, k.pf, sizeof(out->pf));
	return 0;
}

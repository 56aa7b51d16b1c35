/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager_repair.c: repairs, adopts, binds or forgets one VF. Each public function holds the VF's
 * lock.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/net/link.h"
#include "lib/base/undo.h"
#include "sriov/admin/manager_priv.h"
#include "sriov/claim/lost.h"
#include "sriov/claim/peer.h"

#define NETDEV_MS 10000

static void printf_like(3, 4)
	set_report(struct vf_report *r, enum vf_outcome outcome, const char *fmt, ...)
{
	va_list ap;

	r->outcome = outcome;
	va_start(ap, fmt);
	(void)vsnprintf(r->why, sizeof(r->why), fmt, ap);
	va_end(ap);
}

/* more: what else is to be said of it; "": nothing. */
static void report_owner(struct vf_report *r, const struct vf_entry *x, const char *more)
{
	const struct record_key *k = &x->owner.key;

	set_report(r, VF_SKIPPED, "it belongs to container %.64s (network %.64s, %.16s)%s%.90s",
		   k->container, k->network, k->ifname, *more ? "; " : "", more);
}

/* ---- repair ---- */

static int compare_vf(const struct manager *m, const struct vf_entry *x, struct vf_differences *d,
		      struct err *e)
{
	struct vf_place place;
	struct vf_baseline now;

	if (vf_locate(m->ctx, m->nl, x->vf, &place, e) ||
	    vf_capture(m->ctx, m->nl, &place, &now, e))
		return -1;
	vf_compare(&now, &x->base, false, d);
	d->unreachable = x->base.has_netdev && !now.has_netdev && *place.driver &&
			 !vf_has_userspace_driver(&place);
	return 0;
}

static int restore_vf(const struct manager *m, struct vf_entry *x, unsigned attrs, struct err *e)
{
	struct vf_differences left;
	struct err why;

	x->to_restore |= attrs;
	if (vf_restore(m->ctx, m->nl, x, e) || vf_state_write(m->ctx, x, e))
		return -1;
	if (compare_vf(m, x, &left, &why))
		return err_pass(e, &why);
	if (left.unreachable) {
		err_set(e, ERR_STATE, 0, "VF %s: its interface is not on this host", x->vf);
		return err_hint(e,
				"a process or a mount keeps its network namespace alive, that of "
				"the pod or one that the pod made: end that, and the interface "
				"comes back");
	}
	if (!*left.text && !(x->to_restore & VF_ALL))
		return 0;
	err_set(e, ERR_STATE, 0, "VF %s: not restored: %s", x->vf,
		*left.text ? left.text : "an attribute that its PF does not report");
	return err_hint(e, "the log above says why");
}

/* A VF without an owner, or with a dead one. */
static int repair_vf(const struct manager *m, struct vf_view *v, bool dry_run, struct vf_report *r,
		     struct err *e)
{
	struct vf_differences d = { .text = "" };
	unsigned to_restore = v->entry.to_restore & VF_ALL;

	/* If the interface is in another namespace, only the attributes at the PF are compared. */
	if (compare_vf(m, &v->entry, &d, e))
		return -1;
	if (v->use == VF_FREE && !*d.text)
		return 0;
	if (v->use == VF_OWNER_GONE)
		set_report(r, VF_REPAIRED, "its owner %.64s is gone%s%s",
			   v->entry.owner.key.container, *d.text ? "; restored: " : "", d.text);
	else
		set_report(r, VF_REPAIRED, "restored: %s",
			   *d.text ? d.text : "what its owner left");
	if (dry_run)
		r->outcome = VF_WOULD_REPAIR;
	return dry_run ? 0 : restore_vf(m, &v->entry, d.attrs | to_restore, e);
}

/* The owner is unknown. The place of the interface shows whether the VF is in use. */
static int repair_damaged(const struct manager *m, const struct vf_view *v, bool dry_run,
			  struct vf_report *r, struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	struct vf_place place;

	if (*v->pci.driver && !*v->netdev.name) {
		set_report(r, VF_SKIPPED,
			   "its entry is damaged, and its interface is not on this host: a pod may "
			   "have it; if no pod has it, remove %.64s/vf/%s",
			   m->ctx->run_dir, v->addr);
		return 0;
	}
	set_report(
		r, dry_run ? VF_WOULD_REPAIR : VF_REPAIRED,
		"its entry was damaged, and its baseline is lost: it gets the values of a new VF");
	return dry_run || (vf_locate(m->ctx, m->nl, v->addr, &place, e) == 0 &&
			   lost_unowned(m->ctx, m->nl, &place, &x, e) == 0 &&
			   restore_vf(m, &x, 0, e) == 0)
		       ? 0
		       : -1;
}

static int repair_after_peer(const struct manager *m, const struct vf_view *v, struct err *e)
{
	auto_peer struct peer p = { .file = "" };
	auto_vf_entry struct vf_entry x = { 0 };
	int rc = peer_of_vf(m->ctx, v->addr, &p, e);

	return rc == (int)PEER_GONE ? peer_restore(m->ctx, m->nl, &p, &x, e) : rc < 0 ? -1 : 0;
}

static int repair_locked(const struct manager *m, struct vf_view *v, bool dry_run,
			 struct vf_report *r, struct err *e)
{
	switch (v->use) {
	case VF_IN_USE:
		report_owner(r, &v->entry, v->why);
		return 0;
	case VF_DAMAGED:
		return repair_damaged(m, v, dry_run, r, e);
	case VF_OTHER_NETNS:
		if (*v->entry.vf && v->entry.to_restore & VF_UNREACHABLE)
			return repair_vf(m, v, dry_run, r, e);
		set_report(r, VF_SKIPPED,
			   "its interface is in another network namespace, and no plugin of "
			   "railhead put it there");
		return 0;
	case VF_FREE:
		if (*v->entry.vf)
			return repair_vf(m, v, dry_run, r, e);
		set_report(r, VF_SKIPPED,
			   "it has no baseline yet: its first attachment records one, or "
			   "\"railctl vf create\"");
		return 0;
	case VF_TAKEN:
		set_report(r, VF_SKIPPED, "it %.180s", v->why);
		return 0;
	case VF_PEER_GONE:
		set_report(r, dry_run ? VF_WOULD_REPAIR : VF_REPAIRED, "it %.180s, which is gone",
			   v->why);
		return dry_run ? 0 : repair_after_peer(m, v, e);
	case VF_OWNER_GONE:
	case VF_UNREPAIRED:
		return repair_vf(m, v, dry_run, r, e);
	}
	return 0;
}

int manager_repair(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
		   struct err *e)
{
	auto_vf_view struct vf_view v = { 0 };
	struct vf_report r = { .outcome = VF_WAS_HEALTHY };
	auto_fd int lock = vf_state_lock(m->ctx, vf, VF_STATE_LOCK_MS, e);

	if (lock < 0 || inventory_vf(m->ctx, m->nl, vf, &v, e) ||
	    repair_locked(m, &v, dry_run, &r, e))
		return -1;
	*out = r;
	return 0;
}

/* ---- a new baseline ---- */

static int refuse_adopt(const struct vf_view *v, struct vf_report *r)
{
	const struct record_key *k = &v->entry.owner.key;

	r->outcome = VF_SKIPPED;
	if (v->use == VF_TAKEN || v->use == VF_PEER_GONE)
		(void)snprintf(r->why, sizeof(r->why), "it %.180s", v->why);
	else if (v->use == VF_IN_USE || v->use == VF_OWNER_GONE)
		(void)snprintf(r->why, sizeof(r->why), "container %.64s (network %.64s) %s it",
			       k->container, k->network, v->use == VF_IN_USE ? "has" : "had");
	else
		(void)snprintf(r->why, sizeof(r->why), "it is %s: railctl vf repair",
			       vf_use_name(v->use));
	return 0;
}

static int write_baseline(const struct manager *m, struct vf_view *v, struct vf_entry *x,
			  struct vf_report *r, struct err *e)
{
	struct vf_differences d = { .text = "" };
	struct vf_entry now;
	struct vf_place place;

	if (vf_locate(m->ctx, m->nl, v->addr, &place, e) ||
	    vf_start_entry(m->ctx, m->nl, &place, &now, e))
		return -1;
	*x = now;
	if (!*v->entry.vf) {
		(void)snprintf(r->why, sizeof(r->why), "it had no baseline yet");
		r->outcome = VF_REPAIRED;
		return 0;
	}
	vf_compare(&now.base, &v->entry.base, true, &d);
	x->base = v->entry.base;
	vf_follow(&x->base, &v->entry.base, &now.base);
	if (!*d.text && !v->entry.to_restore && !v->entry.base_lost)
		return 0;
	r->outcome = VF_REPAIRED;
	(void)snprintf(r->why, sizeof(r->why), "%.250s",
		       *d.text              ? d.text
		       : v->entry.base_lost ? "its baseline was lost"
					    : "what its last owner left");
	return 0;
}

int manager_adopt(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
		  struct err *e)
{
	auto_vf_view struct vf_view v = { 0 };
	struct vf_report r = { .outcome = VF_WAS_HEALTHY };
	struct vf_entry x;
	auto_fd int lock = vf_state_lock(m->ctx, vf, VF_STATE_LOCK_MS, e);

	if (lock < 0 || inventory_vf(m->ctx, m->nl, vf, &v, e))
		return -1;
	bool may = v.use == VF_FREE ||
		   (v.use == VF_UNREPAIRED && !(v.entry.to_restore & VF_UNREACHABLE));
	if (may ? write_baseline(m, &v, &x, &r, e) : refuse_adopt(&v, &r))
		return -1;
	if (r.outcome == VF_REPAIRED && !dry_run && vf_state_write(m->ctx, &x, e))
		return -1;
	if (r.outcome == VF_REPAIRED && dry_run)
		r.outcome = VF_WOULD_REPAIR;
	*out = r;
	return 0;
}

/* ---- another driver ---- */

static int refuse_taken(const struct vf_view *v, struct err *e)
{
	const struct record_key *k = &v->entry.owner.key;

	if (v->use == VF_IN_USE) {
		err_set(e, ERR_BUSY, 0, "VF %s belongs to container %s (network %s, %s)", v->addr,
			k->container, k->network, k->ifname);
		return err_hint(e, "DEL of that attachment frees it");
	}
	if (v->use == VF_TAKEN || v->use == VF_PEER_GONE)
		return err_set(e, ERR_BUSY, 0, "VF %s %s", v->addr, v->why);
	if (v->use == VF_OTHER_NETNS) {
		err_set(e, ERR_BUSY, 0, "VF %s has its interface in another network namespace",
			v->addr);
		return err_hint(e, "return it to the host first: railctl vf repair %s", v->addr);
	}
	if (v->use == VF_DAMAGED) {
		err_set(e, ERR_STATE, 0, "VF %s has a damaged entry: its owner is unknown",
			v->addr);
		return err_hint(e, "railctl vf repair %s", v->addr);
	}
	return 0;
}

struct binding {
	const char *sysfs, *vf;
	const char *driver; /* the old one; NULL: the kernel's choice */
};

static int bind_back(void *arg, struct err *e)
{
	const struct binding *b = arg;

	return pci_bind(b->sysfs, b->vf, b->driver, e);
}

/* The interface is new or gone. The rest of the baseline stays. */
static int note_netdev(const struct manager *m, struct vf_entry *x, const struct vf_place *place,
		       struct err *e)
{
	if (*place->name) {
		if (vf_capture_netdev(m->nl, place, &x->base, e))
			return -1;
	} else {
		x->base.has_netdev = false;
	}
	return vf_state_write(m->ctx, x, e);
}

/* The VF has its old driver again, which has created a new interface. */
static void repair_after_failure(const struct manager *m, const struct vf_view *before)
{
	auto_vf_view struct vf_view v = { 0 };
	struct vf_report ignored = { .outcome = VF_WAS_HEALTHY };
	struct vf_place place;
	struct err why;

	if (!*before->entry.vf)
		return;
	if (manager_wait_vf(m, before->addr, ctx_mono_ms() + NETDEV_MS, &place, &why) ||
	    inventory_vf(m->ctx, m->nl, before->addr, &v, &why) ||
	    (*v.entry.vf && repair_vf(m, &v, false, &ignored, &why)))
		log_warn(&m->ctx->log, "VF %s: cannot restore it after that failure: %s",
			 before->addr, why.msg);
}

static int bind_locked(const struct manager *m, struct vf_view *v, const char *driver,
		       struct vf_report *r, struct err *e)
{
	auto_undo struct undo undo = { .log = &m->ctx->log };
	struct vf_place place = { 0 };
	struct binding was = { m->ctx->sysfs, v->addr, v->pci.driver };
	const char *sysfs = m->ctx->sysfs;

	if (refuse_taken(v, e) || (*v->entry.vf && repair_vf(m, v, false, r, e)))
		return -1;
	*r = (struct vf_report){ .outcome = VF_WAS_HEALTHY };
	memcpy(place.driver, v->pci.driver, sizeof(place.driver));
	if (!*place.driver || !vf_has_userspace_driver(&place))
		was.driver = NULL;
	if (pci_bind(sysfs, v->addr, driver, e)) {
		repair_after_failure(m, v);
		return -1;
	}
	undo_push(&undo, bind_back, &was, "its old driver");
	if (manager_wait_vf(m, v->addr, ctx_mono_ms() + NETDEV_MS, &place, e))
		return -1;
	if (strcmp(place.driver, v->pci.driver) != 0) {
		set_report(r, VF_REPAIRED, "%s -> %s", *v->pci.driver ? v->pci.driver : "none",
			   *place.driver ? place.driver : "none");
		if (*v->entry.vf && note_netdev(m, &v->entry, &place, e))
			return -1;
	}
	undo_commit(&undo);
	return 0;
}

int manager_bind(const struct manager *m, const char *vf, const char *driver, struct vf_report *out,
		 struct err *e)
{
	auto_vf_view struct vf_view v = { 0 };
	struct vf_report r = { .outcome = VF_WAS_HEALTHY };
	auto_fd int lock = vf_state_lock(m->ctx, vf, VF_STATE_LOCK_MS, e);

	if (lock < 0 || inventory_vf(m->ctx, m->nl, vf, &v, e) || bind_locked(m, &v, driver, &r, e))
		return -1;
	*out = r;
	return 0;
}

/* ---- garbage collection ---- */

/* *out: the entry belongs to the present life of the VF. */
static int is_current(const struct manager *m, const struct vf_entry *x, bool *out, struct err *e)
{
	char boot[CTX_BOOT_ID_LEN + 1];
	struct err why;
	uint64_t life = 0;

	if (ctx_boot_id(m->ctx, boot, e))
		return -1;
	if (vf_life(m->ctx, x->vf, &life, &why) && why.code != ERR_NOTFOUND)
		return err_pass(e, &why);
	*out = life && life == x->life && strcmp(boot, x->boot) == 0;
	return 0;
}

static int remove_stale_entry(const struct manager *m, struct vf_entry *x, bool dry_run,
			      struct vf_report *r, struct err *e)
{
	const enum vf_outcome done = dry_run ? VF_WOULD_REPAIR : VF_REPAIRED;
	bool current;

	if (is_current(m, x, &current, e))
		return -1;
	if (!current) {
		set_report(r, done, "the VF of this entry does not exist any more");
		return dry_run ? 0 : vf_state_remove(m->ctx, x->vf, e);
	}
	if (!x->owned)
		return 0;
	if (vf_owner_lives(m->ctx, x)) {
		report_owner(r, x, "");
		return 0;
	}
	set_report(r, done, "its owner %.64s (network %.64s) is gone: it is restored and free",
		   x->owner.key.container, x->owner.key.network);
	return dry_run ? 0 : restore_vf(m, x, 0, e);
}

int manager_gc(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
	       struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	struct vf_report r = { .outcome = VF_WAS_HEALTHY };
	auto_fd int lock = vf_state_lock(m->ctx, vf, VF_STATE_LOCK_MS, e);
	struct err why;

	if (lock < 0)
		return -1;
	if (vf_state_read(m->ctx, vf, &x, &why) == 0) {
		if (remove_stale_entry(m, &x, dry_run, &r, e))
			return -1;
	} else if (why.code == ERR_DECODE) {
		set_report(&r, VF_SKIPPED, "its entry is damaged: railctl vf repair %s", vf);
	} else if (why.code != ERR_NOTFOUND) {
		return err_pass(e, &why);
	}
	*out = r;
	return 0;
}

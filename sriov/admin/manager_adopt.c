/* SPDX-License-Identifier: Apache-2.0 */
/* manager_adopt.c: a VF as it is now becomes what it is put back to. */
#include <stdio.h>
#include <string.h>

#include "sriov/admin/manager_priv.h"

static int refuse_adopt(const struct vf_view *v, struct vf_report *r)
{
	const struct record_key *k = &v->entry.owner.key;

	r->outcome = VF_SKIPPED;
	if (v->use == VF_TAKEN || v->use == VF_PEER_GONE)
		(void)snprintf(r->why, sizeof(r->why), "it %.180s", v->why);
	else if (v->use == VF_IN_USE || v->use == VF_OWNER_GONE)
		(void)snprintf(r->why, sizeof(r->why),
			       "it is as container %.64s (network %.64s) %s it", k->container,
			       k->network, v->use == VF_IN_USE ? "has" : "left");
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
		(void)snprintf(r->why, sizeof(r->why), "nothing was recorded of it yet");
		r->outcome = VF_REPAIRED;
		return 0;
	}
	vf_compare(&now.base, &v->entry.base, true, &d);
	x->base = v->entry.base;
	vf_follow(&x->base, &v->entry.base, &now.base);
	if (!*d.text && !v->entry.dirty)
		return 0;
	r->outcome = VF_REPAIRED;
	(void)snprintf(r->why, sizeof(r->why), "%.250s",
		       *d.text ? d.text : "what its last owner left");
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
	bool may =
		v.use == VF_FREE || (v.use == VF_UNREPAIRED && !(v.entry.dirty & VF_UNREACHABLE));
	if (may ? write_baseline(m, &v, &x, &r, e) : refuse_adopt(&v, &r))
		return -1;
	if (r.outcome == VF_REPAIRED && !dry_run && vf_state_write(m->ctx, &x, e))
		return -1;
	if (r.outcome == VF_REPAIRED && dry_run)
		r.outcome = VF_WOULD_REPAIR;
	*out = r;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sriov/take/claim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/net/link.h"
#include "sriov/take/taken.h"
#include "sriov/vf/host_use.h"
#include "sriov/take/peer.h"

/* What one change of ownership works on; its VF is locked. */
struct claim_attempt {
	const struct claimant *who;
	struct vf_place place;
	struct vf_entry entry;
	bool known; /* the entry is of this life of the VF */
};

static void claim_attempt_clear(struct claim_attempt *t)
{
	vf_entry_clear(&t->entry);
}
#define auto_claim_attempt auto_clean(claim_attempt_clear)

/* ---- the recorded state ---- */

/* A damaged entry is as good as none: who has the VF shows in where its interface is. */
static int read_entry(struct claim_attempt *t, struct err *e)
{
	char boot[CTX_BOOT_ID_LEN + 1];
	struct err why;
	uint64_t life;

	if (ctx_boot_id(t->who->ctx, boot, e) || vf_life(t->who->ctx, t->place.vf, &life, e))
		return -1;
	if (vf_state_read(t->who->ctx, t->place.vf, &t->entry, &why) == 0) {
		t->known = strcmp(t->entry.boot, boot) == 0 && t->entry.life == life;
	} else if (why.code == ERR_DECODE) {
		log_warn(&t->who->ctx->log, "%s; starting a new one", why.msg);
	} else if (why.code != ERR_NOTFOUND) {
		*e = why;
		return -1;
	}
	return 0;
}

static int start_entry(struct claim_attempt *t, struct err *e)
{
	struct vf_entry x;

	if (vf_start_entry(t->who->ctx, t->who->nl, &t->place, &x, e))
		return -1;
	vf_entry_clear(&t->entry);
	t->entry = x;
	return 0;
}

/* ---- records without a DEL ---- */

#define RESIDUE_LEN 256

struct residue_search {
	const char *vf, *boot;
	const struct record_key *except;
	char *who;
	bool found;
};

static bool same_key(const struct record_key *a, const struct record_key *b)
{
	return strcmp(a->network, b->network) == 0 && strcmp(a->container, b->container) == 0 &&
	       strcmp(a->ifname, b->ifname) == 0;
}

static int consider_record(const struct record *r, void *arg)
{
	struct residue_search *s = arg;
	const char *vf = r->tree ? sriov_device_vf(r) : NULL;

	if (!vf || strcmp(vf, s->vf) != 0 || strcmp(r->boot, s->boot) != 0 ||
	    (s->except && same_key(&r->key, s->except)))
		return 0;
	(void)snprintf(s->who, RESIDUE_LEN,
		       "container %.64s (network %.64s, %.16s), of which there is a record but no "
		       "DEL",
		       r->key.container, r->key.network, r->key.ifname);
	return s->found = true;
}

static bool residue_of(const struct ctx *ctx, const char *vf, const struct record_key *except,
		char who[RESIDUE_LEN])
{
	char boot[CTX_BOOT_ID_LEN + 1];
	struct residue_search s = { .vf = vf, .boot = boot, .except = except, .who = who };
	struct err why;

	if (ctx_boot_id(ctx, boot, &why) == 0 &&
	    record_each(ctx, NULL, consider_record, &s, &why) == 0)
		return s.found;
	if (!s.found)
		(void)snprintf(who, RESIDUE_LEN, "somebody, perhaps: %.200s", why.msg);
	return true;
}

/* ---- taking it ---- */

static int refuse_owned(const struct claim_attempt *t, struct err *e)
{
	const struct record_key *k = &t->entry.owner.key;

	err_set(e, ERR_BUSY, 0, "VF %s belongs to container %s (network %s, %s)", t->place.vf,
		k->container, k->network, k->ifname);
	return err_hint(e, "its network namespace %s is alive: DEL of that attachment frees the VF",
			t->entry.owner.netns);
}

static int refuse_peer(const struct claim_attempt *t, const struct peer *p, struct err *e)
{
	err_set(e, ERR_BUSY, 0, "VF %s belongs to container %.64s%s%.16s, attached by sriov-cni",
		t->place.vf, *p->container ? p->container : "(unknown)", *p->ifname ? " as " : "",
		p->ifname);
	return err_hint(e,
			"by %s/sriov/%.128s; DEL of that attachment frees it, and railctl "
			"attachments import takes it over",
			t->who->ctx->cni_dir, *p->file ? p->file : "pci");
}

/* Those of the plugin that we replaced: what they changed is in no entry of ours. */
static int check_peer_owner(struct claim_attempt *t, struct err *e)
{
	auto_peer struct peer p = { .file = "" };
	int rc = peer_of_vf(t->who->ctx, t->place.vf, &p, e);

	if (rc <= (int)PEER_NONE)
		return rc;
	if (rc == (int)PEER_LIVES)
		return refuse_peer(t, &p, e);
	if (peer_restore(t->who->ctx, t->who->nl, &p, &t->entry, e))
		return -1;
	t->known = true;
	return vf_locate(t->who->ctx, t->who->nl, t->place.vf, &t->place, e);
}

/* A device above it would lose it; an address alone does not keep it from who asked for this VF. */
static int refuse_used_by_host(const struct claim_attempt *t, struct err *e)
{
	const struct claimant *who = t->who;
	char why[HOST_USE_LEN];

	int use = *t->place.name ? host_use(who->ctx, who->nl, t->place.name, why, e)
				 : host_use_vfio(who->ctx, t->place.vf, why, e);
	if (use <= (int)HOST_USES_NOT)
		return use;
	if (use == (int)HOST_HAS_ADDRESS && !who->any_will_do) {
		log_warn(&who->ctx->log, "VF %s: its interface %s %s on the host, and loses it",
			 t->place.vf, t->place.name, why);
		return 0;
	}
	err_set(e, ERR_BUSY, 0, "VF %s is in use by the host: %s%s%s %s", t->place.vf,
		*t->place.name ? "its interface" : "it", *t->place.name ? " " : "", t->place.name,
		why);
	return err_hint(e, "railctl vf list shows who has which");
}

/* What an owner that died, or a failed attempt of our own, left behind. */
static int clean_up(struct claim_attempt *t, struct err *e)
{
	struct vf_entry *x = &t->entry;

	if (!x->owned && !x->dirty)
		return 0;
	if (vf_restore(t->who->ctx, t->who->nl, x, e))
		return -1;
	if (x->dirty & VF_ALL)
		return err_set(e, ERR_STATE, 0,
			       "VF %s: what its last owner set cannot be put back; see the log, "
			       "and railctl vf repair",
			       x->vf);
	x->owned = false;
	return vf_locate(t->who->ctx, t->who->nl, x->vf, &t->place, e);
}

static int host_ifindex(struct claim_attempt *t, int *out, struct err *e)
{
	struct link_info link = { 0 };

	if (*t->place.name && nl_link_by_name(t->who->nl, t->place.name, &link, e))
		return -1;
	*out = link.ifindex;
	return 0;
}

/*
 * What was changed while nobody had it is an administrator's, and becomes the baseline; but residue
 * when somebody had it of whom only traces are left.
 */
static int follow_changes(struct claim_attempt *t, struct err *e)
{
	const struct ctx *ctx = t->who->ctx;
	struct vf_entry *x = &t->entry;
	struct vf_differences d;
	struct vf_baseline now;
	char who[RESIDUE_LEN];

	if (vf_capture(t->who->nl, &t->place, &now, e))
		return -1;
	vf_compare(&now, x->has_left ? &x->left : &x->base, true, &d);
	if (!*d.text && x->base.has_settings && (x->base.mtu || !x->base.has_netdev))
		return 0;
	if (*d.text && residue_of(ctx, x->vf, &t->who->key, who)) {
		log_warn(&ctx->log, "VF %s: %s: left by %s; it is put back", x->vf, d.text, who);
		x->dirty |= d.attrs;
		return vf_restore(ctx, t->who->nl, x, e) ||
				       vf_locate(ctx, t->who->nl, x->vf, &t->place, e)
			       ? -1
			       : 0;
	}
	if (*d.text)
		log_info(&ctx->log,
			 "VF %s: changed while nobody had it: %s; that is what it is put back to "
			 "from now on",
			 x->vf, d.text);
	vf_follow(&x->base, x->has_left ? &x->left : &x->base, &now);
	return 0;
}

static int write_owner(struct claim_attempt *t, struct err *e)
{
	struct vf_entry *x = &t->entry;
	const struct claimant *who = t->who;

	x->owned = true;
	x->has_left = false;
	x->owner = (struct vf_owner){ .key = who->key,
				      .netns = who->netns,
				      .netns_id = who->netns_id,
				      .from = netns_view_self(who->ctx) };
	x->dirty = who->will_change | (x->dirty & VF_UNREACHABLE);
	return host_ifindex(t, &x->owner.ifindex, e) || vf_state_write(t->who->ctx, x, e) ? -1 : 0;
}

/* Bound to another driver since: what the baseline says of an interface is of the old one. */
static int refresh_netdev(struct claim_attempt *t, struct err *e)
{
	if (!*t->place.name || t->entry.base.has_netdev)
		return 0;
	return vf_capture_netdev(t->who->nl, &t->place, &t->entry.base, e);
}

static int take_ownership(struct claim_attempt *t, struct err *e)
{
	bool ours = t->known && vf_owner_is(&t->entry, &t->who->key, t->who->netns_id);

	bool clean = t->known && !t->entry.owned && !t->entry.dirty;

	if (t->known && !ours && vf_owner_lives(t->who->ctx, &t->entry))
		return refuse_owned(t, e);
	if ((t->known && clean_up(t, e)) || (!ours && check_peer_owner(t, e)))
		return -1;
	if (vf_check_usable(&t->place, e) || refuse_used_by_host(t, e))
		return -1;
	if (t->known ? refresh_netdev(t, e) || (clean && follow_changes(t, e)) : start_entry(t, e))
		return -1;
	return write_owner(t, e);
}

int claim_vf(const struct claimant *who, const char *vf, struct vf_place *place, struct err *e)
{
	auto_claim_attempt struct claim_attempt t = { .who = who };
	auto_fd int lock = vf_state_lock(who->ctx, vf, VF_STATE_LOCK_MS, e);

	/* Looked for only now: who had the lock before us may have moved or renamed it. */
	if (lock < 0 || vf_locate(who->ctx, who->nl, vf, &t.place, e) || read_entry(&t, e) ||
	    take_ownership(&t, e))
		return -1;
	*place = t.place;
	return 0;
}

/* x: the entry of a VF that is ours, and locked. */
static int read_ours(const struct ctx *ctx, const char *vf, const struct record_key *key,
		     struct vf_entry *x, struct err *e)
{
	const struct netns_id any = { 0 };

	if (vf_state_read(ctx, vf, x, e))
		return -1;
	if (!vf_owner_is(x, key, any))
		return err_set(e, ERR_STATE, 0, "VF %s was taken away meanwhile", vf);
	return 0;
}

int claim_set_own_mac(const struct ctx *ctx, const char *vf, const struct record_key *key,
		      struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	auto_fd int lock = vf_state_lock(ctx, vf, VF_STATE_LOCK_MS, e);

	if (lock < 0 || read_ours(ctx, vf, key, &x, e))
		return -1;
	if (x.base.own_mac)
		return 0;
	x.base.own_mac = true;
	return vf_state_write(ctx, &x, e);
}

int claim_set_ifindex(const struct ctx *ctx, const char *vf, const struct record_key *key,
		      int ifindex, struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	auto_fd int lock = vf_state_lock(ctx, vf, VF_STATE_LOCK_MS, e);

	if (lock < 0 || read_ours(ctx, vf, key, &x, e))
		return -1;
	if (x.owner.ifindex == ifindex)
		return 0;
	x.owner.ifindex = ifindex;
	return vf_state_write(ctx, &x, e);
}

/* ---- giving it back ---- */

static int release_locked(const struct ctx *ctx, struct vf_entry *x, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct err gone;
	uint64_t life;

	log_debug(&ctx->log, "VF %s: giving it back, out of %s", x->vf, x->owner.netns);
	if (nl_open(&nl, e) || vf_restore(ctx, nl, x, e))
		return -1;
	log_debug(&ctx->log, "VF %s: %s", x->vf,
		  x->owned   ? "its interface has not come back yet"
		  : x->dirty ? "free, but not all is as it was"
			     : "as it was, and free");
	if (vf_life(ctx, x->vf, &life, &gone) && gone.code == ERR_NOTFOUND)
		return vf_state_remove(ctx, x->vf, e);
	return vf_state_write(ctx, x, e);
}

int claim_release(const struct ctx *ctx, const char *vf, const struct record_key *key,
		  struct netns_id id, struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	struct err why;
	auto_fd int lock = vf_state_lock(ctx, vf, VF_STATE_LOCK_MS, e);

	if (lock < 0)
		return -1;
	if (vf_state_read(ctx, vf, &x, &why)) {
		if (why.code == ERR_NOTFOUND)
			return 0;
		/* Whose it is cannot be known; it waits for railctl vf repair. */
		if (why.code == ERR_DECODE) {
			log_warn(&ctx->log, "%s", why.msg);
			return 0;
		}
		*e = why;
		return -1;
	}
	return vf_owner_is(&x, key, id) ? release_locked(ctx, &x, e) : 0;
}

struct release {
	const struct ctx *ctx;
	const struct record_key *key;
	struct netns_id id;
	struct err *e;
	int rc;
};

static int release_one(const struct vf_entry *x, void *arg)
{
	struct release *r = arg;

	if (vf_owner_is(x, r->key, r->id))
		r->rc = claim_release(r->ctx, x->vf, r->key, r->id, r->e);
	return r->rc;
}

int claim_release_all(const struct ctx *ctx, const struct record_key *key, struct netns_id id,
		      struct err *e)
{
	struct release r = { ctx, key, id, e, 0 };

	return vf_state_each(ctx, release_one, &r, e) || r.rc ? -1 : 0;
}

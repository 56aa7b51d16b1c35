/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.c: makes a VF an attachment's, and makes it free again. Every change of a VF state happens
 * under the VF's lock.
 */
#include "sriov/claim/claim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cni/protocol/conf.h"
#include "cni/protocol/devinfo.h"
#include "lib/net/link.h"
#include "sriov/claim/lost.h"
#include "sriov/claim/peer.h"
#include "sriov/vf/host_use.h"

/* One change of ownership. The VF is locked. */
struct claim_attempt {
	const struct claimant *who;
	struct vf_place place;
	struct vf_entry entry;
	bool known;   /* the entry belongs to this life of the VF */
	bool damaged; /* its file cannot be decoded */
};

static void claim_attempt_clear(struct claim_attempt *t)
{
	vf_entry_clear(&t->entry);
}
#define auto_claim_attempt auto_clean(claim_attempt_clear)

/* ---- the recorded state ---- */

/* Without a state, or with a damaged one, the records say whose the VF is. */
static int claim_read_entry(struct claim_attempt *t, struct err *e)
{
	const struct ctx *ctx = t->who->ctx;
	struct err why;
	int found = 1;

	if (vf_state_current(ctx, t->place.vf, &t->entry, &why)) {
		t->damaged = why.code == ERR_DECODE;
		if (why.code != ERR_NOTFOUND && !t->damaged)
			return err_pass(e, &why);
		if (t->damaged)
			log_warn(&ctx->log, "%s; starting a new one", why.msg);
		found = t->damaged || why.errnum == ENOENT
				? lost_find(ctx, t->place.vf, &t->entry, e)
				: 0;
	}
	t->known = found > 0;
	return found < 0 ? -1 : 0;
}

/* A VF whose state is damaged may have the values of a tenant. */
static int start_entry(struct claim_attempt *t, struct err *e)
{
	const struct claimant *who = t->who;
	struct vf_entry x;

	if (t->damaged ? lost_unowned(who->ctx, who->nl, &t->place, &x, e)
		       : vf_start_entry(who->ctx, who->nl, &t->place, &x, e))
		return -1;
	vf_entry_clear(&t->entry);
	t->entry = x;
	return 0;
}

/* ---- records without a DEL ---- */

#define HOLDER_LEN 256

struct record_search {
	const struct record_key *own;
	const char *vf;
	char *who;
	bool found;
};

static int consider_holder(const struct record *r, void *arg)
{
	struct record_search *s = arg;

	if (strcmp(sriov_device_vf(r), s->vf) != 0 ||
	    (strcmp(r->key.network, s->own->network) == 0 &&
	     strcmp(r->key.container, s->own->container) == 0 &&
	     strcmp(r->key.ifname, s->own->ifname) == 0))
		return 0;
	(void)snprintf(s->who, HOLDER_LEN,
		       "container %.64s (network %.64s, %.16s), which has a record but had no DEL",
		       r->key.container, r->key.network, r->key.ifname);
	s->found = true;
	return 1;
}

/*
 * True if another attachment had the free VF and got no DEL: its record is still there. The text in
 * who then names it. If the records cannot be read, the answer is true.
 */
static bool had_other_holder(const struct claim_attempt *t, char who[HOLDER_LEN])
{
	struct record_search s = { .own = &t->who->key, .vf = t->entry.vf, .who = who };
	struct err why;

	if (taken_each(t->who->ctx, consider_holder, &s, &why) == 0)
		return s.found;
	if (!s.found)
		(void)snprintf(who, HOLDER_LEN, "an unknown attachment: %.200s", why.msg);
	return true;
}

/* ---- claim ---- */

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
	return err_hint(e, "the file %s/sriov/%.128s says so; DEL of that attachment frees the VF",
			t->who->ctx->cni_dir, *p->file ? p->file : "pci");
}

/* VFs that sriov-cni attached have no entry here. Its own files say what it changed. */
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

/*
 * A device above the interface would lose it. An address alone is not an obstacle for an attachment
 * that names this VF.
 */
static int refuse_used_by_host(const struct claim_attempt *t, struct err *e)
{
	const struct claimant *who = t->who;
	char why[HOST_USE_LEN];

	int use = *t->place.name ? host_use(who->ctx, who->nl, t->place.name, why, e)
				 : host_use_vfio(who->ctx, t->place.vf, why, e);
	if (use <= (int)HOST_USES_NOT)
		return use;
	if (use == (int)HOST_HAS_ADDRESS && !who->vf_not_named) {
		log_warn(&who->ctx->log, "VF %s: its interface %s %s on the host, and loses it",
			 t->place.vf, t->place.name, why);
		return 0;
	}
	err_set(e, ERR_BUSY, 0, "VF %s is in use by the host: %s%s%s %s", t->place.vf,
		*t->place.name ? "its interface" : "it", *t->place.name ? " " : "", t->place.name,
		why);
	return err_hint(e, "railctl vf list shows who has which");
}

/* Restores what an owner that died, or a failed attempt of this attachment, left behind. */
static int clean_up(struct claim_attempt *t, struct err *e)
{
	struct vf_entry *x = &t->entry;
	struct vf_differences d = { .text = "" };

	if (!x->owned && !x->to_restore)
		return 0;
	if (vf_restore(t->who->ctx, t->who->nl, x, e))
		return -1;
	if (x->to_restore & VF_ALL) {
		if (x->has_left)
			vf_compare(&x->left, &x->base, true, &d);
		return err_set(e, ERR_STATE, 0,
			       "VF %s: cannot restore %s, which its last owner set; see the log, "
			       "then run railctl vf repair %s",
			       x->vf, *d.text ? d.text : "a setting", x->vf);
	}
	x->owned = false;
	return vf_locate(t->who->ctx, t->who->nl, x->vf, &t->place, e);
}

/*
 * An administrator made the changes that appeared while the VF was free: they become the baseline.
 * If another attachment had the VF meanwhile, it left them, and they are restored.
 */
static int follow_changes(struct claim_attempt *t, struct err *e)
{
	const struct ctx *ctx = t->who->ctx;
	struct vf_entry *x = &t->entry;
	struct vf_differences d;
	struct vf_baseline now;
	char who[HOLDER_LEN];

	if (vf_capture(ctx, t->who->nl, &t->place, &now, e))
		return -1;
	vf_compare(&now, x->has_left ? &x->left : &x->base, true, &d);
	if (!*d.text && x->base.has_settings && (x->base.mtu || !x->base.has_netdev))
		return 0;
	if (*d.text && had_other_holder(t, who)) {
		log_warn(&ctx->log, "VF %s: %s: left by %s; restoring the baseline", x->vf, d.text,
			 who);
		x->to_restore |= d.attrs;
		return vf_restore(ctx, t->who->nl, x, e) ||
				       vf_locate(ctx, t->who->nl, x->vf, &t->place, e)
			       ? -1
			       : 0;
	}
	if (*d.text)
		log_info(&ctx->log,
			 "VF %s: changed while it was free: %s; the new values are its baseline "
			 "from now on",
			 x->vf, d.text);
	vf_follow(&x->base, x->has_left ? &x->left : &x->base, &now);
	return 0;
}

/* An early look, before anything changes. The plugin looks again under the lock of the node. */
static int claim_check_rdma(const struct claim_attempt *t, struct err *e)
{
	char name[PCI_RDMA_LEN];

	if (!t->who->needs_rdma)
		return 0;
	if (vf_has_userspace_driver(&t->place))
		return err_set(e, ERR_NOTFOUND, 0,
			       "VF %s has the driver %s, which makes no RDMA device", t->place.vf,
			       t->place.driver);
	if (pci_rdma_device(t->who->ctx->sysfs, t->place.vf, name, e) == 0)
		return 0;
	if (e->code != ERR_NOTFOUND)
		return -1;
	err_set(e, ERR_NOTFOUND, 0, "VF %s has no RDMA device on the host", t->place.vf);
	return err_hint(e, VF_NO_RDMA_HINT);
}

static int write_owner(struct claim_attempt *t, struct err *e)
{
	struct vf_entry *x = &t->entry;
	const struct claimant *who = t->who;
	struct link_info link = { .ifindex = 0 };

	if (*t->place.name && nl_link_by_name(who->nl, t->place.name, &link, e))
		return -1;
	x->owned = true;
	x->has_left = false;
	memcpy(x->driver, t->place.driver, sizeof(x->driver));
	x->owner = (struct vf_owner){ .key = who->key,
				      .netns = who->netns,
				      .netns_id = who->netns_id,
				      .from = netns_view_self(who->ctx),
				      .ifindex = link.ifindex };
	x->to_restore = who->will_change;
	return vf_state_write(who->ctx, x, e);
}

static int take_ownership(struct claim_attempt *t, struct err *e)
{
	const struct claimant *who = t->who;
	struct vf_entry *x = &t->entry;
	bool ours = t->known && vf_owner_is(x, &who->key, who->netns_id);
	bool clean = t->known && !x->owned && !x->to_restore;

	if (t->known && !ours && vf_owner_lives(who->ctx, x))
		return refuse_owned(t, e);
	if ((t->known && clean_up(t, e)) || (!ours && check_peer_owner(t, e)))
		return -1;
	if (vf_check_usable(&t->place, e) || refuse_used_by_host(t, e) || claim_check_rdma(t, e))
		return -1;
	if (!t->known)
		return start_entry(t, e) || clean_up(t, e) || write_owner(t, e) ? -1 : 0;
	/* The baseline is from another driver, which made no interface. */
	if (*t->place.name && !x->base.has_netdev &&
	    vf_capture_netdev(who->nl, &t->place, &x->base, e))
		return -1;
	if (clean && follow_changes(t, e))
		return -1;
	return write_owner(t, e);
}

int claim_vf(const struct claimant *who, const char *vf, struct vf_place *place, struct err *e)
{
	auto_claim_attempt struct claim_attempt t = { .who = who };
	auto_fd int lock = vf_state_lock(who->ctx, vf, VF_STATE_LOCK_MS, e);

	/* Locate the VF under the lock: the previous holder of the lock can have moved or renamed
	 * it. */
	if (lock < 0 || vf_locate(who->ctx, who->nl, vf, &t.place, e) || claim_read_entry(&t, e) ||
	    take_ownership(&t, e))
		return -1;
	*place = t.place;
	return 0;
}

int claim_open(const struct ctx *ctx, const char *vf, const struct record_key *key,
	       struct vf_entry *x, struct err *e)
{
	const struct netns_id any = { 0 };
	auto_vf_entry struct vf_entry ours = { 0 };
	auto_fd int lock = vf_state_lock(ctx, vf, VF_STATE_LOCK_MS, e);

	if (lock < 0 || vf_state_read(ctx, vf, &ours, e))
		return -1;
	if (!vf_owner_is(&ours, key, any))
		return err_set(e, ERR_STATE, 0, "VF %s belongs to another attachment meanwhile",
			       vf);
	*x = ours;
	ours = (struct vf_entry){ 0 };
	return TAKE_FD(lock);
}

int claim_set_own_mac(const struct ctx *ctx, const char *vf, const struct record_key *key,
		      struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	auto_fd int lock = claim_open(ctx, vf, key, &x, e);

	if (lock < 0)
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
	auto_fd int lock = claim_open(ctx, vf, key, &x, e);

	if (lock < 0)
		return -1;
	if (x.owner.ifindex == ifindex)
		return 0;
	x.owner.ifindex = ifindex;
	return vf_state_write(ctx, &x, e);
}

/* ---- release ---- */

static int release_locked(const struct ctx *ctx, struct vf_entry *x, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct err gone;
	uint64_t life;

	log_debug(&ctx->log, "VF %s: releasing it from %s", x->vf, x->owner.netns);
	if (nl_open(&nl, e) || vf_restore(ctx, nl, x, e))
		return -1;
	log_debug(&ctx->log, "VF %s: %s", x->vf,
		  x->owned        ? "its interface has not come back yet"
		  : x->to_restore ? "free, but not completely restored"
				  : "restored and free");
	bool is_gone =
		vf_life(ctx, x->vf, &life, &gone) ? gone.code == ERR_NOTFOUND : life != x->life;

	return is_gone ? vf_state_remove(ctx, x->vf, e) : vf_state_write(ctx, x, e);
}

/* 1: *x is the state of the VF; 0: nothing is known of it. recorded: a record has the VF. */
static int claim_read_state(const struct ctx *ctx, const char *vf, bool recorded,
			    struct vf_entry *x, struct err *e)
{
	struct err why;

	if (vf_state_read(ctx, vf, x, &why) == 0)
		return 1;
	if (why.code != ERR_NOTFOUND && why.code != ERR_DECODE)
		return err_pass(e, &why);
	if (why.code == ERR_DECODE) /* without a record, railctl vf repair handles the VF */
		log_warn(&ctx->log, "%s", why.msg);
	return recorded ? lost_find(ctx, vf, x, e) : 0;
}

static int claim_release_vf(const struct ctx *ctx, const char *vf, const struct record *r,
			    bool recorded, struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	auto_fd int lock = vf_state_lock(ctx, vf, VF_STATE_LOCK_MS, e);
	int rc = lock < 0 ? -1 : claim_read_state(ctx, vf, recorded, &x, e);

	if (rc <= 0)
		return rc;
	return vf_owner_is(&x, &r->key, r->netns_id) ? release_locked(ctx, &x, e) : 0;
}

int claim_release(const struct ctx *ctx, const char *vf, const struct record_key *key,
		  struct netns_id id, struct err *e)
{
	return claim_release_vf(ctx, vf, &(struct record){ .key = *key, .netns_id = id }, false, e);
}

int claim_take_guid_back(const struct ctx *ctx, const struct record *r, struct err *e)
{
	const char *vf = sriov_device_vf(r);
	auto_vf_entry struct vf_entry x = { 0 };
	auto_nl struct nl *nl = NULL;
	struct vf_place place;
	auto_fd int lock = vf_state_lock(ctx, vf, VF_STATE_LOCK_MS, e);

	if (lock < 0)
		return -1;
	if (vf_state_read(ctx, vf, &x, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	/* Another attachment that claims the VF restores it first. */
	if ((x.owned && !vf_owner_is(&x, &r->key, r->netns_id)) || !(x.to_restore & VF_GUIDS))
		return 0;
	if (release_locked(ctx, &x, e))
		return -1;
	if (!(x.to_restore & VF_GUIDS))
		return 0;
	if (nl_open(&nl, e) || vf_locate(ctx, nl, vf, &place, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	/* Without its driver it has no port. */
	if (!*place.driver)
		return 0;
	err_set(e, ERR_STATE, 0, "VF %s still has the GUID of its pod", vf);
	return err_hint(e, "see the log for what failed; the next DEL or `railctl vf repair` tries "
			   "again");
}

struct release {
	const struct ctx *ctx;
	const struct record_key *key;
	struct netns_id id;
	struct err *e;
	int rc;
};

static int claim_release_one(const struct vf_entry *x, void *arg)
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

	return vf_state_each(ctx, claim_release_one, &r, e) || r.rc ? -1 : 0;
}

/* ---- without state and record ---- */

/*
 * Names are reused: the configuration names the VF, or the result of ADD has the interface. Of the
 * VFs of several rails, Multus names only the first.
 */
static bool is_of_add(const struct cni_conf *conf, const char *ifname, const char *vf)
{
	const char *const given[] = { json_text(conf->tree, "deviceID"),
				      json_text(conf->tree, "pciBusID"),
				      json_text(conf->runtime, "deviceID") };
	char text[PCI_STR_LEN];
	struct pci_addr a;

	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		if (*given[i] && pci_parse(given[i], &a) == 0 && !strcmp(pci_format(a, text), vf))
			return true;
	}
	return cni_conf_made(conf, ifname);
}

static int find_same_vf(const struct record *part, void *arg)
{
	const char **vf = arg;

	if (*vf && strcmp(sriov_device_vf(part), *vf) == 0)
		*vf = NULL;
	return !*vf;
}

/* 1: nothing else has the VF. */
static int is_nobodys(const struct ctx *ctx, const char *vf, struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	auto_peer struct peer p = { .file = "" };
	const char *unclaimed = vf;
	struct err why;
	int rc;

	if (vf_state_read(ctx, vf, &x, &why) == 0)
		return 0;
	if (why.code != ERR_NOTFOUND && why.code != ERR_DECODE)
		return err_pass(e, &why);
	if (taken_each(ctx, find_same_vf, &unclaimed, e))
		return -1;
	rc = unclaimed ? peer_of_vf(ctx, vf, &p, e) : 0;
	return rc < 0 ? -1 : unclaimed && rc == (int)PEER_NONE;
}

static int release_link(const struct ctx *ctx, const struct link_info *link,
			const struct vf_owner *owner, struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	const struct lost_vf l = {
		.ctx = ctx, .vf = link->parent, .infiniband = link_is_ipoib(link), .owner = owner
	};
	auto_fd int lock = vf_state_lock(ctx, l.vf, VF_STATE_LOCK_MS, e);
	int rc = lock < 0 ? -1 : is_nobodys(ctx, l.vf, e);

	if (rc <= 0)
		return rc;
	log_warn(&ctx->log,
		 "VF %s: its state is lost, and so is the record of %s: it gets the values of a "
		 "new VF",
		 l.vf, owner->key.ifname);
	return lost_entry(&l, &x, e) || release_locked(ctx, &x, e) ? -1 : 0;
}

int claim_release_named(const struct ctx *ctx, const struct cni_conf *conf,
			const struct record_key *key, const char *path, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 }, host = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	struct vf_owner owner = { .key = *key, .netns = path, .from = netns_view_self(ctx) };
	struct link_info link;
	char pf[PCI_STR_LEN];
	struct err why;

	if (!*path)
		return 0;
	if (netns_open(path, &pod, &why))
		return why.errnum == ENOENT || why.errnum == EINVAL ? 0 : err_pass(e, &why);
	if (netns_open_self(&host, e) || nl_open_in(&pod, &host, &nl, e))
		return -1;
	if (netns_same(pod.id, host.id))
		return 0;
	if (nl_link_by_name(nl, key->ifname, &link, &why))
		return why.errnum == ENODEV ? 0 : err_pass(e, &why);
	int rc = pci_physfn(ctx->sysfs, link.parent, pf, &why);
	if (rc && why.code == ERR_NOTFOUND && why.errnum != EINVAL)
		rc = vf_not_seen(ctx, link.parent, &why);
	if (rc) {
		if (why.code != ERR_IO) /* it is not a VF, or gone */
			return 0;
		return err_pass(e, &why);
	}
	if (!is_of_add(conf, key->ifname, link.parent))
		return 0;
	owner.netns_id = pod.id;
	owner.ifindex = link.ifindex;
	return release_link(ctx, &link, &owner, e);
}

/* ---- by a record ---- */

int sriov_restore(const struct ctx *ctx, const struct record *r, struct err *e)
{
	const char *vf = sriov_device_vf(r), *devinfo = sriov_device_info(r->device);
	const struct peer_owner owner = { r->key, r->netns };
	auto_peer struct peer p = { .file = "" };
	struct err ignored;

	if (vf && claim_release_vf(ctx, vf, r, true, e))
		return -1;
	/* If the VF was attached again, the file of sriov-cni is outdated. */
	if (vf && peer_find(ctx, r->key.container, r->key.ifname, &p, &ignored) == 0 &&
	    strcmp(p.vf, vf) == 0 && peer_forget(ctx, &p, e))
		return -1;
	/* No VF is on record: ADD was killed after the claim, or sriov-cni made the attachment. */
	if (!vf &&
	    (claim_release_all(ctx, &r->key, r->netns_id, e) || peer_release(ctx, &owner, e)))
		return -1;
	return devinfo ? devinfo_remove(devinfo, e) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_restore.c: restores a VF that sriov-cni attached. The baseline comes from sriov-cni's file,
 * from our own VF state, and from the VF itself, in this order.
 */
#include <limits.h>
#include <string.h>

#include "lib/net/link.h"
#include "sriov/claim/peer.h"

/* ---- the baseline ---- */

/* Our entry is older than sriov-cni's attachment; sriov-cni's file is newer. */
static void merge_baseline(struct vf_baseline *b, const struct vf_baseline *known)
{
	const unsigned more = known->pf_side.has & ~b->pf_side.has;
	struct vf_baseline both = *known;

	vf_follow(&both, known, b);
	both.up = known->up;
	memcpy(both.altnames, known->altnames, sizeof(both.altnames));
	both.pf_side.has |= more;
	if (!b->has_netdev)
		both.has_netdev = false;
	*b = both;
}

/*
 * An attribute that sriov-cni set but did not record gets the value of a new VF. An attribute that
 * it did not set stays as it is now.
 */
static void complete_baseline(struct vf_baseline *b, const struct vf_info *now, unsigned to_restore)
{
	struct vf_info *s = &b->pf_side;
	const unsigned fresh = to_restore & ~(unsigned)VF_MAC & ~s->has;
	struct vf_baseline rest = { .pf_side = *now };
	const struct vf_baseline none = { .has_netdev = false };

	if (fresh & VF_VLAN)
		s->vlan_proto = VLAN_PROTO_8021Q;
	if (fresh & VF_SPOOFCHK)
		s->spoofchk = true;
	s->has |= fresh;
	rest.pf_side.has &= ~to_restore;
	vf_follow(b, &none, &rest);
}

/* Where the interface is. */
struct found {
	struct netns_id netns;
	int ifindex;
	struct vf_baseline base; /* sriov-cni's, completed by vf_guess_netdev() */
};

static int look_in_pod(const struct netns *pod, const struct peer *p, const char *ifname,
		       struct vf_baseline *b, struct err *e)
{
	auto_netns struct netns host = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	struct link_info link;
	struct err why;

	if (netns_open_self(&host, e) || nl_open_in(pod, &host, &nl, e))
		return -1;
	if (nl_link_by_name(nl, ifname, &link, &why) ||
	    (*link.parent ? strcmp(link.parent, p->vf) != 0 : *link.kind != '\0'))
		return 0;
	vf_guess_netdev(nl, &link, NULL, b);
	return link.ifindex;
}

static int find_netdev(const struct peer_host *h, const struct peer *p,
		       const struct peer_owner *owner, struct found *out, struct err *e)
{
	struct vf_baseline *b = &out->base;
	auto_netns struct netns pod = { .fd = -1 };
	struct link_info link;
	char name[IFNAME_LEN];
	struct err why;

	out->ifindex = b->has_netdev ? INT_MAX : 0;
	if (netns_open(owner->netns, &pod, &why) == 0) {
		out->netns = pod.id;
		int there = look_in_pod(&pod, p, owner->key.ifname, b, e);
		if (there < 0)
			return -1;
		out->ifindex = there ? there : out->ifindex;
	}
	if (pci_vf_netdev(h->ctx->sysfs, p->vf, name, &why) == 0 &&
	    nl_link_by_name(h->nl, name, &link, &why) == 0)
		vf_guess_netdev(h->nl, &link, name, b);
	return 0;
}

int peer_entry(const struct peer_host *h, const struct peer *p, const struct peer_owner *owner,
	       struct vf_entry *out, struct err *e)
{
	struct found at = { .base = p->base };
	struct vf_place place;
	struct vf_entry x;

	if (p->has_base && at.base.has_netdev && h->known)
		vf_guess_addr(&at.base, h->known->base.mtu, h->known->base.addr);
	if (vf_locate(h->ctx, h->nl, p->vf, &place, e) ||
	    vf_start_entry(h->ctx, h->nl, &place, &x, e) || find_netdev(h, p, owner, &at, e))
		return -1;
	if (h->known)
		x.base = h->known->base;
	if (p->has_base) {
		if (h->known)
			merge_baseline(&at.base, &h->known->base);
		complete_baseline(&at.base, &x.base.pf_side, p->to_restore);
		x.base = at.base;
		x.to_restore = p->to_restore;
	}
	x.owned = true;
	x.owner = (struct vf_owner){ .key = owner->key,
				     .netns = owner->netns,
				     .netns_id = at.netns,
				     .from = netns_view_self(h->ctx),
				     .ifindex = at.ifindex };
	*out = x;
	return 0;
}

/* ---- restore ---- */

static int claim_restore_vf(const struct ctx *ctx, struct nl *nl, const struct peer *p,
			    struct vf_entry *x, struct err *e)
{
	log_info(&ctx->log, "VF %s: restoring it as it was before sriov-cni's container %.64s",
		 p->vf, p->container);
	if (vf_restore(ctx, nl, x, e) || vf_state_write(ctx, x, e))
		return err_wrap(e, "VF %s, attached by sriov-cni", p->vf);
	return peer_forget(ctx, p, e);
}

/* Our entry of this life of the VF; NULL: there is none. */
static const struct vf_entry *read_known(const struct ctx *ctx, const char *vf, struct vf_entry *x)
{
	struct err ignored;

	return vf_state_current(ctx, vf, x, &ignored) == 0 ? x : NULL;
}

int peer_restore(const struct ctx *ctx, struct nl *nl, const struct peer *p, struct vf_entry *entry,
		 struct err *e)
{
	const struct peer_owner owner = { { p->network, p->container, p->ifname }, p->netns };
	auto_vf_entry struct vf_entry old = { 0 };
	const struct vf_entry *known = read_known(ctx, p->vf, &old);
	const struct peer_host h = { ctx, nl, known && !known->owned ? known : NULL };
	struct vf_entry x;

	if (peer_entry(&h, p, &owner, &x, e) || claim_restore_vf(ctx, nl, p, &x, e))
		return -1;
	vf_entry_clear(entry);
	/* The VF has no owner now, and the owner's strings belong to p. */
	x.owned = false;
	x.owner = (struct vf_owner){ .netns = "" };
	*entry = x;
	return 0;
}

static int peer_restore_release_locked(const struct ctx *ctx, const struct peer *p,
				       const struct peer_owner *owner, struct err *e)
{
	auto_vf_entry struct vf_entry old = { 0 };
	const struct vf_entry *known = read_known(ctx, p->vf, &old);
	auto_nl struct nl *nl = NULL;
	struct vf_entry x;
	struct err why;
	uint64_t life;

	/* Our VF state has an owner: only the file of sriov-cni is left. */
	if (known && known->owned)
		return peer_forget(ctx, p, e);
	/* The VF is gone with its card, or by a change of sriov_numvfs. */
	if (vf_life(ctx, p->vf, &life, &why) && why.code == ERR_NOTFOUND)
		return peer_forget(ctx, p, e);
	if (nl_open(&nl, e))
		return -1;
	const struct peer_host h = { ctx, nl, known };
	return peer_entry(&h, p, owner, &x, e) || claim_restore_vf(ctx, nl, p, &x, e) ? -1 : 0;
}

int peer_release(const struct ctx *ctx, const struct peer_owner *owner, struct err *e)
{
	auto_peer struct peer p = { .file = "" };
	struct peer_owner at = *owner;
	struct err why;

	if (peer_find(ctx, owner->key.container, owner->key.ifname, &p, &why)) {
		if (why.code == ERR_NOTFOUND)
			return 0;
		if (why.code != ERR_DECODE)
			return err_pass(e, &why);
		log_warn(&ctx->log, "%s", why.msg);
		return 0;
	}
	if (*p.network && strcmp(p.network, owner->key.network) != 0)
		return 0;
	if (!*at.netns)
		at.netns = p.netns;
	auto_fd int lock = vf_state_lock(ctx, p.vf, VF_STATE_LOCK_MS, e);
	return lock < 0 ? -1 : peer_restore_release_locked(ctx, &p, &at, e);
}

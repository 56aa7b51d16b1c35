/* SPDX-License-Identifier: Apache-2.0 */
/* peer_restore.c: a VF of sriov-cni's put back by what that has on record. */
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <string.h>

#include "lib/net/link.h"
#include "sriov/take/peer.h"

/* ---- what it was like ---- */

/* What an earlier version of the peer does not tell of the interface. */
static void add_netdev(struct vf_baseline *b, uint32_t mtu, struct hw_addr addr)
{
	if (!b->mtu)
		b->mtu = mtu;
	if (!b->addr.len)
		b->addr = addr;
}

/* As it would be without a tenant, of what the peer does not tell. */
static void guess_baseline(struct nl *nl, const struct link_info *link, const char *name,
			   struct vf_baseline *b)
{
	struct err ignored;

	if (b->has_netdev)
		add_netdev(b, link->mtu, link->addr);
	if (nl_settings_get(nl, link->ifindex, &b->link, &ignored))
		return;
	b->link.flags &= ~(unsigned)(IFF_PROMISC | IFF_ALLMULTI);
	b->link.alias[0] = '\0';
	/* By name, and so only of one that is here. */
	if (!name || ethtool_get(name, &b->tool, &ignored))
		b->tool = (struct ethtool_state){ .blocks = 0 };
	b->has_settings = true;
}

/* What we know of it is from before the peer had it; what the peer tells is later. */
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

/* An attribute that the peer set and does not tell of is a fresh VF's; one that it did not set is
 * as it is now. */
static void complete_baseline(struct vf_baseline *b, const struct vf_info *now, unsigned dirty)
{
	struct vf_info *s = &b->pf_side;
	const unsigned fresh = dirty & ~(unsigned)VF_MAC & ~s->has;
	struct vf_baseline rest = { .pf_side = *now };
	const struct vf_baseline none = { .has_netdev = false };

	if (fresh & VF_VLAN)
		s->vlan_proto = VLAN_PROTO_8021Q;
	if (fresh & VF_SPOOFCHK)
		s->spoofchk = true;
	s->has |= fresh;
	rest.pf_side.has &= ~dirty;
	vf_follow(b, &none, &rest);
}

/* Where its interface is, and by which number. */
struct found {
	struct netns_id netns;
	int ifindex;
	struct vf_baseline base; /* the peer's, and what can be guessed */
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
	guess_baseline(nl, &link, NULL, b);
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
		guess_baseline(h->nl, &link, name, b);
	return 0;
}

/* A file that only says who has it tells nothing of what it was like. */
static int begin_entry(const struct peer_host *h, const struct peer *p, struct vf_entry *x,
		       struct err *e)
{
	struct vf_place place;

	if (vf_locate(h->ctx, h->nl, p->vf, &place, e) ||
	    vf_start_entry(h->ctx, h->nl, &place, x, e))
		return -1;
	if (h->known)
		x->base = h->known->base;
	return 0;
}

int peer_entry(const struct peer_host *h, const struct peer *p, const struct peer_owner *owner,
	       struct vf_entry *out, struct err *e)
{
	struct found at = { .base = p->base };
	struct vf_entry x;

	if (p->has_base && at.base.has_netdev && h->known)
		add_netdev(&at.base, h->known->base.mtu, h->known->base.addr);
	if (begin_entry(h, p, &x, e) || find_netdev(h, p, owner, &at, e))
		return -1;
	if (p->has_base) {
		if (h->known)
			merge_baseline(&at.base, &h->known->base);
		complete_baseline(&at.base, &x.base.pf_side, p->dirty);
		x.base = at.base;
		x.dirty = p->dirty;
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

/* ---- put back ---- */

static int put_back(const struct ctx *ctx, struct nl *nl, const struct peer *p, struct vf_entry *x,
		    struct err *e)
{
	log_info(&ctx->log, "VF %s: put back as sriov-cni found it for container %.64s", p->vf,
		 p->container);
	if (vf_restore(ctx, nl, x, e) || vf_state_write(ctx, x, e))
		return err_wrap(e, "VF %s of sriov-cni's", p->vf);
	return peer_forget(ctx, p, e);
}

/* NULL: nothing is known of this life of it. */
static const struct vf_entry *read_known(const struct ctx *ctx, const char *vf, struct vf_entry *x)
{
	char boot[CTX_BOOT_ID_LEN + 1];
	struct err ignored;
	uint64_t life;

	if (ctx_boot_id(ctx, boot, &ignored) || vf_life(ctx, vf, &life, &ignored) ||
	    vf_state_read(ctx, vf, x, &ignored))
		return NULL;
	return strcmp(x->boot, boot) == 0 && x->life == life ? x : NULL;
}

int peer_restore(const struct ctx *ctx, struct nl *nl, const struct peer *p, struct vf_entry *entry,
		 struct err *e)
{
	const struct peer_owner owner = { { p->network, p->container, p->ifname }, p->netns };
	auto_vf_entry struct vf_entry old = { 0 };
	const struct vf_entry *known = read_known(ctx, p->vf, &old);
	const struct peer_host h = { ctx, nl, known && !known->owned ? known : NULL };
	struct vf_entry x;

	if (peer_entry(&h, p, &owner, &x, e) || put_back(ctx, nl, p, &x, e))
		return -1;
	vf_entry_clear(entry);
	/* The owner's strings are p's; nobody owns it now. */
	x.owned = false;
	x.owner = (struct vf_owner){ .netns = "" };
	*entry = x;
	return 0;
}

static int release_locked(const struct ctx *ctx, const struct peer *p,
			  const struct peer_owner *owner, struct err *e)
{
	auto_vf_entry struct vf_entry old = { 0 };
	const struct vf_entry *known = read_known(ctx, p->vf, &old);
	auto_nl struct nl *nl = NULL;
	struct vf_entry x;
	struct err why;
	uint64_t life;

	/* Somebody of ours has it by now: only the file was left. */
	if (known && known->owned)
		return peer_forget(ctx, p, e);
	/* It went with its card, or with sriov_numvfs. */
	if (vf_life(ctx, p->vf, &life, &why) && why.code == ERR_NOTFOUND)
		return peer_forget(ctx, p, e);
	if (nl_open(&nl, e))
		return -1;
	const struct peer_host h = { ctx, nl, known };
	return peer_entry(&h, p, owner, &x, e) || put_back(ctx, nl, p, &x, e) ? -1 : 0;
}

int peer_release(const struct ctx *ctx, const struct peer_owner *owner, struct err *e)
{
	auto_peer struct peer p = { .file = "" };
	struct peer_owner at = *owner;
	struct err why;

	if (peer_find(ctx, owner->key.container, owner->key.ifname, &p, &why)) {
		if (why.code == ERR_NOTFOUND)
			return 0;
		if (why.code != ERR_DECODE) {
			*e = why;
			return -1;
		}
		log_warn(&ctx->log, "%s", why.msg);
		return 0;
	}
	if (*p.network && strcmp(p.network, owner->key.network) != 0)
		return 0;
	if (!*at.netns)
		at.netns = p.netns;
	auto_fd int lock = vf_state_lock(ctx, p.vf, VF_STATE_LOCK_MS, e);
	return lock < 0 ? -1 : release_locked(ctx, &p, &at, e);
}

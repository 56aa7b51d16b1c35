/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore.c: brings the interface of a VF back to the host and restores the baseline.
 *
 * The interface can be in the pod, under any name. If the pod's namespace has died, the kernel
 * moves it to the host. The kernel calls it "dev5" if its name is taken there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/backoff.h"
#include "lib/net/link.h"
#include "lib/rdma/return.h"
#include "sriov/vf/guid.h"

#define RETURN_MS 2000 /* for an interface to come back from a namespace that died */

/* The first error that was not the driver's refusal, and that may be gone at the next attempt. */
struct transient {
	bool any;
	struct err err;
};

struct restore_run {
	const struct ctx *ctx;
	struct transient *transient;
	struct nl *nl;
	struct vf_entry *x;
	bool fetched;          /* its interface comes, because we moved something out of the pod */
	bool rebound;          /* its driver made the interface again */
	struct link_info link; /* on the host; ifindex 0: it has none here */
};

static bool may_pass(const struct err *why)
{
	return why->code == ERR_NOMEM || why->code == ERR_IO || why->code == ERR_AGAIN ||
	       why->errnum == ENOMEM || why->errnum == ENOBUFS;
}

static void note_transient(const struct restore_run *b, const struct err *why)
{
	if (!b->transient->any)
		*b->transient = (struct transient){ true, *why };
}

static void restore_note_refusal(const struct restore_run *b, const char *what,
				 const struct err *why)
{
	if (may_pass(why))
		note_transient(b, why);
	log_warn(&b->ctx->log, "VF %s: cannot restore %s: %s", b->x->vf, what, why->msg);
}

/* The next attachment of the VF tries again. */
static void restore_note_netdev(const struct restore_run *b, const char *what,
				const struct err *why)
{
	restore_note_refusal(b, what, why);
	b->x->to_restore |= VF_UNREACHABLE;
}

/* ---- fetching the interface ---- */

static bool restore_is_of_vf(const struct vf_entry *x, const struct link_info *link)
{
	/* Kernels before 5.14 do not report the device of an interface. A VF's interface has no
	 * kind. */
	return *link->parent ? strcmp(link->parent, x->vf) == 0 : !*link->kind;
}

/* out->ifindex 0: it is not there. */
static int restore_find_in_pod(const struct vf_entry *x, struct nl *pod_nl, struct link_info *out,
			       struct err *e)
{
	struct err why;

	if (x->owner.ifindex && nl_link_by_index(pod_nl, x->owner.ifindex, out, &why) == 0 &&
	    restore_is_of_vf(x, out))
		return 0;
	int rc = nl_link_by_name(pod_nl, x->owner.key.ifname, out, &why);
	if (rc == 0 && restore_is_of_vf(x, out))
		return 0;
	*out = (struct link_info){ 0 };
	if (rc == 0 || why.errnum == ENODEV)
		return 0;
	return err_pass(e, &why);
}

struct names {
	const struct restore_run *b;
	struct nl *nl;
	int ifindex;
	bool keep_own;
};

static int drop_altname(const char *name, void *arg)
{
	const struct names *n = arg;
	struct err why;

	if (n->keep_own && vf_baseline_has_altname(&n->b->x->base, name))
		return 0;
	if (nl_link_altname_del(n->nl, n->ifindex, name, &why))
		restore_note_netdev(n->b, "an alternative name", &why);
	return 0;
}

/* The pod may have added names that are taken on the host. With those the interface cannot move. */
static void drop_altnames(struct names n)
{
	struct err why;

	if (nl_link_altnames(n.nl, n.ifindex, drop_altname, &n, &why))
		restore_note_netdev(n.b, "its alternative names", &why);
}

void vf_spare_name(const char *vf, char out[IFNAME_LEN])
{
	struct pci_addr a = { 0 };

	(void)!pci_parse(vf, &a);
	if (a.domain)
		(void)snprintf(out, IFNAME_LEN, "vf%x%02x%02x%u", a.domain, a.bus, a.dev,
			       a.fn & 7u);
	else
		(void)snprintf(out, IFNAME_LEN, "vf%02x%02x%u", a.bus, a.dev, a.fn & 7u);
}

/* from: a socket of the namespace that the interface is in. */
static int restore_move_to(struct restore_run *b, struct nl *from, int ifindex,
			   const struct netns *host, struct err *e)
{
	const char *name = b->x->base.name;
	char other[IFNAME_LEN];
	struct err why;

	if (nl_link_move(from, ifindex, host, name, &why) == 0)
		return 0;
	if (why.errnum == EEXIST) {
		drop_altnames((struct names){ b, from, ifindex, false });
		if (nl_link_move(from, ifindex, host, name, &why) == 0)
			return 0;
	}
	if (why.errnum == EEXIST) {
		vf_spare_name(b->x->vf, other);
		log_warn(&b->ctx->log, "VF %s: the name %s is taken on the host; it becomes %s",
			 b->x->vf, name, other);
		if (nl_link_move(from, ifindex, host, other, &why) == 0)
			return 0;
	}
	return err_pass(e, &why);
}

static int fetch_from(struct restore_run *b, const struct netns *pod, const struct netns *host,
		      struct err *e)
{
	auto_nl struct nl *pod_nl = NULL;
	struct link_info link;

	if (nl_open_in(pod, host, &pod_nl, e) || restore_find_in_pod(b->x, pod_nl, &link, e))
		return -1;
	if (!link.ifindex)
		return 0;
	if (nl_link_set_down(pod_nl, link.ifindex, e) ||
	    restore_move_to(b, pod_nl, link.ifindex, host, e))
		return -1;
	b->fetched = true;
	log_debug(&b->ctx->log, "VF %s: %s has left the pod", b->x->vf, link.name);
	return 0;
}

static int fetch_if_owner_lives(struct restore_run *b, const struct netns *host, bool *dead,
				struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 };
	const struct vf_owner *w = &b->x->owner;
	char name[IFNAME_LEN];
	struct err why;

	if (!b->x->owned || !w->ifindex)
		return 0;
	/* The interface is on the host. Another one has its number in the pod. */
	if (pci_vf_netdev(b->ctx->sysfs, b->x->vf, name, &why) == 0)
		return 0;

	int rc = vf_owner_netns(b->ctx, w, &pod, e);

	if (rc < 0)
		return -1;
	*dead = rc == 0;
	if (*dead || netns_same(pod.id, host->id))
		return 0;
	return fetch_from(b, &pod, host, e);
}

/*
 * 1: name is its name on the host; 0: it is not here. A dying namespace gives the interface back
 * within about 100 ms. sysfs sends no event for that. A namespace that a process keeps alive never
 * gives it back.
 */
static int find_here(struct restore_run *b, bool coming, char name[IFNAME_LEN], struct err *e)
{
	struct backoff p = backoff_for(coming ? RETURN_MS : 0);
	struct err why;

	while (pci_vf_netdev(b->ctx->sysfs, b->x->vf, name, &why)) {
		if (why.code != ERR_NOTFOUND)
			return err_pass(e, &why);
		if (!backoff_pause(&p))
			return 0;
	}
	return 1;
}

/* A VF without a driver, or with a user-space driver, has no interface that could come back. */
static int must_have_netdev(const struct restore_run *b, struct err *e)
{
	struct vf_place p = { 0 };

	if (!b->x->base.has_netdev)
		return 0;
	if (pci_driver(b->ctx->sysfs, b->x->vf, p.driver, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	return *p.driver && !vf_has_userspace_driver(&p);
}

/* Finds the interface on the host and gives it its own name again. */
static int look_here(struct restore_run *b, const struct netns *host, bool coming, struct err *e)
{
	int expected = must_have_netdev(b, e);
	char name[IFNAME_LEN];
	int rc = expected < 0 ? -1 : find_here(b, coming && expected, name, e);

	b->link = (struct link_info){ .ifindex = 0 };
	b->x->to_restore &= ~(unsigned)VF_UNREACHABLE;
	if (rc == 0 && expected) {
		b->x->to_restore |= VF_UNREACHABLE;
		log_warn(&b->ctx->log, "VF %s: its interface is not in %s, and has not come back",
			 b->x->vf, b->x->owned ? b->x->owner.netns : "its pod");
	}
	if (rc <= 0)
		return rc;
	if (nl_link_by_name(b->nl, name, &b->link, e))
		return -1;
	if (!b->x->base.has_netdev || strcmp(name, b->x->base.name) == 0)
		return 0;
	return nl_link_set_down(b->nl, b->link.ifindex, e) ||
			       restore_move_to(b, b->nl, b->link.ifindex, host, e)
		       ? -1
		       : 0;
}

/* ---- the RDMA device, and InfiniBand ---- */

/* The RDMA device comes first. With one of InfiniBand, the kernel makes its interface again. */
static int return_rdma(struct restore_run *b, struct err *e)
{
	const struct vf_owner *w = &b->x->owner;
	const struct netns_on_record from = { w->netns, NULL, w->netns_id, w->from };
	const struct rdma_away away = { b->x->vf, w->rdma.index, w->rdma.name, w->rdma.uverbs };

	if (!b->x->owned || !*w->rdma.name)
		return 0;
	if (rdma_return(b->ctx, &from, &away, false, e))
		return -1;
	b->fetched = b->x->base.addr.len == HW_ADDR_MAX;
	return 0;
}

static void restore_guids(struct restore_run *b, const struct vf_place *place, bool dead)
{
	/* Some kernels give the interface of IPoIB back when a namespace dies, others delete it. */
	bool lost = dead && !b->link.ifindex && b->x->base.addr.len == HW_ADDR_MAX;
	struct vf_guid_restore g = {
		.ctx = b->ctx,
		.nl = b->nl,
		.x = b->x,
		.place = place,
		.addr = b->link.addr,
		.lost = lost,
	};
	struct err why;

	if (!lost && !(b->x->to_restore & VF_GUIDS))
		return;
	if (vf_restore_guids(&g, &why))
		restore_note_refusal(b, "its GUIDs", &why);
	else if (b->link.ifindex || g.rebound || !*place->driver || vf_has_userspace_driver(place))
		b->x->to_restore &= ~(unsigned)VF_GUIDS;
	/* Else its interface is in a namespace that is not seen, with the GUID of the pod. */
	/* If the driver goes on refusing, the next attempt finds the VF without one. */
	if (g.unfinished)
		note_transient(b, &why);
	b->rebound = g.rebound;
}

/* The administrator had set a GUID that the driver had not read before: the address has it now. */
static void follow_guid(const struct restore_run *b)
{
	struct vf_baseline *base = &b->x->base;
	struct guid port;

	if ((base->pf_side.has & VF_PORT_GUID) && hw_addr_guid(b->link.addr, &port) &&
	    guid_equal(port, base->pf_side.port_guid))
		base->addr = b->link.addr;
}

/* ---- restoring the settings ---- */

static void on_refused(const char *what, const struct err *why, void *arg)
{
	restore_note_netdev(arg, what, why);
}

/* The settings that a pod can change beside name, MAC, MTU and state. */
static void restore_settings(const struct restore_run *b)
{
	const struct vf_baseline *base = &b->x->base;
	const int ifindex = b->link.ifindex;
	struct link_settings is;
	struct ethtool_state tool;
	struct link_info link;
	struct err why;

	/* Use the present name: the name in the baseline may be taken. */
	if (nl_link_by_index(b->nl, ifindex, &link, &why)) {
		restore_note_netdev(b, "the settings of its interface", &why);
		return;
	}
	if (b->x->base_lost && !base->has_settings) {
		vf_guess_netdev(b->nl, &link, link.name, &b->x->base);
		log_warn(&b->ctx->log,
			 "VF %s: its baseline is lost, so the settings of ethtool stay as its "
			 "tenant left them",
			 b->x->vf);
	}
	if (!base->has_settings)
		return;
	if (nl_settings_get(b->nl, ifindex, &is, &why))
		restore_note_netdev(b, "the settings of its interface", &why);
	else
		nl_settings_set(
			b->nl, ifindex,
			&(struct settings_change){ &is, &base->link, on_refused, (void *)b });
	if (ethtool_get(link.name, &tool, &why))
		restore_note_netdev(b, "what ethtool sets", &why);
	else
		ethtool_set(link.name,
			    &(struct ethtool_set){ &tool, &base->tool, on_refused, (void *)b });
}

static void restore_netdev(const struct restore_run *b)
{
	const struct vf_baseline *base = &b->x->base;
	struct err why;

	if (!b->link.ifindex || !base->has_netdev)
		return;
	if (base->mtu && b->link.mtu != base->mtu &&
	    nl_link_set_mtu(b->nl, b->link.ifindex, base->mtu, &why))
		restore_note_netdev(b, "its MTU", &why);
	drop_altnames((struct names){ b, b->nl, b->link.ifindex, true });
	for (size_t i = 0; i < VF_ALTNAMES_MAX && base->altnames[i][0]; i++) {
		if (nl_link_altname_add(b->nl, b->link.ifindex, base->altnames[i], &why))
			restore_note_netdev(b, "an alternative name", &why);
	}
	restore_settings(b);
	if (base->up && nl_link_set_up(b->nl, b->link.ifindex, &why))
		restore_note_netdev(b, "its state up", &why);
}

/* An attribute that the driver did not report gets the value that a new VF has. */
static struct vf_info as_it_was(const struct vf_baseline *base, enum vf_attr one)
{
	if (base->pf_side.has & one)
		return base->pf_side;
	return (struct vf_info){ .has = one, .vlan_proto = VLAN_PROTO_8021Q, .spoofchk = true };
}

/* True if the VF chose its MAC by itself, and its PF shows that MAC. */
static bool restore_has_own_mac(const struct restore_run *b, struct vf_ref vf)
{
	struct vf_info is;
	struct err why;

	return b->x->base.own_mac && nl_vf_get(b->nl, vf, &is, &why) == 0 && (is.has & VF_MAC) &&
	       hw_addr_equal(b->x->base.addr, hw_addr_of_mac(is.mac));
}

/*
 * Restores a MAC that the VF chose by itself, without an administrative MAC: with that an untrusted
 * pod could never change its MAC again. False: the VF chose none, or the driver refused.
 */
static bool give_own_mac(const struct restore_run *b, struct vf_ref vf)
{
	const struct vf_baseline *base = &b->x->base;
	const struct vf_info none = { .has = VF_MAC };
	struct err why;

	return base->own_mac &&
	       vf_set_macs(&(struct vf_macs){ b->nl, vf, &none, b->link.ifindex, base->addr.byte },
			   &why) == 0;
}

/*
 * If the pod changed only the MAC of its interface, only that is restored, as far as the driver
 * permits. Setting the MAC at the PF would make it an administrative one.
 */
static int restore_mac(const struct restore_run *b, struct vf_ref vf, struct err *e)
{
	const struct vf_baseline *base = &b->x->base;
	const struct vf_info was = as_it_was(base, VF_MAC);
	bool here = b->link.ifindex && base->has_netdev && vf_baseline_has_addr(base);
	bool differs = here && !hw_addr_equal(b->link.addr, base->addr);
	bool to_restore = b->x->to_restore & VF_MAC, by_pf = hw_addr_is_mac(base->addr);
	struct err why;

	if (differs && !(to_restore && by_pf)) {
		differs = nl_link_set_hw_addr(b->nl, b->link.ifindex, base->addr, &why) != 0;
		/* No PF sets the address of an IPoIB interface. */
		if (differs && !by_pf)
			return err_pass(e, &why);
	}
	if (!differs && !to_restore)
		return 0;
	if (here && (differs ? give_own_mac(b, vf) : restore_has_own_mac(b, vf)))
		return 0;

	const struct vf_macs macs = { b->nl, vf, &was, differs ? b->link.ifindex : 0,
				      base->addr.byte };

	if (vf_set_macs(&macs, e) == 0)
		return 0;
	/* A PF without MACs of VFs: the interface takes any. */
	return differs && by_pf && e->errnum == EOPNOTSUPP
		       ? nl_link_set_hw_addr(b->nl, b->link.ifindex, base->addr, e)
		       : -1;
}

/* A driver can refuse a value that is already set: igb refuses any rate while it has no link. */
static int restore_attr(const struct restore_run *b, struct vf_ref vf, enum vf_attr one,
			struct err *e)
{
	struct vf_info was = as_it_was(&b->x->base, one), is;
	struct err ignored;

	if (nl_vf_set(b->nl, vf, &was, one, e) == 0)
		return 0;
	/* An attribute that the driver does not support was never changed. */
	if (e->errnum == EOPNOTSUPP)
		return 0;
	was.has = one;
	return nl_vf_get(b->nl, vf, &is, &ignored) == 0 && (is.has & one) &&
			       !vf_differing(&is, &was)
		       ? 0
		       : -1;
}

static void restore_pf_side(struct restore_run *b, struct vf_ref vf)
{
	static const enum vf_attr order[] = { VF_VLAN, VF_RATE, VF_SPOOFCHK, VF_LINK_STATE,
					      VF_TRUST };
	struct err why;

	if (restore_mac(b, vf, &why) && why.errnum != EOPNOTSUPP) {
		restore_note_refusal(b, vf_attr_name(VF_MAC), &why);
		b->x->to_restore |= VF_MAC;
	} else {
		b->x->to_restore &= ~(unsigned)VF_MAC;
	}
	/* Trust comes last: it may be what permits the other changes. */
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (!(b->x->to_restore & order[i]))
			continue;
		log_debug(&b->ctx->log, "VF %s: restoring its %s", b->x->vf,
			  vf_attr_name(order[i]));
		if (restore_attr(b, vf, order[i], &why))
			restore_note_refusal(b, vf_attr_name(order[i]), &why);
		else
			b->x->to_restore &= ~(unsigned)order[i];
	}
}

/*
 * Records values that differ from the baseline although no request failed. Without this record the
 * next attachment would treat them as an administrator's. pf_side: attributes at the PF were
 * restored.
 */
static void note_what_is_left(const struct restore_run *b, bool pf_side)
{
	struct vf_entry *x = b->x;
	struct vf_differences d = { .text = "" };
	struct vf_place place;
	struct vf_baseline now = { .has_netdev = false };
	struct vf_guids own;
	struct err ignored;

	x->has_left = false;
	if ((x->to_restore & VF_UNREACHABLE) || vf_locate(b->ctx, b->nl, x->vf, &place, &ignored) ||
	    (*place.name && vf_capture_netdev(b->nl, &place, &now, &ignored)))
		return;
	now.pf_side = x->base.pf_side;
	if (pf_side && nl_vf_get(b->nl, (struct vf_ref){ place.pf_ifindex, place.index },
				 &now.pf_side, &ignored))
		return;
	own = vf_own_guids(b->ctx, x->vf, now.addr);
	vf_told_guids(&now.pf_side, &own, now.addr);
	vf_compare(&now, &x->base, true, &d);
	x->has_left = *d.text;
	x->left = now;
	/* The driver accepted the change and did not do it. */
	x->to_restore |= d.attrs & VF_ISOLATES;
	if (x->has_left)
		log_warn(&b->ctx->log, "VF %s: restored, except %s", x->vf, d.text);
}

/* ---- the whole VF ---- */

/* A card that is gone has nothing to restore; a VF that was seen is one (EINVAL: it is none). */
static bool restore_is_gone(const struct err *why)
{
	return why->code == ERR_NOTFOUND || (why->code == ERR_CONFIG && why->errnum != EINVAL) ||
	       why->errnum == ENODEV;
}

static int restore_existing(struct restore_run *b, struct err *e)
{
	auto_netns struct netns host = { .fd = -1 };
	struct vf_place place;
	struct err why;
	bool dead = false, pf_side = b->x->to_restore & VF_ALL;

	if (netns_open_self(&host, e) || return_rdma(b, e) ||
	    fetch_if_owner_lives(b, &host, &dead, e) ||
	    look_here(b, &host, dead || b->fetched || (b->x->to_restore & VF_UNREACHABLE), e))
		return err_wrap(e, "return VF %s to the host", b->x->vf);
	if (vf_locate(b->ctx, b->nl, b->x->vf, &place, &why) == 0) {
		restore_guids(b, &place, dead);
		if (b->rebound && look_here(b, &host, true, e))
			return err_wrap(e, "VF %s after its driver was bound again", b->x->vf);
		if (b->rebound)
			follow_guid(b);
		restore_pf_side(b, (struct vf_ref){ place.pf_ifindex, place.index });
	} else if (restore_is_gone(&why))
		log_warn(&b->ctx->log, "VF %s: %s", b->x->vf, why.msg);
	else
		note_transient(b, &why);
	restore_netdev(b);
	if (b->transient->any) {
		*e = b->transient->err;
		return err_wrap(e, "restore VF %s", b->x->vf);
	}
	b->x->owned = b->x->owned && !b->link.ifindex && (b->x->to_restore & VF_UNREACHABLE);
	note_what_is_left(b, pf_side);
	return 0;
}

int vf_restore(const struct ctx *ctx, struct nl *nl, struct vf_entry *x, struct err *e)
{
	struct transient transient = { .any = false };
	struct restore_run b = { .ctx = ctx, .transient = &transient, .nl = nl, .x = x };
	struct err why;
	uint64_t life;

	if (vf_life(ctx, x->vf, &life, &why)) {
		if (why.code != ERR_NOTFOUND)
			return err_pass(e, &why);
		life = 0;
	}
	if (life && life == x->life)
		return restore_existing(&b, e);
	/* sriov_numvfs removed it. A VF that has the address now is new, with a new VF's values. */
	x->to_restore = 0;
	x->owned = x->has_left = false;
	return 0;
}

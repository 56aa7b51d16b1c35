/* SPDX-License-Identifier: Apache-2.0 */
/*
 * configure.c: sets what a configuration asks for at the PF and at the interface of a VF, and
 * moves the interface into the pod.
 */
#include <errno.h>
#include <string.h>

#include "lib/base/backoff.h"
#include "lib/net/link.h"
#include "sriov/vf/guid.h"

static int ifindex_here(struct nl *nl, const struct vf_place *p, int *out, struct err *e)
{
	struct link_info link;

	*out = 0;
	if (!*p->name)
		return 0;
	if (nl_link_by_name(nl, p->name, &link, e))
		return -1;
	*out = link.ifindex;
	return 0;
}

/* Two keys can make one attribute: the message names the key that the driver probably refused. */
static int configure_explain_refusal(const struct vf_place *p, const struct vf_info *want,
				     enum vf_attr one, struct err *e)
{
	const char *key = vf_attr_name(one);

	if (one == VF_RATE && want->min_rate)
		key = "min_tx_rate";
	else if (one == VF_VLAN && e->errnum == EPROTONOSUPPORT)
		key = "vlanProto";
	return err_wrap(e, "%s: VF %s (driver %s, PF %s)", key, p->vf,
			*p->driver ? p->driver : "none", p->pf_name);
}

/*
 * True if the VF chose its MAC by itself. igb does not say so, but it lets an untrusted VF change
 * only a MAC of its own. The test therefore sets the MAC that the VF shall get anyway. Other
 * drivers do not report a MAC that the VF chose, or need long to refuse (iavf).
 */
static bool has_own_mac(const struct vf_place *p, const struct vf_macs *m)
{
	struct vf_info is;
	struct link_info link;
	struct err ignored;

	if (!m->ifindex || strcmp(p->driver, "igbvf") != 0 ||
	    nl_vf_get(m->nl, m->vf, &is, &ignored) || !(is.has & VF_TRUST) || is.trust ||
	    nl_link_by_index(m->nl, m->ifindex, &link, &ignored))
		return false;
	/*
	 * The driver never refuses the MAC that the VF has already. igbvf reports success although
	 * the PF refused, if the PF gave that MAC at the last reset. So ask the PF afterwards.
	 */
	return memcmp(is.mac, m->mac, MAC_LEN) != 0 &&
	       !hw_addr_equal(link.addr, hw_addr_of_mac(m->mac)) &&
	       nl_link_set_hw_addr(m->nl, m->ifindex, hw_addr_of_mac(m->mac), &ignored) == 0 &&
	       nl_vf_get(m->nl, m->vf, &is, &ignored) == 0 && memcmp(is.mac, m->mac, MAC_LEN) == 0;
}

int vf_configure(struct nl *nl, const struct vf_place *p, const struct vf_request *w, bool *own_mac,
		 struct err *e)
{
	/* Trust comes first: some drivers let only a trusted VF change its MAC. */
	static const enum vf_attr order[] = { VF_TRUST,      VF_VLAN,      VF_RATE,     VF_SPOOFCHK,
					      VF_LINK_STATE, VF_NODE_GUID, VF_PORT_GUID };
	const struct vf_ref vf = { p->pf_ifindex, p->index };
	const struct vf_info *want = &w->pf_side;
	struct vf_macs macs = { nl, vf, want, 0, want->mac };

	if (ifindex_here(nl, p, &macs.ifindex, e))
		return err_wrap(e, "VF %s", p->vf);
	if (own_mac)
		*own_mac = (want->has & VF_MAC) && has_own_mac(p, &macs);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if ((want->has & order[i]) && nl_vf_set(nl, vf, want, order[i], e))
			return configure_explain_refusal(p, want, order[i], e);
	}
	if ((want->has & VF_MAC) && vf_set_macs(&macs, e))
		return configure_explain_refusal(p, want, VF_MAC, e);
	if (w->mtu && macs.ifindex && nl_link_set_mtu(nl, macs.ifindex, w->mtu, e))
		return err_wrap(e, "mtu: VF %s (driver %s)", p->vf, p->driver);
	return 0;
}

/* ---- its two MACs ---- */

#define PATIENCE_MS 2000 /* for a VF that its PF resets: i40e and ice need some 100 ms */

/* The errors of drivers that refuse while the administrative MAC is set, or need some time. */
static bool may_yet_work(int errnum)
{
	return errnum == EADDRNOTAVAIL || errnum == EPERM || errnum == EBUSY || errnum == EAGAIN;
}

/* igbvf accepts any MAC while there is no administrative MAC, and keeps it afterwards. */
static int set_around(const struct vf_macs *m, struct err *e)
{
	const struct vf_info none = { .has = VF_MAC };
	struct err why;

	if (nl_vf_set(m->nl, m->vf, &none, VF_MAC, e))
		return -1;
	int rc = nl_link_set_hw_addr(m->nl, m->ifindex, hw_addr_of_mac(m->mac), e);
	if (nl_vf_set(m->nl, m->vf, m->pf_side, VF_MAC, &why)) {
		if (rc == 0)
			*e = why;
		return -1;
	}
	return rc;
}

static int set_effective(const struct vf_macs *m, struct err *e)
{
	struct backoff p = backoff_for(PATIENCE_MS);
	const struct hw_addr want = hw_addr_of_mac(m->mac);
	struct link_info link;
	struct err why;

	do {
		if (nl_link_by_index(m->nl, m->ifindex, &link, e))
			return -1;
		if (hw_addr_equal(link.addr, want) ||
		    nl_link_set_hw_addr(m->nl, m->ifindex, want, &why) == 0)
			return 0;
		if (why.errnum == EADDRNOTAVAIL && set_around(m, &why) == 0)
			return 0;
	} while (may_yet_work(why.errnum) && backoff_pause(&p));
	return err_pass(e, &why);
}

int vf_set_macs(const struct vf_macs *m, struct err *e)
{
	if (nl_vf_set(m->nl, m->vf, m->pf_side, VF_MAC, e))
		return -1;
	return m->ifindex ? set_effective(m, e) : 0;
}

/* ---- moving ---- */

struct clash {
	const struct vf_target *to;
	int ifindex;
	bool long_ones; /* drop every name that is too long for a request by name */
	unsigned dropped;
	int rc;
	struct err *e;
};

static bool is_in_the_way(const struct clash *c, const char *name)
{
	struct link_info other;
	struct err ignored;

	if (c->long_ones)
		return strnlen(name, IFNAME_LEN) == IFNAME_LEN;
	return strcmp(name, c->to->ifname) == 0 ||
	       nl_link_by_any_name(c->to->pod_nl, name, &other, &ignored) == 0;
}

static int drop_if_in_the_way(const char *name, void *arg)
{
	struct clash *c = arg;

	if (!is_in_the_way(c, name))
		return 0;
	c->dropped++;
	c->rc = nl_link_altname_del(c->to->host_nl, c->ifindex, name, c->e);
	return c->rc;
}

static int make_way(struct clash *c)
{
	return nl_link_altnames(c->to->host_nl, c->ifindex, drop_if_in_the_way, c, c->e) || c->rc
		       ? -1
		       : 0;
}

/* No request can look up a long name in the pod. Only the refusal shows that it is taken. */
static int move_past_clash(struct clash *c)
{
	const struct vf_target *to = c->to;
	struct err why;

	if (nl_link_move(to->host_nl, c->ifindex, to->pod, to->ifname, &why) == 0)
		return 0;
	c->long_ones = true;
	c->dropped = 0;
	if (why.errnum == EEXIST && make_way(c))
		return -1;
	if (why.errnum == EEXIST && c->dropped)
		return nl_link_move(to->host_nl, c->ifindex, to->pod, to->ifname, c->e);
	*c->e = why;
	return -1;
}

struct netdev_search {
	const char *vf;
	int ifindex; /* 0: not found */
};

static int consider_link(const struct link_info *link, void *arg)
{
	struct netdev_search *s = arg;

	if (!link->lower_ifindex && strcmp(link->parent, s->vf) == 0)
		s->ifindex = link->ifindex;
	return s->ifindex;
}

int vf_ipoib_in_pod(const struct vf_place *p, struct nl *pod_nl, int *ifindex, struct err *e)
{
	struct netdev_search s = { .vf = p->vf };

	if (nl_link_each(pod_nl, "ipoib", consider_link, &s, e))
		return err_wrap(e, "VF %s", p->vf);
	*ifindex = s.ifindex;
	return 0;
}

int vf_move_to_pod(const struct vf_place *p, const struct vf_target *to, int *ifindex,
		   struct err *e)
{
	struct clash c = { .to = to, .e = e };
	struct link_info link;

	if (!*p->name) {
		if (vf_ipoib_in_pod(p, to->pod_nl, ifindex, e))
			return -1;
		return *ifindex ? nl_link_move(to->pod_nl, *ifindex, to->pod, to->ifname, e)
				: err_set(e, ERR_STATE, 0, "VF %s has no interface", p->vf);
	}
	if (ifindex_here(to->host_nl, p, &c.ifindex, e) || make_way(&c) || move_past_clash(&c) ||
	    nl_link_by_name(to->pod_nl, to->ifname, &link, e))
		return err_wrap(e, "VF %s", p->vf);
	*ifindex = link.ifindex;
	return 0;
}

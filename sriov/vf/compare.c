/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c: compares a VF with its baseline, and moves into the baseline what an administrator
 * changed. Pure.
 */
#include <stdio.h>
#include <string.h>

#include "sriov/vf/vf.h"

static void add_difference(struct vf_differences *d, const char *what)
{
	size_t len = strlen(d->text);

	(void)snprintf(d->text + len, sizeof(d->text) - len, "%s%s", len ? ", " : "", what);
}

static unsigned differing_attrs(const struct vf_info *is, const struct vf_info *was)
{
	struct vf_info rest = *is;
	unsigned all = 0;
	enum vf_attr one;

	while ((one = vf_differing(&rest, was))) {
		all |= one;
		rest.has &= ~(unsigned)one;
	}
	return all;
}

bool vf_baseline_has_altname(const struct vf_baseline *b, const char *name)
{
	for (size_t i = 0; i < VF_ALTNAMES_MAX && b->altnames[i][0]; i++) {
		if (strcmp(b->altnames[i], name) == 0)
			return true;
	}
	return false;
}

static bool lacks_altname(const struct vf_baseline *is, const struct vf_baseline *was)
{
	for (size_t i = 0; i < VF_ALTNAMES_MAX && was->altnames[i][0]; i++) {
		if (!vf_baseline_has_altname(is, was->altnames[i]))
			return true;
	}
	return false;
}

bool vf_baseline_has_addr(const struct vf_baseline *b)
{
	struct guid port;

	if (b->addr.len != HW_ADDR_MAX)
		return b->addr.len;
	memcpy(port.byte, b->addr.byte + HW_ADDR_MAX - GUID_LEN, GUID_LEN);
	return guid_is_usable(port);
}

static bool has_other_mac(const struct vf_baseline *a, const struct vf_baseline *b)
{
	return vf_baseline_has_addr(a) && vf_baseline_has_addr(b) &&
	       !hw_addr_equal(a->addr, b->addr);
}

void vf_compare(const struct vf_baseline *is, const struct vf_baseline *was, bool both,
		struct vf_differences *d)
{
	const char *what;

	*d = (struct vf_differences){ .attrs = differing_attrs(&is->pf_side, &was->pf_side) };
	for (unsigned one = 1; one <= VF_ALL; one <<= 1) {
		if (d->attrs & one)
			add_difference(d, vf_attr_name((enum vf_attr)one));
	}
	/* A VF whose driver makes no interface, now or then, has none to compare. */
	if (!is->has_netdev || !was->has_netdev)
		return;
	if (strcmp(is->name, was->name) != 0)
		add_difference(d, "name");
	if (has_other_mac(is, was))
		add_difference(d, "address");
	if (was->mtu && is->mtu != was->mtu)
		add_difference(d, "mtu");
	if (is->up != was->up && (both || was->up))
		add_difference(d, is->up ? "up" : "down");
	if (lacks_altname(is, was) || (both && lacks_altname(was, is)))
		add_difference(d, "alternative names");
	if (!is->has_settings || !was->has_settings)
		return;
	for (size_t n = 0; (what = settings_changed(&is->link, &was->link, n)); n++)
		add_difference(d, what);
	for (size_t n = 0; (what = ethtool_changed_part(&is->tool, &was->tool, n)); n++)
		add_difference(d, what);
}

/* ---- following ---- */

static void follow_pf_side(struct vf_info *base, const struct vf_info *left,
			   const struct vf_info *now)
{
	unsigned take = differing_attrs(now, left) | (now->has & ~base->has);

	base->has |= take;
	if (take & VF_MAC)
		memcpy(base->mac, now->mac, MAC_LEN);
	if (take & VF_VLAN) {
		base->vlan = now->vlan;
		base->qos = now->qos;
		base->vlan_proto = now->vlan_proto;
	}
	if (take & VF_RATE) {
		base->min_rate = now->min_rate;
		base->max_rate = now->max_rate;
	}
	if (take & VF_SPOOFCHK)
		base->spoofchk = now->spoofchk;
	if (take & VF_TRUST)
		base->trust = now->trust;
	if (take & VF_LINK_STATE)
		base->link_state = now->link_state;
	if (take & VF_NODE_GUID)
		base->node_guid = now->node_guid;
	if (take & VF_PORT_GUID)
		base->port_guid = now->port_guid;
}

static void follow_settings(struct vf_baseline *base, const struct vf_baseline *left,
			    const struct vf_baseline *now)
{
	if (!now->has_settings)
		return;
	if (!base->has_settings || !left->has_settings ||
	    settings_changed(&now->link, &left->link, 0))
		base->link = now->link;
	if (!base->has_settings || !left->has_settings ||
	    ethtool_changed_part(&now->tool, &left->tool, 0))
		base->tool = now->tool;
	base->has_settings = true;
}

void vf_follow(struct vf_baseline *base, const struct vf_baseline *left,
	       const struct vf_baseline *now)
{
	const struct vf_baseline was = *left; /* it may be base itself */

	follow_pf_side(&base->pf_side, &was.pf_side, &now->pf_side);
	/* It is unknown whether the VF chose the new MAC by itself. */
	if (differing_attrs(&now->pf_side, &was.pf_side) & VF_MAC)
		base->own_mac = false;
	if (!now->has_netdev)
		return;
	if (!base->has_netdev || !was.has_netdev || has_other_mac(now, &was)) {
		base->addr = now->addr;
		base->own_mac = false;
	}
	if (!was.has_netdev || strcmp(now->name, was.name) != 0)
		memcpy(base->name, now->name, sizeof(base->name));
	if (!was.has_netdev || now->mtu != was.mtu)
		base->mtu = now->mtu;
	if (!was.has_netdev || now->up != was.up)
		base->up = now->up;
	if (!was.has_netdev || lacks_altname(now, &was) || lacks_altname(&was, now))
		memcpy(base->altnames, now->altnames, sizeof(base->altnames));
	follow_settings(base, &was, now);
	base->has_netdev = true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* look.c: finds a VF and its PF, and reads their attributes. Changes nothing. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "lib/net/link.h"
#include "sriov/vf/guid.h"

/* The interface can be renamed or moved meanwhile. Then the VF has none here. */
static int find_own_netdev(const struct ctx *ctx, struct vf_place *p, struct err *e)
{
	struct err why;

	if (pci_vf_netdev(ctx->sysfs, p->vf, p->name, &why) == 0)
		return 0;
	p->name[0] = '\0';
	if (why.code == ERR_NOTFOUND)
		return 0;
	return err_pass(e, &why);
}

struct parent_search {
	const char *parent;
	bool found;
};

static int match_parent(const struct link_info *link, void *arg)
{
	struct parent_search *s = arg;

	/* A representor of a VF has the same parent. */
	s->found = strcmp(link->parent, s->parent) == 0 &&
		   (!*link->port || pci_port_of_pf(link->port));
	return s->found;
}

/* A PF is gone only if the kernel's list of interfaces has none of it, either. Before Linux 5.14
 * the list does not tell. */
static int no_pf(struct nl *nl, const struct vf_place *p, struct err *e)
{
	struct parent_search s = { .parent = p->pf };
	struct err why;

	if (e->code != ERR_NOTFOUND)
		return err_wrap(e, "PF %s of VF %s", p->pf, p->vf);
	if (nl_link_each(nl, NULL, match_parent, &s, &why))
		*e = why;
	else if (s.found)
		err_set(e, ERR_IO, EAGAIN, "its interface is not where sysfs has it");
	else
		e->code = ERR_CONFIG;
	return err_wrap(e, "PF %s of VF %s", p->pf, p->vf);
}

static int look_find_pf(const struct ctx *ctx, struct nl *nl, struct vf_place *p, struct err *e)
{
	struct link_info pf;

	if (pci_pf_netdev(ctx->sysfs, p->pf, p->pf_name, e) ||
	    nl_link_by_name(nl, p->pf_name, &pf, e))
		return no_pf(nl, p, e);
	p->pf_ifindex = pf.ifindex;
	p->pf_mtu = pf.mtu;
	return 0;
}

int vf_locate(const struct ctx *ctx, struct nl *nl, const char *addr, struct vf_place *out,
	      struct err *e)
{
	struct vf_place p = { 0 };
	struct pci_addr a;

	if (pci_parse(addr, &a))
		return err_set(e, ERR_CONFIG, 0,
			       "\"%.64s\" is not a PCI address such as 0000:3b:02.5", addr);
	pci_format(a, p.vf);
	if (pci_physfn(ctx->sysfs, p.vf, p.pf, e)) {
		if (e->code == ERR_NOTFOUND && e->errnum == EINVAL)
			e->code = ERR_CONFIG;
		return e->code == ERR_NOTFOUND ? vf_not_seen(ctx, p.vf, e) : -1;
	}
	if (pci_vf_index(ctx->sysfs, p.pf, p.vf, &p.index, e) || vf_life(ctx, p.vf, &p.life, e) ||
	    pci_driver(ctx->sysfs, p.vf, p.driver, e) || find_own_netdev(ctx, &p, e) ||
	    look_find_pf(ctx, nl, &p, e))
		return e->code == ERR_NOTFOUND ? vf_not_seen(ctx, p.vf, e) : -1;
	*out = p;
	return 0;
}

bool vf_has_userspace_driver(const struct vf_place *p)
{
	static const char *const drivers[] = { "vfio-pci", "uio_pci_generic", "igb_uio" };

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		if (strcmp(p->driver, drivers[i]) == 0)
			return true;
	}
	/* mlx5_vfio_pci, hisi_acc_vfio_pci, ...: variants for one device */
	return strstr(p->driver, "vfio") != NULL;
}

static int keep_altname(const char *name, void *arg)
{
	struct vf_baseline *b = arg;

	for (size_t i = 0; i < VF_ALTNAMES_MAX; i++) {
		if (b->altnames[i][0])
			continue;
		(void)snprintf(b->altnames[i], VF_ALTNAME_LEN, "%s", name);
		return 0;
	}
	return 1;
}

int vf_capture_netdev(struct nl *nl, const struct vf_place *p, struct vf_baseline *out,
		      struct err *e)
{
	struct link_info link;

	memset(out->altnames, 0, sizeof(out->altnames));
	if (nl_link_by_name(nl, p->name, &link, e) ||
	    nl_link_altnames(nl, link.ifindex, keep_altname, out, e) ||
	    nl_settings_get(nl, link.ifindex, &out->link, e) || ethtool_get(p->name, &out->tool, e))
		return err_wrap(e, "VF %s", p->vf);
	out->has_settings = true;
	out->has_netdev = true;
	memcpy(out->name, link.name, sizeof(out->name));
	out->addr = link.addr;
	out->mtu = link.mtu;
	out->up = link.flags & IFF_UP;
	return 0;
}

void vf_guess_addr(struct vf_baseline *b, uint32_t mtu, struct hw_addr addr)
{
	if (!b->mtu)
		b->mtu = mtu;
	if (!b->addr.len)
		b->addr = addr;
}

void vf_guess_netdev(struct nl *nl, const struct link_info *link, const char *name,
		     struct vf_baseline *b)
{
	struct err ignored;

	if (b->has_netdev)
		vf_guess_addr(b, link->mtu, link->addr);
	if (nl_settings_get(nl, link->ifindex, &b->link, &ignored))
		return;
	b->link.flags &= ~(unsigned)(IFF_PROMISC | IFF_ALLMULTI);
	b->link.alias[0] = '\0';
	if (!name || ethtool_get(name, &b->tool, &ignored))
		b->tool = (struct ethtool_state){ .blocks = 0 };
	b->has_settings = true;
}

int vf_check_usable(const struct vf_place *p, struct err *e)
{
	if (*p->name || vf_has_userspace_driver(p))
		return 0;
	if (!*p->driver)
		err_set(e, ERR_STATE, 0, "VF %s has no driver", p->vf);
	else
		err_set(e, ERR_BUSY, 0,
			"VF %s (driver %s) has no network interface on this host: it is in "
			"another network namespace, or its driver made none",
			p->vf, p->driver);
	return err_hint(e, "railctl vf list shows who has it; railctl vf bind gives it a driver");
}

int vf_capture(const struct ctx *ctx, struct nl *nl, const struct vf_place *p,
	       struct vf_baseline *out, struct err *e)
{
	struct vf_baseline b = { 0 };
	struct vf_guids own;

	if (*p->name && vf_capture_netdev(nl, p, &b, e))
		return -1;
	if (nl_vf_get(nl, (struct vf_ref){ p->pf_ifindex, p->index }, &b.pf_side, e))
		return err_wrap(e, "VF %s: ask its PF %s", p->vf, p->pf_name);
	own = vf_own_guids(ctx, p->vf, b.addr);
	vf_told_guids(&b.pf_side, &own, b.addr);
	*out = b;
	return 0;
}

int vf_start_entry(const struct ctx *ctx, struct nl *nl, const struct vf_place *p,
		   struct vf_entry *out, struct err *e)
{
	struct vf_entry x = { .index = p->index, .life = p->life };

	if (ctx_boot_id(ctx, x.boot, e) || vf_capture(ctx, nl, p, &x.base, e))
		return -1;
	memcpy(x.vf, p->vf, sizeof(x.vf));
	memcpy(x.pf, p->pf, sizeof(x.pf));
	*out = x;
	return 0;
}

/* Without a tag the protocol has no meaning. Protocol 0 is 802.1Q. */
static bool same_vlan(const struct vf_info *a, const struct vf_info *b)
{
	unsigned pa = a->vlan_proto ? a->vlan_proto : VLAN_PROTO_8021Q;
	unsigned pb = b->vlan_proto ? b->vlan_proto : VLAN_PROTO_8021Q;

	return a->vlan == b->vlan && a->qos == b->qos && (!a->vlan || pa == pb);
}

/* Zero and all ones both mean that no GUID is set. */
static bool same_guid(struct guid a, struct guid b)
{
	return guid_equal(a, b) || (!guid_is_usable(a) && !guid_is_usable(b));
}

enum vf_attr vf_differing(const struct vf_info *is, const struct vf_info *want)
{
	unsigned in_both = is->has & want->has;

	if ((in_both & VF_MAC) && memcmp(is->mac, want->mac, MAC_LEN) != 0)
		return VF_MAC;
	if ((in_both & VF_VLAN) && !same_vlan(is, want))
		return VF_VLAN;
	if ((in_both & VF_RATE) &&
	    (is->min_rate != want->min_rate || is->max_rate != want->max_rate))
		return VF_RATE;
	if ((in_both & VF_SPOOFCHK) && is->spoofchk != want->spoofchk)
		return VF_SPOOFCHK;
	if ((in_both & VF_TRUST) && is->trust != want->trust)
		return VF_TRUST;
	if ((in_both & VF_LINK_STATE) && is->link_state != want->link_state)
		return VF_LINK_STATE;
	if ((in_both & VF_NODE_GUID) && !same_guid(is->node_guid, want->node_guid))
		return VF_NODE_GUID;
	if ((in_both & VF_PORT_GUID) && !same_guid(is->port_guid, want->port_guid))
		return VF_PORT_GUID;
	return 0;
}

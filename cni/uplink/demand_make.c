/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand_make.c: makes a VLAN or a bond, and takes it back.
 *
 * The kernel takes only members that are down, sets them up itself, and gives them the MTU of the
 * bond. When the bond goes, it gives MTU and MAC address back, and leaves them down. So the end of
 * a bond sets those of its members up again that were up. An interface that an administrator took
 * out is not touched, and one that an administrator added was up in the bond. The kernel does not
 * say who set the interface below a VLAN up: it stays up, unless the ADD that made the VLAN fails.
 */
#include <errno.h>
#include <net/if.h>

#include "cni/uplink/demand_priv.h"
#include "lib/device/sysfs.h"

/* A VLAN cannot be up on an interface that is down. */
static int prepare_lower(struct nl *nl, const struct demand_link *l, struct err *e)
{
	if (l->kind == DEMAND_VLAN)
		return l->lower[0].was_up ? 0 : nl_link_set_up(nl, l->lower[0].ifindex, e);
	for (size_t i = 0; i < l->n; i++)
		if (demand_join(nl, &l->lower[i], l->ifindex, e))
			return -1;
	return 0;
}

/* The network of the pods is none of the node: it must not become its router. Without IPv6 there is
 * nothing to set. */
static void refuse_routers(const char *proc, const char *ifname)
{
	struct err ignored;

	(void)!sysctl_net_path(proc, ifname, "ipv6/addr_gen_mode", "1", &ignored);
	(void)!sysctl_net_path(proc, ifname, "ipv6/accept_ra", "0", &ignored);
}

int demand_make(struct nl *nl, const char *proc, const struct demand_link *l, struct err *e)
{
	const struct link_spec spec = {
		.kind = demand_kind_name(l->kind),
		.name = l->name,
		.lower_ifindex = l->kind == DEMAND_VLAN ? l->lower[0].ifindex : 0,
		.ifindex = l->ifindex,
		.mtu = l->mtu,
		.data = l->data,
	};

	if (nl_link_create(nl, &spec, e))
		return -1;
	refuse_routers(proc, l->name);
	return nl_link_set_alias(nl, l->ifindex, DEMAND_ALIAS, e) || prepare_lower(nl, l, e) ||
			       nl_link_set_up(nl, l->ifindex, e)
		       ? err_wrap(e, "make %s %s", spec.kind, l->name)
		       : 0;
}

/* ---- back ---- */

/* 1: there; 0: gone. An interface that has its number by now is not touched. */
static int find_lower(struct nl *nl, const struct demand_lower *x, struct link_info *out,
		      struct err *e)
{
	struct err why;

	if (nl_link_by_index(nl, x->ifindex, out, &why) == 0)
		return demand_is_lower(x, out);
	if (why.errnum == ENODEV)
		return 0;
	return err_pass(e, &why);
}

/* The kernel has given MTU and MAC address back. */
static int restore_member(struct nl *nl, const struct demand_lower *x, struct err *e)
{
	struct link_info now;
	int rc = find_lower(nl, x, &now, e);

	/* An ADD may have been killed while it asked about it. */
	if (rc > 0 && demand_release(nl, x->ifindex, e))
		return -1;
	/* Another program may have put it into another bond since. */
	return rc > 0 && !now.upper_ifindex && x->was_up && !(now.flags & IFF_UP)
		       ? nl_link_set_up(nl, x->ifindex, e)
		       : (rc < 0 ? -1 : 0);
}

/* Down again, unless it has another user by now. */
static int restore_below_vlan(struct nl *nl, const struct demand_lower *x, struct err *e)
{
	struct link_info now;
	char why[64];
	int rc = x->was_up ? 0 : find_lower(nl, x, &now, e);

	if (rc <= 0 || !(now.flags & IFF_UP))
		return rc < 0 ? -1 : 0;
	rc = demand_used(nl, &now, 0, why, e);
	return rc ? (rc < 0 ? -1 : 0) : nl_link_set_down(nl, x->ifindex, e);
}

static int restore_lower(struct nl *nl, const struct demand_link *l, bool fresh, struct err *e)
{
	struct err why;
	int rc = 0;

	if (l->kind == DEMAND_VLAN && !fresh)
		return 0;
	/* All are tried; the first error counts. */
	for (size_t i = 0; i < l->n; i++)
		if ((l->kind == DEMAND_VLAN ? restore_below_vlan(nl, &l->lower[i], &why)
					    : restore_member(nl, &l->lower[i], &why)) &&
		    rc == 0) {
			*e = why;
			rc = err_wrap(e, "give back %s", l->lower[i].name);
		}
	return rc;
}

int demand_unmake(struct nl *nl, const struct demand_state *s, bool fresh, struct err *e)
{
	struct demand_link l = s->link;
	struct link_info link;
	int there = demand_find_made(nl, s, &link, e);

	/* A member may have joined again after the file was written. */
	if (there < 0 || demand_follow(nl, &l, false, e) < 0 ||
	    (there && nl_link_delete(nl, link.ifindex, e)))
		return -1;
	return restore_lower(nl, &l, fresh, e);
}

struct noting {
	struct demand_link *bond;
	bool is_member[DEMAND_LOWER_MAX];
};

static int note_member(const struct link_info *link, void *arg)
{
	struct noting *x = arg;
	struct demand_link *l = x->bond;
	size_t i = 0;

	if (link->upper_ifindex != l->ifindex)
		return 0;
	while (i < l->n && !demand_is_lower(&l->lower[i], link))
		i++;
	if (i == DEMAND_LOWER_MAX)
		return 0;
	if (i == l->n)
		demand_describe_lower(link, &l->lower[l->n++]);
	x->is_member[i] = true;
	return 0;
}

int demand_note_members(struct nl *nl, struct demand_link *bond, struct err *e)
{
	struct noting x = { .bond = bond };

	if (demand_follow(nl, bond, false, e) < 0 || nl_link_each(nl, NULL, note_member, &x, e))
		return -1;
	for (size_t i = 0; i < bond->n; i++)
		bond->lower[i].was_up &= x.is_member[i];
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand_join.c: who may become a member of a bond, how it does, and how it does again.
 *
 * The kernel takes a card out of its bond when its driver lets it go. When the driver is loaded
 * again, the card has a new number, and is in no bond.
 */
#include <errno.h>

#include "cni/uplink/demand_priv.h"
#include "lib/net/addr.h"

/* ---- who may ---- */

/* Also an address of router advertisement: it may be the only one of the node. */
static int match_any_address(const struct addr_info *a, void *arg)
{
	struct demand_joiner *j = arg;

	j->has_address = !ip_is_link_local(a->addr.addr);
	return j->has_address;
}

int demand_check_joiner(struct nl *nl, const struct link_info *link, struct err *e)
{
	struct demand_joiner j = { .link = link };
	enum demand_route route;

	if (demand_upper(nl, link->ifindex, j.upper, e) ||
	    nl_addr_list(nl, link->ifindex, match_any_address, &j, e) ||
	    demand_route(nl, link->ifindex, &route, e))
		return -1;
	j.has_route = route == DEMAND_ROUTE;
	j.has_default_route = route == DEMAND_DEFAULT_ROUTE;
	return demand_may_join(&j, e);
}

/* The kernel would refuse such a member only after it changed it: its pods would lose their link.
 */
int demand_check_free(struct nl *nl, int ifindex, struct err *e)
{
	struct link_info now;
	char why[64];

	if (nl_link_by_index(nl, ifindex, &now, e))
		return -1;
	int rc = demand_used(nl, &now, 0, why, e);

	return rc > 0 ? err_set(e, ERR_BUSY, 0, "interface %s: %s", now.name, why) : rc;
}

int demand_join(struct nl *nl, const struct demand_lower *x, int bond, struct err *e)
{
	return nl_link_set_down(nl, x->ifindex, e) || nl_link_set_master(nl, x->ifindex, bond, e)
		       ? err_wrap(e, "member %s", x->name)
		       : 0;
}

/* ---- once more ---- */

/* 1: the card of x is there under another number. 0: under its own, or it is not seen to be there.
 */
static int find_again(struct nl *nl, const struct demand_lower *x, struct link_info *out,
		      struct err *e)
{
	struct demand_lower now;
	struct err why;

	if (nl_link_by_index(nl, x->ifindex, out, &why) == 0 && demand_is_lower(x, out))
		return 0;
	if (nl_link_by_name(nl, x->name, out, &why))
		return why.errnum == ENODEV ? 0 : err_pass(e, &why);
	demand_describe_lower(out, &now);
	return demand_came_back(x, &now);
}

/* As before the bond: the kernel gives it back so. */
static int reset(struct nl *nl, const struct demand_lower *was, const struct link_info *link,
		 struct err *e)
{
	if (was->mtu && link->mtu != was->mtu && nl_link_set_mtu(nl, link->ifindex, was->mtu, e))
		return -1;
	return was->addr.len && !hw_addr_equal(link->addr, was->addr)
		       ? nl_link_set_hw_addr(nl, link->ifindex, was->addr, e)
		       : 0;
}

static int rejoin(struct nl *nl, const struct demand_lower *was, const struct link_info *link,
		  int bond, struct err *e)
{
	struct demand_lower now;
	struct err ignored;

	demand_describe_lower(link, &now);
	if (demand_check_joiner(nl, link, e) || demand_check_free(nl, link->ifindex, e) ||
	    reset(nl, was, link, e))
		return -1;
	if (demand_join(nl, &now, bond, e) == 0)
		return 0;
	if (now.was_up)
		(void)!nl_link_set_up(nl, now.ifindex, &ignored);
	return -1;
}

/* The values of x stay: those of before the bond. */
static int follow(struct nl *nl, struct demand_lower *x, int bond, bool join, struct err *e)
{
	struct link_info link;
	int rc = find_again(nl, x, &link, e);

	if (rc <= 0)
		return rc;
	if (link.upper_ifindex != bond && link.upper_ifindex)
		return 0;
	/* A call that was killed while it asked whether the card is free may have left its macvlan.
	 */
	if (!link.upper_ifindex && !join)
		return demand_release(nl, link.ifindex, e);
	if (!link.upper_ifindex && rejoin(nl, x, &link, bond, e))
		return err_wrap(e, "join %s again", x->name);
	x->ifindex = link.ifindex;
	return 1;
}

int demand_follow(struct nl *nl, struct demand_link *bond, bool join, struct err *e)
{
	int followed = 0;
	struct err why;
	int failed = 0;

	/* All are tried; the first error counts. */
	for (size_t i = 0; bond->kind == DEMAND_BOND && i < bond->n; i++) {
		int rc = follow(nl, &bond->lower[i], bond->ifindex, join, &why);

		if (rc < 0 && failed++ == 0)
			*e = why;
		followed |= rc > 0;
	}
	return failed ? -1 : followed;
}

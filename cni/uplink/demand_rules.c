/* SPDX-License-Identifier: Apache-2.0 */
/* demand_rules.c: what may be removed, what may join, and what is as asked for. Pure. */
#include <net/if.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"

/*
 * Numbers begin again at a boot, and each network namespace has its own: from elsewhere it cannot
 * be seen whether the link is there.
 */
enum demand_fate demand_judge(const struct demand_view *v)
{
	if (!v->same_boot)
		return DEMAND_FORGET;
	if (!v->same_netns || v->users)
		return DEMAND_KEEP;
	if (!v->present || !v->ours)
		return DEMAND_FORGET;
	return v->used ? DEMAND_KEEP : DEMAND_REMOVE;
}

bool demand_is_ours(const struct demand_state *s, const struct link_info *link)
{
	if (link->ifindex != s->link.ifindex ||
	    strcmp(link->kind, demand_kind_name(s->link.kind)) != 0)
		return false;
	return strcmp(link->alias, DEMAND_ALIAS) == 0 || (s->making && !*link->alias);
}

/* ---- interfaces below ---- */

/* An ipvlan has the permanent address of its lower device: it proves nothing. */
void demand_describe_lower(const struct link_info *link, struct demand_lower *out)
{
	*out = (struct demand_lower){ .ifindex = link->ifindex,
				      .was_up = (link->flags & IFF_UP) != 0,
				      .mtu = link->mtu,
				      .addr = link->addr };
	memcpy(out->name, link->name, sizeof(out->name));
	if (!link->lower_ifindex)
		out->perm = link->perm_addr;
}

/*
 * A number is free for others when its interface is gone: one that comes from a pod keeps its own.
 * A person may rename an interface, and a bond gives back its address.
 */
bool demand_is_lower(const struct demand_lower *was, const struct link_info *link)
{
	if (link->ifindex != was->ifindex)
		return false;
	if (was->perm.len)
		return hw_addr_equal(was->perm, link->perm_addr);
	return strcmp(was->name, link->name) == 0 || hw_addr_equal(was->addr, link->addr);
}

bool demand_came_back(const struct demand_lower *was, const struct demand_lower *now)
{
	return was->ifindex != now->ifindex && strcmp(was->name, now->name) == 0 &&
	       hw_addr_equal(was->perm, now->perm);
}

int demand_may_join(const struct demand_joiner *j, struct err *e)
{
	const struct link_info *link = j->link;

	if (!link_is_ethernet(link))
		return err_set(e, ERR_CONFIG, 0, "interface %s is not Ethernet", link->name);
	if (link->upper_ifindex)
		return err_set(e, ERR_BUSY, 0,
			       "interface %s is a member of another bond or bridge (number %d)",
			       link->name, link->upper_ifindex);
	if (*j->upper)
		return err_set(e, ERR_BUSY, 0,
			       "interface %s stands on %s, which would lose its way", j->upper,
			       link->name);
	if (j->has_default_route)
		return err_set(
			e, ERR_BUSY, 0,
			"interface %s has the default route of the node, which would be cut off",
			link->name);
	if (j->has_address)
		return err_set(e, ERR_BUSY, 0,
			       "interface %s has addresses, which would stop working", link->name);
	if (j->has_route)
		return err_set(e, ERR_BUSY, 0,
			       "interface %s has routes without an address, which would be lost",
			       link->name);
	return 0;
}

/* ---- is it what is asked for? ---- */

bool demand_has_member(const struct demand_members *m, int ifindex)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->ifindex[i] == ifindex)
			return true;
	return false;
}

static int compare_members(const struct link_info *is, const struct demand_members *members,
			   const struct demand_link *want, struct err *e)
{
	for (size_t i = 0; i < want->n; i++)
		if (!demand_has_member(members, want->lower[i].ifindex))
			return err_set(e, ERR_CONFIG, 0, "bond %s has no member %s", is->name,
				       want->lower[i].name);
	if (members->n > want->n)
		return err_set(e, ERR_CONFIG, 0, "bond %s has %zu members, %zu are asked for",
			       is->name, members->n, want->n);
	return 0;
}

static int compare_lower(const struct link_info *is, const struct demand_link *want, struct err *e)
{
	if (is->lower_ifindex == want->lower[0].ifindex && is->lower_nsid == -1)
		return 0;
	return err_set(e, ERR_CONFIG, 0,
		       "vlan %s is on interface number %d, %s (number %d) is asked "
		       "for",
		       is->name, is->lower_ifindex, want->lower[0].name, want->lower[0].ifindex);
}

int demand_agrees(const struct link_info *is, const struct demand_members *members,
		  const struct demand_link *want, struct err *e)
{
	const char *kind = demand_kind_name(want->kind);

	if (strcmp(is->kind, kind) != 0)
		return err_set(e, ERR_CONFIG, 0,
			       "interface %s is of kind \"%s\", a %s is asked for", is->name,
			       is->kind, kind);
	if (want->name_given && strcmp(is->name, want->name) != 0)
		return err_set(e, ERR_CONFIG, 0, "%s %s is there already, the name %s is asked for",
			       kind, is->name, want->name);
	if (want->kind == DEMAND_VLAN ? compare_lower(is, want, e)
				      : compare_members(is, members, want, e))
		return -1;
	if (nl_link_compare_data(is, &want->data, e)) {
		e->code = ERR_CONFIG;
		return -1;
	}
	if (want->mtu && is->mtu != want->mtu)
		return err_set(e, ERR_CONFIG, 0, "mtu: %s %s has %u, %u is asked for", kind,
			       is->name, is->mtu, want->mtu);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand_use.c: what stands on a link.
 *
 * A macvlan or ipvlan in a pod keeps its lower device busy, but the host sees neither: links of
 * other namespaces are in no list. The kernel counts them, and says so to whoever asks for a
 * macvlan of mode passthru: EINVAL if there is a macvlan, EBUSY if an ipvlan, a bridge or a bond
 * has the device (macvlan_common_newlink() and macvlan_port_create(), Linux 5.4 to 7.2).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"
#include "lib/base/backoff.h"
#include "lib/net/addr.h"

struct search {
	int ifindex;
	char found[IFNAME_LEN];
};

static void probe_name(int ifindex, char out[IFNAME_LEN])
{
	(void)snprintf(out, IFNAME_LEN, "rhask%08x", (unsigned)ifindex);
}

/* A probe that was killed may have left its own link. */
static int match_upper(const struct link_info *link, void *arg)
{
	struct search *s = arg;
	char own[IFNAME_LEN];

	probe_name(s->ifindex, own);
	if (link->lower_ifindex != s->ifindex || link->lower_nsid != -1 ||
	    strcmp(link->kind, "veth") == 0 || strcmp(link->name, own) == 0)
		return 0;
	memcpy(s->found, link->name, sizeof(s->found));
	return 1;
}

int demand_upper(struct nl *nl, int ifindex, char out[IFNAME_LEN], struct err *e)
{
	struct search s = { .ifindex = ifindex, .found = "" };

	if (nl_link_each(nl, NULL, match_upper, &s, e))
		return -1;
	memcpy(out, s.found, IFNAME_LEN);
	return 0;
}

/* Those that the kernel gives by itself do not count. */
static int demand_use_match_address(const struct addr_info *a, void *arg)
{
	*(bool *)arg = !a->given;
	return !a->given;
}

static int look_for_address(struct nl *nl, int ifindex, bool *out, struct err *e)
{
	bool has = false;

	if (nl_addr_list(nl, ifindex, demand_use_match_address, &has, e))
		return -1;
	*out = has;
	return 0;
}

static int demand_use_match_route(const struct route_spec *r, void *arg)
{
	enum demand_route *found = arg;

	if (r->dst.len == 0)
		*found = DEMAND_DEFAULT_ROUTE;
	else if (!ip_is_link_local(r->dst.addr))
		*found = DEMAND_ROUTE;
	return *found == DEMAND_DEFAULT_ROUTE;
}

int demand_route(struct nl *nl, int ifindex, enum demand_route *out, struct err *e)
{
	enum demand_route found = DEMAND_NO_ROUTE;

	if (nl_route_list(nl, ifindex, demand_use_match_route, &found, e))
		return -1;
	*out = found;
	return 0;
}

static int delete_probe(struct nl *nl, const char *name, int lower, struct err *e)
{
	struct link_info link;
	struct err why;

	if (nl_link_by_name(nl, name, &link, &why))
		return why.errnum == ENODEV ? 0 : err_pass(e, &why);
	return link.lower_ifindex == lower && strcmp(link.kind, "macvlan") == 0
		       ? nl_link_delete(nl, link.ifindex, e)
		       : 0;
}

/* 1: it has a user in some namespace. 0: none, and the question stays. */
static int ask_kernel(struct nl *nl, int ifindex, struct err *e)
{
	char name[IFNAME_LEN];
	const struct link_spec spec = { .kind = "macvlan",
					.name = name,
					.lower_ifindex = ifindex,
					.data = { .macvlan = { .mode = MACVLAN_PASSTHRU } } };
	struct err why;

	probe_name(ifindex, name);
	if (delete_probe(nl, name, ifindex, e))
		return -1;
	if (nl_link_create(nl, &spec, &why) == 0)
		return 0;
	/* A kernel without macvlan has no answer, and what cannot be seen may be there. */
	if (why.errnum == EINVAL || why.errnum == EBUSY || why.errnum == EOPNOTSUPP)
		return 1;
	if (why.errnum == ENODEV)
		return 0;
	return err_pass(e, &why);
}

/* The kernel takes a dead namespace apart some time after the last process has left it. */
static int ask_for_a_while(struct nl *nl, int ifindex, int wait_ms, struct err *e)
{
	struct backoff p = backoff_for(wait_ms);
	int rc = ask_kernel(nl, ifindex, e);

	while (rc > 0 && backoff_pause(&p))
		rc = ask_kernel(nl, ifindex, e);
	return rc;
}

int demand_hold(struct nl *nl, const struct link_info *link, int wait_ms, char why[64],
		struct err *e)
{
	char upper[IFNAME_LEN];
	enum demand_route route;
	bool has_address;
	int rc;

	if (demand_upper(nl, link->ifindex, upper, e) ||
	    look_for_address(nl, link->ifindex, &has_address, e) ||
	    demand_route(nl, link->ifindex, &route, e))
		return -1;
	(void)snprintf(why, 64, "%s%s",
		       link->upper_ifindex ? "a bond or bridge has it"
		       : *upper            ? "on it is "
		       : has_address       ? "it has an address"
		       : route             ? "it has a route"
			       : "an interface of another namespace is on it, or may be",
		       link->upper_ifindex ? "" : upper);
	if (link->upper_ifindex || *upper || has_address || route)
		return 1;
	rc = ask_for_a_while(nl, link->ifindex, wait_ms, e);
	return rc < 0 ? err_wrap(e, "ask whether %s is in use", link->name) : rc;
}

int demand_release(struct nl *nl, int ifindex, struct err *e)
{
	char name[IFNAME_LEN];

	probe_name(ifindex, name);
	return delete_probe(nl, name, ifindex, e);
}

int demand_used(struct nl *nl, const struct link_info *link, int wait_ms, char why[64],
		struct err *e)
{
	int rc = demand_hold(nl, link, wait_ms, why, e);

	return rc ? rc : demand_release(nl, link->ifindex, e);
}

/* ---- questions that were killed ---- */

struct left_behind {
	int lower[16]; /* if there are more, the next sweep goes on */
	size_t n;
};

static int match_left(const struct link_info *link, void *arg)
{
	struct left_behind *x = arg;
	char own[IFNAME_LEN];

	probe_name(link->lower_ifindex, own);
	if (link->lower_ifindex && link->lower_nsid == -1 && strcmp(link->name, own) == 0)
		x->lower[x->n++] = link->lower_ifindex;
	return x->n == ARRAY_SIZE(x->lower);
}

int demand_release_all(struct nl *nl, struct err *e)
{
	struct left_behind x = { .n = 0 };

	if (nl_link_each(nl, "macvlan", match_left, &x, e))
		return -1;
	for (size_t i = 0; i < x.n; i++)
		if (demand_release(nl, x.lower[i], e))
			return -1;
	return x.n > 0;
}

bool demand_is_ending(struct nl *nl, const struct link_info *master)
{
	char name[IFNAME_LEN];
	struct link_info now;
	struct err why;

	if (strcmp(master->alias, DEMAND_ALIAS) != 0)
		return false;
	if (nl_link_by_index(nl, master->ifindex, &now, &why))
		return why.errnum == ENODEV;
	probe_name(master->ifindex, name);
	return nl_link_by_name(nl, name, &now, &why) == 0 && now.lower_ifindex == master->ifindex;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* demand_plan.c: which links a configuration means, and which of them are there. */
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "cni/demand/demand_priv.h"
#include "lib/net/addr.h"

/* ---- what is asked for ---- */

static void add_lower(struct demand_link *l, const struct link_info *link)
{
	struct demand_lower *x = &l->lower[l->n++];

	*x = (struct demand_lower){ .ifindex = link->ifindex,
				    .was_up = (link->flags & IFF_UP) != 0,
				    .mtu = link->mtu,
				    .addr = link->addr };
	memcpy(x->name, link->name, sizeof(x->name));
}

static void set_name(struct demand_link *l, const char *given, const char *made)
{
	l->name_given = given != NULL;
	(void)snprintf(l->name, sizeof(l->name), "%s", given ? given : made);
}

static bool is_lower(const struct demand_link *l, int ifindex)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->lower[i].ifindex == ifindex)
			return true;
	return false;
}

static uint32_t least_mtu(const struct demand_link *l)
{
	uint32_t least = l->lower[0].mtu;

	for (size_t i = 1; i < l->n; i++)
		if (l->lower[i].mtu < least)
			least = l->lower[i].mtu;
	return least;
}

static int find_members(struct master_place *p, const struct demand_bond *c,
			struct link_info member[DEMAND_MEMBERS_MAX], struct demand_link *l,
			struct err *e)
{
	for (size_t i = 0; i < c->n; i++) {
		p->ports = true;
		int rc = master_find(p, &c->member[i], &member[i], e);

		p->ports = false;
		if (rc)
			return err_wrap(e, "bond[%zu]", i);
		if (is_lower(l, member[i].ifindex))
			return err_set(e, ERR_CONFIG, 0,
				       "master: bond[%zu]: %s is a member already", i,
				       member[i].name);
		add_lower(l, &member[i]);
	}
	return 0;
}

/* The bond or bridge that one of them is a port of; 0: none. */
static int any_upper(const struct link_info *member, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (member[i].upper_ifindex)
			return member[i].upper_ifindex;
	return 0;
}

static bool all_below(const struct link_info *member, size_t n, int upper)
{
	for (size_t i = 0; i < n; i++)
		if (member[i].upper_ifindex != upper)
			return false;
	return true;
}

/* A bond may end between two looks, and its ports are free then: they are looked up again. */
#define LOOKS 3

/* twin: the bond that has all of the members already; number 0: none. */
static int look_for_members(struct master_place *p, const struct demand_bond *c,
			    struct link_info member[DEMAND_MEMBERS_MAX], struct demand_plan *plan,
			    struct err *e)
{
	struct demand_link *l = &plan->link[plan->n];
	struct link_info *twin = &plan->twin;
	struct err why;

	for (int looks = 1;; looks++) {
		l->n = 0;
		*twin = (struct link_info){ .ifindex = 0 };
		if (find_members(p, c, member, l, e))
			return -1;
		const int upper = any_upper(member, c->n);

		if (!upper)
			return 0;
		if (nl_link_by_index(p->nl, upper, twin, &why) == 0)
			break;
		if (why.errnum != ENODEV || looks == LOOKS) {
			*e = why;
			return -1;
		}
	}
	if (!all_below(member, c->n, twin->ifindex))
		twin->ifindex = 0;
	return 0;
}

/* ---- what is there ---- */

int demand_find_made(struct nl *nl, const struct demand_state *s, struct link_info *out,
		     struct err *e)
{
	struct link_info link;
	struct err why;

	if (nl_link_by_index(nl, s->link.ifindex, &link, &why)) {
		if (why.errnum == ENODEV)
			return 0;
		*e = why;
		return -1;
	}
	if (!demand_is_ours(s, &link))
		return 0;
	*out = link;
	return 1;
}

struct members_search {
	int bond;
	struct demand_members *out;
};

static int match_member(const struct link_info *link, void *arg)
{
	struct members_search *s = arg;

	if (link->upper_ifindex == s->bond && s->out->n < ARRAY_SIZE(s->out->ifindex))
		s->out->ifindex[s->out->n++] = link->ifindex;
	return 0;
}

static int find_members_of(struct nl *nl, int bond, struct demand_members *out, struct err *e)
{
	struct members_search s = { bond, out };

	return nl_link_each(nl, NULL, match_member, &s, e);
}

struct vlan_search {
	const struct demand_link *want;
	struct link_info *out;
	bool found;
};

static int match_vlan(const struct link_info *link, void *arg)
{
	struct vlan_search *s = arg;

	s->found = link->lower_ifindex == s->want->lower[0].ifindex && link->lower_nsid == -1 &&
		   link->data.vlan.id == s->want->data.vlan.id &&
		   link->data.vlan.protocol == s->want->data.vlan.protocol;
	if (s->found)
		*s->out = *link;
	return s->found;
}

/* A second VLAN of that number is impossible on one interface, whatever its name. */
static int find_other_vlan(struct nl *nl, const struct demand_link *want, struct link_info *out,
			   struct err *e)
{
	struct vlan_search s = { want, out, false };

	return nl_link_each(nl, "vlan", match_vlan, &s, e) ? -1 : s.found;
}

/* The link of that name, or else one that does the same under another name. 1: found. */
static int find_twin(struct nl *nl, const struct demand_plan *plan, struct link_info *out,
		     struct err *e)
{
	const struct demand_link *want = &plan->link[plan->n];
	struct err why;

	if (nl_link_by_any_name(nl, want->name, out, &why) == 0)
		return 1;
	if (why.errnum != ENODEV) {
		*e = why;
		return -1;
	}
	if (want->kind == DEMAND_VLAN)
		return find_other_vlan(nl, want, out, e);
	*out = plan->twin;
	return out->ifindex != 0;
}

/* The link on record for that name; 1: it is there, and ours; 2: its making is not done. */
static int find_own(struct master_place *p, const char *name, struct link_info *out, struct err *e)
{
	auto_demand_state struct demand_state s = { .users = NULL };
	char boot[CTX_BOOT_ID_LEN + 1];
	int rc = demand_peek(p->ctx, name, &s, e);

	if (rc <= 0)
		return rc;
	if (ctx_boot_id(p->ctx, boot, e))
		return -1;
	if (strcmp(boot, s.boot) != 0)
		return 0;
	if (s.making)
		return 2;
	return demand_find_made(p->nl, &s, out, e);
}

/*
 * 1: found, and plan->mine tells whether it was made on demand, perhaps under another name. A link
 * whose making is not done is not there: demand_take() has the lock and knows more.
 */
static int find_present(struct master_place *p, struct demand_plan *plan, struct err *e)
{
	const size_t i = plan->n;
	struct demand_link *want = &plan->link[i];
	struct link_info *is = &plan->is[i], own;
	int rc = find_own(p, want->name, is, e);

	plan->mine[i] = rc == 1;
	plan->making[i] = rc == 2;
	if (rc)
		return rc == 2 ? 0 : rc;
	rc = find_twin(p->nl, plan, is, e);
	if (rc <= 0 || want->name_given)
		return rc;
	rc = find_own(p, is->name, &own, e);
	plan->making[i] = rc == 2;
	plan->mine[i] = rc == 1 && own.ifindex == is->ifindex;
	if (plan->mine[i] || plan->making[i])
		memcpy(want->name, is->name, sizeof(want->name));
	if (rc < 0)
		return -1;
	return plan->making[i] ? 0 : 1;
}

static int look(struct master_place *p, struct demand_plan *plan, struct err *e)
{
	const size_t i = plan->n;
	struct demand_link *want = &plan->link[i];
	struct demand_members members = { .n = 0 };
	int rc = find_present(p, plan, e);

	if (rc <= 0)
		return rc;
	plan->there[i] = true;
	if (want->kind == DEMAND_BOND && find_members_of(p->nl, plan->is[i].ifindex, &members, e))
		return -1;
	return demand_agrees(&plan->is[i], &members, want, e) ? err_wrap(e, "master") : 0;
}

/* ---- members ---- */

/* Also an address of router advertisement: it may be the only one of the node. */
static int match_any_address(const struct addr_info *a, void *arg)
{
	struct demand_joiner *j = arg;

	j->has_address = !ip_is_link_local(a->addr.addr);
	return j->has_address;
}

static int check_joiners(struct nl *nl, const struct link_info *member, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		struct demand_joiner j = { .link = &member[i] };
		enum demand_route route;

		if (demand_upper(nl, member[i].ifindex, j.upper, e) ||
		    nl_addr_list(nl, member[i].ifindex, match_any_address, &j, e) ||
		    demand_route(nl, member[i].ifindex, &route, e))
			return -1;
		j.has_route = route == DEMAND_ROUTE;
		j.has_default_route = route == DEMAND_DEFAULT_ROUTE;
		if (demand_may_join(&j, e))
			return err_wrap(e, "master: bond[%zu]", i);
	}
	return 0;
}

/* ---- the plan ---- */

/* As the kernel will describe it. */
static void describe(const struct demand_link *l, uint16_t type, struct link_info *out)
{
	*out = (struct link_info){ .ifindex = l->ifindex,
				   .lower_nsid = -1,
				   .mtu = l->mtu,
				   .flags = IFF_UP,
				   .type = type,
				   .addr = l->lower[0].addr,
				   .data = l->data };
	if (l->kind == DEMAND_VLAN)
		out->lower_ifindex = l->lower[0].ifindex;
	memcpy(out->name, l->name, sizeof(out->name));
	(void)snprintf(out->kind, sizeof(out->kind), "%s", demand_kind_name(l->kind));
}

static int add_link(struct master_place *p, struct demand_plan *plan, struct err *e)
{
	struct demand_link *l = &plan->link[plan->n];

	if (look(p, plan, e))
		return -1;
	if (!plan->there[plan->n]) {
		l->ifindex = nl_link_choose_ifindex();
		l->mtu = l->mtu ? l->mtu : least_mtu(l);
		describe(l, ARPHRD_ETHER, &plan->is[plan->n]);
	}
	return 0;
}

static int plan_bond(struct master_place *p, const struct demand_bond *c, struct demand_plan *plan,
		     struct err *e)
{
	struct demand_link *l = &plan->link[plan->n];
	struct link_info member[DEMAND_MEMBERS_MAX] = { 0 };
	char name[IFNAME_LEN];

	*l = (struct demand_link){ .kind = DEMAND_BOND, .mtu = c->mtu, .data = c->data };
	if (look_for_members(p, c, member, plan, e))
		return -1;
	demand_name_bond(l, name);
	set_name(l, c->name, name);
	if (add_link(p, plan, e))
		return -1;
	const size_t i = plan->n++;

	return plan->there[i] || plan->making[i] ? 0 : check_joiners(p->nl, member, c->n, e);
}

static int check_vlan(const struct demand_link *l, const struct link_info *of, struct err *e)
{
	if (!link_is_ethernet(of))
		return err_set(e, ERR_CONFIG, 0, "master: of: interface %s is not Ethernet",
			       of->name);
	if (l->mtu > of->mtu)
		return err_set(e, ERR_CONFIG, 0, "master: mtu: %u is more than the %u of %s",
			       l->mtu, of->mtu, of->name);
	return 0;
}

/* The kernel asks the VLANs of a port before the bond or the bridge above it. */
static int check_port(struct nl *nl, const struct link_info *of, uint32_t id, struct err *e)
{
	struct link_info upper;
	struct err why;

	if (!of->upper_ifindex || nl_link_by_index(nl, of->upper_ifindex, &upper, &why) ||
	    strcmp(upper.kind, "vrf") == 0)
		return 0;
	err_set(e, ERR_BUSY, 0,
		"master: of: interface %s is a port of %s, which would lose the frames of VLAN %u",
		of->name, upper.name, id);
	return err_hint(e, "\"of\": \"%s\" is a VLAN on the whole", upper.name);
}

static int plan_vlan(struct master_place *p, const struct demand_conf *c, struct demand_plan *plan,
		     struct err *e)
{
	const struct demand_vlan *v = &c->vlan;
	struct demand_link *l = &plan->link[plan->n];
	struct link_info of;
	char name[IFNAME_LEN];

	*l = (struct demand_link){ .kind = DEMAND_VLAN, .mtu = v->mtu };
	l->data.vlan.id = v->id;
	l->data.vlan.protocol = LINK_VLAN_8021Q;
	if (c->has_bond)
		of = plan->is[0];
	else if (master_find(p, &v->of, &of, e))
		return err_wrap(e, "of");
	if (check_vlan(l, &of, e))
		return -1;
	add_lower(l, &of);
	demand_name_vlan(of.name, v->id, name);
	set_name(l, v->name, name);
	if (add_link(p, plan, e) || (!plan->there[plan->n] && check_port(p->nl, &of, v->id, e)))
		return -1;
	plan->n++;
	return 0;
}

int demand_make_plan(struct master_place *p, const struct demand_conf *c, struct demand_plan *out,
		     struct err *e)
{
	struct demand_plan plan = { .n = 0 };

	if ((c->has_bond && plan_bond(p, &c->bond, &plan, e)) ||
	    (c->has_vlan && plan_vlan(p, c, &plan, e)))
		return -1;
	*out = plan;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* demand_plan.c: which links a configuration means, and which of them are there. */
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"
#include "lib/net/addr.h"

/* ---- what is asked for ---- */

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
		demand_describe_lower(&member[i], &l->lower[l->n++]);
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

/* How many are ports of upper; none: 0. */
static size_t count_below(const struct link_info *member, size_t n, int upper)
{
	size_t below = 0;

	for (size_t i = 0; i < n; i++)
		below += member[i].upper_ifindex == upper;
	return below;
}

/* A bond may end between two looks, and its ports are free then: they are looked up again. */
#define LOOKS 3

/* twin: the bond that has all of the members already, or some while the others are free; number 0:
 * none. */
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
		if (why.errnum != ENODEV || looks == LOOKS)
			return err_pass(e, &why);
	}
	const size_t below = count_below(member, c->n, twin->ifindex);

	plan->twin_lacks = below < c->n;
	if (below + count_below(member, c->n, 0) < c->n)
		twin->ifindex = 0;
	return 0;
}

/* ---- what is there ---- */

int demand_find_made(struct nl *nl, const struct demand_state *s, struct link_info *out,
		     struct err *e)
{
	struct link_info link;
	struct err why;

	if (nl_link_by_index(nl, s->link.ifindex, &link, &why))
		return why.errnum == ENODEV ? 0 : err_pass(e, &why);
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
	if (why.errnum != ENODEV)
		return err_pass(e, &why);
	if (want->kind == DEMAND_VLAN)
		return find_other_vlan(nl, want, out, e);
	*out = plan->twin;
	return out->ifindex && !(plan->twin_lacks && want->name_given);
}

/* The link on record for that name; 1: it is there, and ours; 2: its making is not done. */
static int demand_plan_find_own(struct master_place *p, const char *name, struct link_info *out,
				struct err *e)
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
	int rc = demand_plan_find_own(p, want->name, is, e);

	plan->mine[i] = rc == 1;
	plan->making[i] = rc == 2;
	if (rc)
		return rc == 2 ? 0 : rc;
	rc = find_twin(p->nl, plan, is, e);
	if (rc <= 0 || want->name_given)
		return rc;
	rc = demand_plan_find_own(p, is->name, &own, e);
	plan->making[i] = rc == 2;
	plan->mine[i] = rc == 1 && own.ifindex == is->ifindex;
	if (rc < 0)
		return -1;
	if (plan->mine[i] || plan->making[i])
		memcpy(want->name, is->name, sizeof(want->name));
	/* Only our file proves that the free members were its own. */
	else if (plan->twin_lacks && is->ifindex == plan->twin.ifindex &&
		 strcmp(is->name, want->name) != 0)
		return 0;
	return plan->making[i] ? 0 : 1;
}

static const struct demand_lower *find_name(const struct demand_link *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->lower[i].name, name) == 0)
			return &l->lower[i];
	return NULL;
}

/*
 * A member that is not in our bond: its card came back and can join again, or it is not proved to
 * be the same card, or a person took it out.
 */
static void look_for_lost(const struct demand_state *s, struct demand_plan *plan,
			  struct demand_members *members, struct err *hint)
{
	const struct demand_link *want = &plan->link[plan->n];

	for (size_t i = 0; i < want->n && members->n < ARRAY_SIZE(members->ifindex); i++) {
		const struct demand_lower *now = &want->lower[i];
		const struct demand_lower *was = find_name(&s->link, now->name);

		if (demand_has_member(members, now->ifindex))
			continue;
		plan->back[i] = was && demand_came_back(was, now);
		if (plan->back[i])
			members->ifindex[members->n++] = now->ifindex;
		else if (was && was->ifindex != now->ifindex)
			(void)err_hint(hint,
				       "%s came back as number %d, it was %d: no permanent MAC "
				       "address proves that it is the same card",
				       now->name, now->ifindex, was->ifindex);
		if (!plan->back[i])
			(void)err_hint(hint,
				       "`ip link set dev %s down`, `ip link set dev %s master %s` "
				       "joins it again",
				       now->name, now->name, plan->is[plan->n].name);
	}
}

static int check_members(struct master_place *p, struct demand_plan *plan, struct err *e)
{
	const struct demand_link *want = &plan->link[plan->n];
	auto_demand_state struct demand_state s = { .users = NULL };
	struct demand_members members = { .n = 0 };
	struct err hint = { .msg = "" };

	if (find_members_of(p->nl, plan->is[plan->n].ifindex, &members, e))
		return -1;
	if (plan->mine[plan->n]) {
		int rc = demand_peek(p->ctx, want->name, &s, e);

		if (rc < 0)
			return -1;
		if (rc > 0)
			look_for_lost(&s, plan, &members, &hint);
	}
	if (demand_agrees(&plan->is[plan->n], &members, want, e) == 0)
		return 0;
	return *hint.detail ? err_hint(e, "%s", hint.detail) : -1;
}

static int demand_plan_look(struct master_place *p, struct demand_plan *plan, struct err *e)
{
	const size_t i = plan->n;
	struct demand_link *want = &plan->link[i];
	static const struct demand_members none = { .n = 0 };
	int rc = find_present(p, plan, e);

	if (rc <= 0)
		return rc;
	plan->there[i] = true;
	rc = want->kind == DEMAND_BOND ? check_members(p, plan, e)
				       : demand_agrees(&plan->is[i], &none, want, e);
	return rc ? err_wrap(e, "master") : 0;
}

/* ---- the plan ---- */

/* As the kernel will describe it. */
static void demand_plan_describe(const struct demand_link *l, uint16_t type, struct link_info *out)
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

static int demand_plan_add_link(struct master_place *p, struct demand_plan *plan, struct err *e)
{
	struct demand_link *l = &plan->link[plan->n];

	if (demand_plan_look(p, plan, e))
		return -1;
	if (!plan->there[plan->n]) {
		l->ifindex = nl_link_choose_ifindex();
		l->mtu = l->mtu ? l->mtu : least_mtu(l);
		demand_plan_describe(l, ARPHRD_ETHER, &plan->is[plan->n]);
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
	if (demand_plan_add_link(p, plan, e))
		return -1;
	const size_t bond = plan->n++;
	const bool all = !plan->there[bond] && !plan->making[bond];

	for (size_t i = 0; i < c->n; i++)
		if ((all || plan->back[i]) && demand_check_joiner(p->nl, &member[i], e))
			return err_wrap(e, "master: bond[%zu]", i);
	return 0;
}

static const char *of_key(const struct master_place *p)
{
	return p->from ? p->from : "master.of";
}

static int find_of(struct master_place *p, const struct master_conf *c, struct link_info *out,
		   struct err *e)
{
	const char *from = p->from;
	int rc;

	p->from = of_key(p);
	rc = master_find(p, c, out, e);
	p->from = from;
	return rc;
}

static int check_vlan(const struct master_place *p, const struct demand_link *l,
		      const struct link_info *of, struct err *e)
{
	if (!link_is_ethernet(of))
		return err_set(e, ERR_CONFIG, 0, "%s: interface %s is not Ethernet", of_key(p),
			       of->name);
	if (l->mtu > of->mtu)
		return err_set(e, ERR_CONFIG, 0, "master: mtu: %u is more than the %u of %s",
			       l->mtu, of->mtu, of->name);
	return 0;
}

/* The kernel asks the VLANs of a port before the bond or the bridge above it. */
static int demand_plan_check_port(const struct master_place *p, const struct link_info *of,
				  uint32_t id, struct err *e)
{
	struct link_info upper;
	struct err why;

	if (!of->upper_ifindex || nl_link_by_index(p->nl, of->upper_ifindex, &upper, &why) ||
	    strcmp(upper.kind, "vrf") == 0)
		return 0;
	err_set(e, ERR_BUSY, 0,
		"%s: interface %s is a port of %s, which would lose the frames of VLAN %u",
		of_key(p), of->name, upper.name, id);
	return err_hint(e, "\"%s\": \"%s\" is a VLAN on the whole", p->from ? "interface" : "of",
			upper.name);
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
	else if (find_of(p, &v->of, &of, e))
		return -1;
	if (check_vlan(p, l, &of, e))
		return -1;
	demand_describe_lower(&of, &l->lower[l->n++]);
	demand_name_vlan(of.name, v->id, name);
	set_name(l, v->name, name);
	if (demand_plan_add_link(p, plan, e) ||
	    (!plan->there[plan->n] && demand_plan_check_port(p, &of, v->id, e)))
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

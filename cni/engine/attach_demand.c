/* SPDX-License-Identifier: Apache-2.0 */
/* attach_demand.c: finds, takes and gives back a master on demand. */
#include <errno.h>
#include <string.h>

#include "cni/uplink/demand.h"
#include "cni/engine/attach_priv.h"
#include "cni/engine/attach_steps.h"

static struct record_key attach_demand_key_of(const struct attach *a)
{
	return attach_key(a->whole ? a->whole : a->call);
}

int attach_check_demand(const struct attach *a, struct err *e)
{
	if (!a->conf.master.on_demand)
		return 0;
	if (a->type->role == ATTACH_MOVES)
		return err_set(e, ERR_CONFIG, 0,
			       "master: %s moves a VF into the pod, and makes no VLAN or bond: "
			       "macvlan, ipvlan and rails do; the key \"vlan\" gives a VF a VLAN",
			       a->type->name);
	return demand_hooks.check_conf(a->conf.master.on_demand, e);
}

int attach_find_on_demand(struct attach *a, struct err *e)
{
	struct master_place place = attach_master_place(a);
	const enum demand_when when =
		a->call->env.cmd == CNI_CHECK ? DEMAND_MUST_BE : DEMAND_MAY_BE_MADE;

	return demand_hooks.find(&place, a->conf.master.on_demand, when, &a->master, e);
}

int attach_take_master(struct attach *a, bool *changed, struct err *e)
{
	struct master_place place = attach_master_place(a);
	const struct record_key key = attach_demand_key_of(a);
	const int before = a->master.ifindex;

	if (!a->conf.master.on_demand)
		return 0;
	if (demand_hooks.take(&place, a->conf.master.on_demand, &key, &a->master, e))
		return -1;
	*changed |= a->master.ifindex != before;
	return 0;
}

int attach_give_masters(void *arg, struct err *e)
{
	const struct attach *a = arg;
	const struct record_key key = attach_demand_key_of(a);

	return demand_hooks.give(&a->call->ctx, &key, e);
}

/* macvlan and ipvlan: of a type that checks its master, the reason is another one. */
static void explain_kind(const struct attach *a, struct err *e)
{
	struct link_info upper;
	struct err ignored;

	if (a->type->check_master)
		return;
	if (e->errnum == EINVAL && !link_is_ethernet(&a->master))
		(void)err_hint(e, "interface %s is not Ethernet", a->master.name);
	if (e->errnum == EBUSY && a->master.upper_ifindex &&
	    nl_link_by_index(attach_master_nl(a), a->master.upper_ifindex, &upper, &ignored) == 0 &&
	    strcmp(upper.kind, "vrf") != 0)
		(void)err_hint(e, "interface %s is a port of %s, which takes its packets: name %s",
			       a->master.name, upper.name, upper.name);
}

void attach_explain_master(const struct attach *a, struct err *e)
{
	if (e->errnum != EINVAL && e->errnum != EBUSY && e->errnum != ENODEV)
		return;
	if (a->conf.in_container || !demand_is_ending(attach_master_nl(a), &a->master)) {
		const bool kernel_says_why = *e->detail;

		explain_kind(a, e);
		if (a->master_from && !kernel_says_why)
			(void)err_hint(e, "%s names interface %s for it", a->master_from,
				       a->master.name);
		return;
	}
	err_set(e, ERR_AGAIN, 0, "its last pod is gone, and it is being removed");
	(void)err_hint(e, "\"master\" as an object, as for its other pods, makes it again");
}

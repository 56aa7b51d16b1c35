/* SPDX-License-Identifier: Apache-2.0 */
/* attach_demand.c: finds, takes and gives back a master on demand. */
#include <errno.h>

#include "cni/demand/demand.h"
#include "cni/engine/attach_priv.h"
#include "cni/engine/attach_steps.h"

static struct record_key key_of(const struct attach *a)
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
	const struct record_key key = key_of(a);
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
	const struct record_key key = key_of(a);

	return demand_hooks.give(&a->call->ctx, &key, e);
}

void attach_explain_master(const struct attach *a, struct err *e)
{
	if ((e->errnum != EINVAL && e->errnum != EBUSY && e->errnum != ENODEV) ||
	    a->conf.in_container || !demand_is_ending(attach_master_nl(a), &a->master))
		return;
	err_set(e, ERR_AGAIN, 0, "its last pod is gone, and it is being removed");
	(void)err_hint(e, "\"master\" as an object, as for its other pods, makes it again");
}

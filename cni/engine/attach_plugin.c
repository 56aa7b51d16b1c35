/* SPDX-License-Identifier: Apache-2.0 */
/* attach_plugin.c: a type of attachment as a plugin and as a whole program, and what its hooks
 * call. */
#include "cni/engine/attach_priv.h"

struct cni_plugin attach_plugin(const struct attach_type *type)
{
	return (struct cni_plugin){
		.name = type->name,
		.add = attach_add,
		.del = attach_del,
		.check = attach_check,
		.gc = attach_gc,
		.status = attach_status,
		.data = type,
	};
}

int attach_main(const struct attach_type *type, const struct delegate_builtin *builtin)
{
	struct cni_plugin plugin = attach_plugin(type);

	plugin.builtin = builtin;
	return cni_main(&plugin);
}

int attach_create_link(struct attach *a, struct link_spec spec, struct err *e)
{
	spec.kind = a->type->kind;
	spec.name = a->call->env.ifname;
	spec.lower_ifindex = a->master.ifindex;
	spec.target = a->conf.in_container ? NULL : &a->pod;
	spec.mtu = a->conf.mtu;
	return nl_link_create(attach_master_nl(a), &spec, e);
}

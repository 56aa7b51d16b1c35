/* SPDX-License-Identifier: Apache-2.0 */
/* ipvlan.c: the ipvlan plugin: its keys, its master out of a chain, and its link. */
#include "cni/attach.h"

struct ipvlan_conf {
	int mode, flag;
};

_Static_assert(sizeof(struct ipvlan_conf) <= ATTACH_PLUGIN_CONF_MAX, "plugin_conf is too small");

static const struct json_enum modes[] = {
	{ "l2", IPVLAN_L2 }, { "l3", IPVLAN_L3 }, { "l3s", IPVLAN_L3S },
	{ "", IPVLAN_L2 },   { NULL, 0 },
};

static const struct json_enum flags[] = {
	{ "bridge", IPVLAN_BRIDGE },
	{ "private", IPVLAN_PRIVATE },
	{ "vepa", IPVLAN_VEPA },
	{ NULL, 0 },
};

static const struct json_field fields[] = {
	{ .key = "mode",
	  .kind = J_ENUM,
	  .offset = offsetof(struct ipvlan_conf, mode),
	  .names = modes },
	{ .key = "flag",
	  .kind = J_ENUM,
	  .offset = offsetof(struct ipvlan_conf, flag),
	  .names = flags },
	{ 0 },
};

/* In a chain the interface made before us is the master, if there is no doubt which one it is. */
static int validate(struct attach *a, struct err *e)
{
	if (a->conf.master || !a->call->conf.prev_result || a->call->env.verb != CNI_ADD)
		return 0;
	if (a->prev.n_interfaces != 1)
		return err_set(e, ERR_CONFIG, 0,
			       "master: not given, and prevResult has %zu interfaces to choose "
			       "from instead of one",
			       a->prev.n_interfaces);
	a->conf.master = a->prev.interfaces[0].name;
	return 0;
}

static int create(struct attach *a, struct err *e)
{
	const struct ipvlan_conf *c = (const void *)a->plugin_conf;
	const struct link_spec spec = {
		.kind = "ipvlan",
		.name = a->call->env.ifname,
		.lower_ifindex = a->master.ifindex,
		.target = a->conf.in_container ? NULL : &a->pod,
		.mtu = a->conf.mtu,
		.ipvlan_mode = c->mode,
		.ipvlan_flag = c->flag,
	};

	return nl_link_create(attach_master_nl(a), &spec, e);
}

static int check(const struct attach *a, struct err *e)
{
	const struct ipvlan_conf *c = (const void *)a->plugin_conf;

	if (a->link.ipvlan_mode != c->mode || a->link.ipvlan_flag != c->flag)
		return err_set(
			e, ERR_STATE, 0,
			"interface %s is in ipvlan mode %d with flag %d, asked for are %d and %d",
			a->link.name, a->link.ipvlan_mode, a->link.ipvlan_flag, c->mode, c->flag);
	return 0;
}

static const struct attach_type type = {
	.name = "ipvlan",
	.kind = "ipvlan",
	.fields = fields,
	.validate = validate,
	.create = create,
	.check = check,
	.adopts_prev_ips = true,
};

int main(void)
{
	return attach_main(&type);
}

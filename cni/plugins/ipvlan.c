/* SPDX-License-Identifier: Apache-2.0 */
/* ipvlan.c: the ipvlan plugin: its keys, its master out of a chain, and its link. */
#include "cni/engine/attach.h"

struct ipvlan_conf {
	int mode, flag;
};

_Static_assert(sizeof(struct ipvlan_conf) <= ATTACH_PLUGIN_CONF_MAX, "plugin_conf is too small");

static const struct json_enum ipvlan_modes[] = {
	{ "l2", IPVLAN_L2 }, { "l3", IPVLAN_L3 }, { "l3s", IPVLAN_L3S },
	{ "", IPVLAN_L2 },   { NULL, 0 },
};

static const struct json_enum ipvlan_flags[] = {
	{ "bridge", IPVLAN_BRIDGE },
	{ "private", IPVLAN_PRIVATE },
	{ "vepa", IPVLAN_VEPA },
	{ "", IPVLAN_BRIDGE },
	{ NULL, 0 },
};

static const struct json_field ipvlan_fields[] = {
	{ "mode", J_ENUM, offsetof(struct ipvlan_conf, mode), 0, 0, 0, ipvlan_modes },
	{ "flag", J_ENUM, offsetof(struct ipvlan_conf, flag), 0, 0, 0, ipvlan_flags },
	{ 0 },
};

/* In a chain the interface made before us is the master, if there is no doubt which one it is. */
static int ipvlan_validate(struct attach *a, struct err *e)
{
	const struct cni_result *prev = &a->prev;
	bool chained = a->call->conf.prev_result && a->call->env.cmd == CNI_ADD;

	if (!a->conf.master && chained && prev->n_interfaces != 1)
		return err_set(e, ERR_CONFIG, 0,
			       "master: not given, and prevResult has %zu interfaces to choose "
			       "from instead of one",
			       prev->n_interfaces);
	if (!a->conf.master && chained)
		a->conf.master = prev->interfaces[0].name;
	return 0;
}

static int ipvlan_create(struct attach *a, struct err *e)
{
	const struct ipvlan_conf *c = (const void *)a->plugin_conf;

	return attach_create_link(
		a, (struct link_spec){ .ipvlan_mode = c->mode, .ipvlan_flag = c->flag }, e);
}

static int ipvlan_check(const struct attach *a, struct err *e)
{
	const struct ipvlan_conf *c = (const void *)a->plugin_conf;
	bool same = a->link.ipvlan_mode == c->mode && a->link.ipvlan_flag == c->flag;

	return same ? 0
		    : err_set(e, ERR_STATE, 0,
			      "interface %s is in ipvlan mode %d with flag %d, asked for are %d "
			      "and %d",
			      a->link.name, a->link.ipvlan_mode, a->link.ipvlan_flag, c->mode,
			      c->flag);
}

static const struct attach_type ipvlan = {
	.name = "ipvlan",
	.kind = "ipvlan",
	.fields = ipvlan_fields,
	.validate = ipvlan_validate,
	.create = ipvlan_create,
	.check = ipvlan_check,
	.shares_mac = true,
	.adopts_prev_ips = true,
};

int main(void)
{
	return attach_main(&ipvlan);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ipvlan.c: the type ipvlan: its keys, its master out of a chain, and its link. */
#include "plugins/ether/links.h"

struct ipvlan_conf {
	int mode, flag;
};

_Static_assert(sizeof(struct ipvlan_conf) <= ATTACH_STATE_MAX, "the state is too large");

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
	{ "mode", J_ENUM, J_AT(struct ipvlan_conf, mode), .names = ipvlan_modes },
	{ "flag", J_ENUM, J_AT(struct ipvlan_conf, flag), .names = ipvlan_flags },
	{ 0 },
};

/* In a chain the interface made before us is the master, if there is no doubt which one it is. */
static int ipvlan_validate(struct attach *a, struct err *e)
{
	const struct cni_result *prev = &a->prev;
	bool chained = a->call->conf.prev_result && a->call->env.cmd == CNI_ADD;

	if (!a->conf.master.n && chained && prev->n_interfaces != 1)
		return err_set(e, ERR_CONFIG, 0,
			       "master: not given, and prevResult has %zu interfaces to choose "
			       "from instead of one",
			       prev->n_interfaces);
	if (!a->conf.master.n && chained)
		master_of_name(&a->conf.master, prev->interfaces[0].name);
	return 0;
}

static union link_data ipvlan_data_of(const struct attach *a)
{
	const struct ipvlan_conf *c = (const void *)a->state;

	return (union link_data){ .ipvlan = { .mode = (uint32_t)c->mode,
					      .flag = (uint32_t)c->flag } };
}

static int ipvlan_create(struct attach *a, struct err *e)
{
	return attach_create_link(a, (struct link_spec){ .data = ipvlan_data_of(a) }, e);
}

static int ipvlan_check(struct attach *a, struct err *e)
{
	const union link_data want = ipvlan_data_of(a);

	return nl_link_compare_data(&a->link, &want, e);
}

const struct attach_type link_ipvlan = {
	.name = "ipvlan",
	.role = ATTACH_MAKES,
	.kind = "ipvlan",
	.fields = ipvlan_fields,
	.validate = ipvlan_validate,
	.create = ipvlan_create,
	.check = ipvlan_check,
	.shares_mac = true,
	.adopts_prev_ips = true,
};

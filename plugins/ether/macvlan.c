/* SPDX-License-Identifier: Apache-2.0 */
/* macvlan.c: the type macvlan: its keys, and how its link is made and checked. */
#include "plugins/ether/links.h"

struct macvlan_conf {
	int mode;
	uint32_t bcqueuelen;
	bool has_mac;
	uint8_t mac[MAC_LEN];
	const char *mac_text;
};

_Static_assert(sizeof(struct macvlan_conf) <= ATTACH_STATE_MAX, "the state is too large");

static const struct json_enum macvlan_modes[] = {
	{ "bridge", MACVLAN_BRIDGE },
	{ "private", MACVLAN_PRIVATE },
	{ "vepa", MACVLAN_VEPA },
	{ "passthru", MACVLAN_PASSTHRU },
	{ "", MACVLAN_BRIDGE }, /* the reference plugin takes an empty mode for the default */
	{ 0 },
};

static const struct json_field macvlan_fields[] = {
	{ "mode", J_ENUM, J_AT(struct macvlan_conf, mode), .names = macvlan_modes },
	{ "mac", J_STRING, J_AT(struct macvlan_conf, mac_text) },
	{ "bcqueuelen", J_U32, J_AT(struct macvlan_conf, bcqueuelen) },
	{ 0 },
};

static struct macvlan_conf *macvlan_conf_of(struct attach *a)
{
	return (void *)a->state;
}

static void defaults(void *conf)
{
	*(struct macvlan_conf *)conf = (struct macvlan_conf){ .mode = MACVLAN_BRIDGE };
}

static int macvlan_validate(struct attach *a, struct err *e)
{
	struct macvlan_conf *c = macvlan_conf_of(a);
	int found = attach_choose_mac(a, c->mac_text, c->mac, e);

	if (found < 0)
		return -1;
	c->has_mac = found > 0;
	/* The kernel gives the container the master's own address then and would ignore ours. */
	if (c->mode == MACVLAN_PASSTHRU && c->has_mac)
		return err_set(
			e, ERR_CONFIG, 0,
			"mac: cannot be chosen in mode \"passthru\", which uses the master's");
	if (c->mode == MACVLAN_PASSTHRU && a->conf.tuning.has_mac_prefix)
		return err_set(
			e, ERR_CONFIG, 0,
			"macPrefix: is not for mode \"passthru\", which uses the master's MAC");
	return 0;
}

static union link_data macvlan_data_of(const struct macvlan_conf *c)
{
	return (union link_data){ .macvlan = { .mode = (uint32_t)c->mode,
					       .bcqueuelen = c->bcqueuelen } };
}

static int macvlan_create(struct attach *a, struct err *e)
{
	const struct macvlan_conf *c = macvlan_conf_of(a);
	const struct link_spec spec = { .addr = c->has_mac ? hw_addr_of_mac(c->mac) : a->made_mac,
					.data = macvlan_data_of(c) };

	return attach_create_link(a, spec, e);
}

static int macvlan_check(struct attach *a, struct err *e)
{
	const union link_data want = macvlan_data_of((const void *)a->state);

	return nl_link_compare_data(&a->link, &want, e);
}

const struct attach_type link_macvlan = {
	.name = "macvlan",
	.role = ATTACH_MAKES,
	.kind = "macvlan",
	.fields = macvlan_fields,
	.defaults = defaults,
	.validate = macvlan_validate,
	.create = macvlan_create,
	.check = macvlan_check,
	.takes_mac_prefix = true,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* demand_conf.c: reads the key "master" as an object. Pure. */
#include <stdio.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"

#define KEY     "master"
#define MTU_MIN 68
#define MTU_MAX 65535
#define MIIMON  100 /* ms, as the kernel sets it for 802.3ad; without it a dead member stays */

static const struct json_enum modes[] = {
	{ "balance-rr", 0 }, { "active-backup", 1 }, { "balance-xor", 2 }, { "broadcast", 3 },
	{ "802.3ad", 4 },    { "balance-tlb", 5 },   { "balance-alb", 6 }, { 0 },
};
#define MODE_8023AD 4

static const struct json_enum policies[] = {
	{ "layer2", 0 },
	{ "layer3+4", 1 },
	{ "layer2+3", 2 },
	{ "encap2+3", 3 },
	{ "encap3+4", 4 },
	{ "vlan+srcmac", 5 },
	{ 0 },
};
static const struct json_enum rates[] = { { "slow", 0 }, { "fast", 1 }, { 0 } };

struct text {
	uint32_t vlan, mtu, miimon;
	int mode, policy, rate;
	const char *name;
	const struct json *of, *bond;
};

#define NOT_GIVEN (-1)

static const struct json_field vlan_fields[] = {
	{ "vlan", J_U32, J_AT(struct text, vlan), .flags = J_REQUIRED, .min = 1, .max = 4094 },
	{ "of", J_ANY, J_AT(struct text, of), .flags = J_REQUIRED },
	{ "name", J_STRING, J_AT(struct text, name), .flags = J_EMPTY_OK },
	{ "mtu", J_U32, J_AT(struct text, mtu), .min = MTU_MIN, .max = MTU_MAX },
	{ 0 },
};

static const struct json_field bond_fields[] = {
	{ "bond", J_ARRAY, J_AT(struct text, bond), .flags = J_REQUIRED },
	{ "mode", J_ENUM, J_AT(struct text, mode), .flags = J_REQUIRED, .names = modes },
	{ "miimon", J_U32, J_AT(struct text, miimon), .min = 1, .max = 60000 },
	{ "xmitHashPolicy", J_ENUM, J_AT(struct text, policy), .names = policies },
	{ "lacpRate", J_ENUM, J_AT(struct text, rate), .names = rates },
	{ "name", J_STRING, J_AT(struct text, name), .flags = J_EMPTY_OK },
	{ "mtu", J_U32, J_AT(struct text, mtu), .min = MTU_MIN, .max = MTU_MAX },
	{ 0 },
};

static int demand_conf_check_name(const char *where, const char *name, struct err *e)
{
	const char *problem = name ? ifname_problem(name) : NULL;

	if (!problem && name && *name == '.')
		problem = "interface name begins with a dot";
	return problem ? err_set(e, ERR_CONFIG, 0, "%s.name: \"%.64s\": %s", where, name, problem)
		       : 0;
}

static int demand_conf_read_text(const struct json *o, const char *where,
				 const struct json_field *fields, struct text *t, struct err *e)
{
	*t = (struct text){
		.miimon = MIIMON, .mode = NOT_GIVEN, .policy = NOT_GIVEN, .rate = NOT_GIVEN
	};
	return json_refuse_unknown(o, where, fields, e) || json_decode(o, where, fields, t, e) ||
			       demand_conf_check_name(where, t->name, e)
		       ? -1
		       : 0;
}

static uint32_t number_or_unknown(int value)
{
	return value == NOT_GIVEN ? LINK_DATA_UNKNOWN : (uint32_t)value;
}

static int read_members(const char *where, const struct json *list, struct demand_bond *out,
			struct err *e)
{
	char key[64];

	json_each (it, list) {
		(void)snprintf(key, sizeof(key), "%.32s.bond[%zu]", where, out->n);
		if (out->n == DEMAND_MEMBERS_MAX)
			return err_set(e, ERR_CONFIG, 0, "%s.bond: more than %d members", where,
				       DEMAND_MEMBERS_MAX);
		if (master_read_value(key, it, &out->member[out->n], e))
			return -1;
		if (!out->member[out->n++].n)
			return err_set(e, ERR_CONFIG, 0, "%s: names no interface", key);
	}
	return out->n ? 0
		      : err_set(e, ERR_CONFIG, 0, "%s.bond: the list of members is empty", where);
}

static int read_bond(const struct json *o, const char *where, struct demand_conf *out,
		     struct err *e)
{
	struct text t;

	if (demand_conf_read_text(o, where, bond_fields, &t, e))
		return -1;
	if (t.rate != NOT_GIVEN && t.mode != MODE_8023AD)
		return err_set(e, ERR_CONFIG, 0, "%s.lacpRate: only mode \"802.3ad\" has it",
			       where);
	out->has_bond = true;
	out->bond.name = t.name;
	out->bond.mtu = t.mtu;
	out->bond.data.bond.mode = (uint32_t)t.mode;
	out->bond.data.bond.miimon = t.miimon;
	out->bond.data.bond.xmit_hash_policy = number_or_unknown(t.policy);
	out->bond.data.bond.lacp_rate = number_or_unknown(t.rate);
	return read_members(where, t.bond, &out->bond, e);
}

static int read_vlan(const struct json *o, struct demand_conf *out, struct err *e)
{
	struct text t;

	if (demand_conf_read_text(o, KEY, vlan_fields, &t, e))
		return -1;
	out->has_vlan = true;
	out->vlan.id = t.vlan;
	out->vlan.name = t.name;
	out->vlan.mtu = t.mtu;
	if (json_type(t.of) == JSON_OBJECT)
		return read_bond(t.of, KEY ".of", out, e);
	if (master_read_value(KEY ".of", t.of, &out->vlan.of, e))
		return -1;
	return out->vlan.of.n ? 0 : err_set(e, ERR_CONFIG, 0, KEY ".of: names no interface");
}

int demand_read_conf(const struct json *object, struct demand_conf *out, struct err *e)
{
	struct demand_conf c = { .has_vlan = false };
	const bool vlan = json_get(object, "vlan") != NULL, bond = json_get(object, "bond") != NULL;

	if (vlan == bond) {
		err_set(e, ERR_CONFIG, 0, KEY ": %s",
			vlan ? "has both \"vlan\" and \"bond\""
			     : "an object must have \"vlan\" or \"bond\"");
		return err_hint(e,
				"a VLAN on a bond is {\"vlan\": 120, \"of\": {\"bond\": [...]}}");
	}
	if (vlan ? read_vlan(object, &c, e) : read_bond(object, KEY, &c, e))
		return -1;
	*out = c;
	return 0;
}

int demand_check_conf(const struct json *object, struct err *e)
{
	struct demand_conf ignored;

	return demand_read_conf(object, &ignored, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: checks what the keys of type "sriov" say together, and makes the VF request. Pure. */
#include "plugins/sriov/conf.h"

#include <stdio.h>
#include <string.h>

#include "lib/rdma/lock.h"

#define NOT_GIVEN   (-1)
#define FIELD(k, m) .key = k, .offset = offsetof(struct sriov_conf, m)

/* Both spellings are in use: sriov-cni ignores the case. */
static const struct json_enum protos[] = {
	{ "802.1q", VLAN_PROTO_8021Q },
	{ "802.1ad", VLAN_PROTO_8021AD },
	{ "802.1Q", VLAN_PROTO_8021Q },
	{ "802.1AD", VLAN_PROTO_8021AD },
	{ "", NOT_GIVEN },
	{ 0 },
};
static const struct json_enum switches[] = { { "on", 1 }, { "off", 0 }, { "", NOT_GIVEN }, { 0 } };

static const struct json_enum rdma[] = { { "exclusive", SRIOV_RDMA_MOVES }, { 0 } };

const struct json_field sriov_fields[] = {
	VF_ATTACH_FIELDS(struct sriov_conf, which),
	{ FIELD("mac", mac), .kind = J_STRING },
	{ FIELD("tier", tier), .kind = J_STRING },
	{ FIELD("vlan", vlan), .kind = J_I64, .min = 0, .max = 4094 },
	{ FIELD("vlanQoS", qos), .kind = J_I64, .min = 0, .max = 7 },
	{ FIELD("vlanProto", vlan_proto), .kind = J_ENUM, .names = protos },
	{ FIELD("min_tx_rate", min_rate), .kind = J_I64, .min = 0, .max = UINT32_MAX },
	{ FIELD("max_tx_rate", max_rate), .kind = J_I64, .min = 0, .max = UINT32_MAX },
	{ FIELD("spoofchk", spoofchk), .kind = J_ENUM, .names = switches },
	{ FIELD("trust", trust), .kind = J_ENUM, .names = switches },
	{ FIELD("link_state", link_state), .kind = J_ENUM, .names = vf_attach_link_states },
	{ FIELD("rdma", rdma), .kind = J_ENUM, .names = rdma },
	{ FIELD("renumbered", renumbered), .kind = J_ENUM, .names = rdma_reactions },
	{ FIELD("rdmaTimeout", rdma_timeout), .kind = J_U32, .min = 1, .max = RDMA_LOCK_MS / 1000 },
	{ 0 },
};

void sriov_conf_defaults(void *conf)
{
	*(struct sriov_conf *)conf = (struct sriov_conf){
		.vlan = NOT_GIVEN,
		.qos = NOT_GIVEN,
		.min_rate = NOT_GIVEN,
		.max_rate = NOT_GIVEN,
		.traffic_class = NOT_GIVEN,
		.vlan_proto = NOT_GIVEN,
		.spoofchk = NOT_GIVEN,
		.trust = NOT_GIVEN,
		.link_state = NOT_GIVEN,
		.renumbered = NOT_GIVEN,
	};
}

static int conf_check_vlan(const struct sriov_conf *c, struct vf_info *want, struct err *e)
{
	if (c->vlan == NOT_GIVEN && c->qos != NOT_GIVEN)
		return err_set(e, ERR_CONFIG, 0, "vlanQoS: %d needs a vlan", (int)c->qos);
	if (c->vlan == NOT_GIVEN && c->vlan_proto != NOT_GIVEN)
		return err_set(e, ERR_CONFIG, 0, "vlanProto: needs a vlan");
	if (c->vlan == NOT_GIVEN)
		return 0;
	if (c->vlan == 0 && c->qos > 0)
		return err_set(e, ERR_CONFIG, 0,
			       "vlanQoS: %d needs a vlan of 1 to 4094, vlan is 0 (untagged)",
			       (int)c->qos);
	if (c->vlan == 0 && c->vlan_proto == VLAN_PROTO_8021AD)
		return err_set(e, ERR_CONFIG, 0,
			       "vlanProto: \"802.1ad\" needs a vlan of 1 to 4094, vlan is 0");
	want->has |= VF_VLAN;
	want->vlan = (uint32_t)c->vlan;
	want->qos = c->qos == NOT_GIVEN ? 0 : (uint32_t)c->qos;
	want->vlan_proto = c->vlan_proto == NOT_GIVEN ? VLAN_PROTO_8021Q : (uint16_t)c->vlan_proto;
	return 0;
}

/* If only one of the two rates is given, the other is 0: no limit. */
static int check_rates(const struct sriov_conf *c, struct vf_info *want, struct err *e)
{
	if (c->min_rate == NOT_GIVEN && c->max_rate == NOT_GIVEN)
		return 0;
	want->has |= VF_RATE;
	want->min_rate = c->min_rate == NOT_GIVEN ? 0 : (uint32_t)c->min_rate;
	want->max_rate = c->max_rate == NOT_GIVEN ? 0 : (uint32_t)c->max_rate;
	if (want->max_rate && want->min_rate > want->max_rate)
		return err_set(e, ERR_CONFIG, 0,
			       "min_tx_rate: %u Mbit/s is more than the max_tx_rate of %u",
			       want->min_rate, want->max_rate);
	return 0;
}

static void take_switches(const struct sriov_conf *c, struct vf_info *want)
{
	if (c->spoofchk != NOT_GIVEN) {
		want->has |= VF_SPOOFCHK;
		want->spoofchk = c->spoofchk == 1;
	}
	if (c->trust != NOT_GIVEN) {
		want->has |= VF_TRUST;
		want->trust = c->trust == 1;
	}
	vf_attach_want_link_state(c->link_state, want);
}

/* ---- tier ---- */

static int refuse_beside_tier(const struct sriov_conf *c, const char *key, int64_t value,
			      struct err *e)
{
	err_set(e, ERR_CONFIG, 0, "tier: \"%.64s\" and %s: %lld exclude each other", c->tier, key,
		(long long)value);
	return err_hint(e, "a tier sets rates, VLAN priority and traffic class; give either the "
			   "tier or these keys");
}

/* Keys that a tier also sets are refused, because the two values could differ. */
static int check_tier(struct sriov_conf *c, struct err *e)
{
	if (c->tier && !*c->tier)
		c->tier = NULL;
	if (!c->tier)
		return 0;
	if (!id_valid(c->tier) || strlen(c->tier) >= TIER_NAME_LEN)
		return err_set(e, ERR_CONFIG, 0, "tier: \"%.64s\" is not a valid name", c->tier);
	if (c->min_rate != NOT_GIVEN)
		return refuse_beside_tier(c, "min_tx_rate", c->min_rate, e);
	if (c->max_rate != NOT_GIVEN)
		return refuse_beside_tier(c, "max_tx_rate", c->max_rate, e);
	if (c->qos != NOT_GIVEN)
		return refuse_beside_tier(c, "vlanQoS", c->qos, e);
	return 0;
}

int sriov_conf_take_tier(struct sriov_conf *c, const struct tier *t, struct err *e)
{
	struct sriov_conf n = *c;

	n.min_rate = t->min_rate;
	n.max_rate = t->max_rate;
	n.traffic_class = t->traffic_class;
	n.qos = t->qos;
	if (t->qos > 0 && c->vlan <= 0) {
		err_set(e, ERR_CONFIG, 0,
			"tier: \"%s\" has vlanQoS %d, which needs a vlan of 1 to 4094, but %s",
			t->name, (int)t->qos,
			c->vlan == 0 ? "vlan is 0 (untagged)" : "no vlan is given");
		return err_hint(e, "give vlan, or use a tier without vlanQoS");
	}
	/* Without a VLAN tag there is no priority. */
	if (c->vlan == NOT_GIVEN)
		n.qos = NOT_GIVEN;
	if (conf_check_vlan(&n, &n.request.pf_side, e) || check_rates(&n, &n.request.pf_side, e))
		return -1;
	n.qos = t->qos;
	*c = n;
	return 0;
}

bool sriov_conf_tier(const struct sriov_conf *c, struct tier *out)
{
	struct tier t = { .min_rate = c->min_rate,
			  .max_rate = c->max_rate,
			  .qos = c->qos,
			  .traffic_class = c->traffic_class };

	if (!c->tier)
		return false;
	(void)snprintf(t.name, sizeof(t.name), "%s", c->tier);
	*out = t;
	return true;
}

static int conf_check_rdma(const struct sriov_conf *c, struct err *e)
{
	if (c->rdma == SRIOV_RDMA_MOVES)
		return 0;
	if (c->rdma_timeout)
		return err_set(e, ERR_CONFIG, 0,
			       "rdmaTimeout: needs \"rdma\": \"exclusive\", because only a move "
			       "waits for the node");
	if (c->renumbered == NOT_GIVEN)
		return 0;
	return err_set(e, ERR_CONFIG, 0,
		       "renumbered: needs \"rdma\": \"exclusive\", because only a device that "
		       "moves gets other numbers");
}

/* Without it the pod would get all VLANs, or one, where its author wants some. */
static int refuse_trunk(const struct json *conf, struct err *e)
{
	static const char *const keys[] = { "vlanTrunk", "vlan_trunk" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct json *n = json_get(conf, keys[i]);
		const char *text = json_str(n);

		if (!n || json_type(n) == JSON_NULL || (text && !*text))
			continue;
		err_set(e, ERR_FIELD, 0, "%s: a VF has one VLAN or none", keys[i]);
		return err_hint(e, "give vlan; or none, and the pod tags its packets itself");
	}
	return 0;
}

int sriov_conf_check(const struct attach *a, struct sriov_conf *c, struct err *e)
{
	struct vf_request w = { .mtu = a->conf.mtu };
	int mac = attach_choose_mac(a, c->mac, w.pf_side.mac, e);

	if (mac < 0 || refuse_trunk(a->call->conf.tree, e) ||
	    vf_attach_check_keys(a, &c->which, e) || check_tier(c, e) ||
	    conf_check_vlan(c, &w.pf_side, e) || check_rates(c, &w.pf_side, e) ||
	    conf_check_rdma(c, e))
		return -1;
	if (mac > 0)
		w.pf_side.has |= VF_MAC;
	take_switches(c, &w.pf_side);
	c->request = w;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_conf.c: reads the configuration of an attachment, the time limits in it, and which MAC
 * address the pod's interface shall have.
 */
#include <string.h>

#include "cni/engine/attach_priv.h"
#include "cni/engine/attach_steps.h"

static const struct json_field common_fields[] = {
	{ "mtu", J_U32, J_AT(struct attach_conf, mtu), .max = 65535 },
	{ "linkInContainer", J_BOOL, J_AT(struct attach_conf, in_container) },
	{ "dad", J_BOOL, J_AT(struct attach_conf, dad) },
	{ "ipamTimeout", J_U32, J_AT(struct attach_conf, ipam_timeout), .min = 1,
	  .max = ATTACH_IPAM_TIMEOUT_MAX_S },
	{ 0 },
};

const struct attach_type *attach_type_of(const struct cni_call *call)
{
	return call->data;
}

const char *attach_ipam_type(const struct cni_call *call)
{
	const struct attach_type *type = attach_type_of(call);
	const char *ipam = call->conf.ipam_type;

	return type->role == ATTACH_FOLLOWS || (type->no_dhcp && strcmp(ipam, "dhcp") == 0) ? ""
											    : ipam;
}

int attach_records(const struct cni_call *call, struct record_place *out, struct err *e)
{
	return record_place(&call->ctx, attach_type_of(call)->records, out, e);
}

struct record_key attach_key(const struct cni_call *call)
{
	return (struct record_key){ call->conf.name, call->env.container, call->env.ifname };
}

void attach_init(struct attach *a, const struct cni_call *call)
{
	*a = (struct attach){
		.call = call,
		.type = attach_type_of(call),
		.begun_ms = ctx_mono_ms(),
		.conf = { .ipam_timeout = ATTACH_IPAM_TIMEOUT_S },
		.host = { .fd = -1 },
		.pod = { .fd = -1 },
	};
	a->no_link = a->type->role == ATTACH_FOLLOWS;
	if (a->type->defaults)
		a->type->defaults(a->state);
}

void attach_init_part(struct attach *a, const struct cni_call *call, const struct attach *whole)
{
	attach_init(a, call);
	a->whole = whole->call;
	a->begun_ms = whole->begun_ms;
	a->host = whole->host;
	a->pod = whole->pod;
	a->view = whole->view;
	a->master_from = whole->master_from;
	a->host_nl = whole->host_nl;
	a->pod_nl = whole->pod_nl;
}

void attach_clear(struct attach *a)
{
	if (a->type->clear)
		a->type->clear(a->state);
	cni_result_clear(&a->prev);
	json_free(a->device);
	json_free(a->rdma);
	if (a->whole)
		return;
	nl_release(a->host_nl);
	nl_release(a->pod_nl);
	netns_close(&a->host);
	netns_close(&a->pod);
}

int attach_timeout_ms(const struct attach *a)
{
	return (int)a->conf.ipam_timeout * 1000;
}

static int at_least_a_second(int64_t ms)
{
	return ms < 1000 ? 1000 : (int)ms;
}

int attach_lock_ms(const struct attach *a)
{
	int half = attach_timeout_ms(a) / 2;

	return half < ATTACH_LOCK_MS ? half : ATTACH_LOCK_MS;
}

int attach_ipam_add_ms(const struct attach *a)
{
	return at_least_a_second(a->begun_ms + attach_timeout_ms(a) - ctx_mono_ms());
}

int attach_ipam_undo_ms(const struct attach *a)
{
	return at_least_a_second(a->begun_ms + attach_timeout_ms(a) + ATTACH_UNDO_MS -
				 ctx_mono_ms());
}

static int check_rings(const struct attach *a, struct err *e)
{
	if (a->type->role == ATTACH_MOVES || a->type->several ||
	    !(a->conf.tuning.rx_ring || a->conf.tuning.tx_ring))
		return 0;
	return err_set(e, ERR_CONFIG, 0, "rings: interfaces of %s have none; only those of VFs do",
		       a->type->name);
}

static int check_mac_prefix(const struct attach *a, struct err *e)
{
	/* Of several interfaces, the type of each says it. */
	if (!a->conf.tuning.has_mac_prefix || a->type->several)
		return 0;
	if (!a->type->takes_mac_prefix)
		return err_set(e, ERR_CONFIG, 0,
			       "macPrefix: interfaces of %s get no MAC of their own; only those of "
			       "macvlan and sriov do",
			       a->type->name);
	if (!*a->call->conf.ipam_type)
		return err_set(e, ERR_CONFIG, 0,
			       "macPrefix: needs ipam, because the address is a part of the MAC");
	return 0;
}

/* A GUID alone is a result without an address. Fail before the VF has it. */
static int check_guid_pool(const struct attach *a, struct err *e)
{
	const struct cni_conf *c = &a->call->conf;
	const struct json *n = json_get(c->ipam, CNI_CONF_GUID_POOL);
	const char *key = "ipam." CNI_CONF_GUID_POOL;

	if (n && json_type(n) != JSON_NULL && !json_str(n))
		return err_set(e, ERR_DECODE, 0, "%s: must be a string, got %s", key,
			       json_type_name(n));
	if (!cni_conf_guid_pool(c->ipam))
		return 0;
	if (!a->type->leases_guid)
		return err_set(e, ERR_CONFIG, 0,
			       "%s: interfaces of %s get no GUID; only those of ib-sriov do", key,
			       a->type->name);
	if (!*c->ipam_type)
		return err_set(e, ERR_CONFIG, 0,
			       "%s: ipam.type is missing: only railhead-ipam has pools of GUIDs",
			       key);
	if (c->version <= CNI_020)
		return err_set(e, ERR_CONFIG, 0,
			       "%s: cniVersion %s is too old; write 0.3.1 or later", key,
			       cni_version_name(c->version));
	return 0;
}

/* Results of 0.2.0 cannot express an interface without address. Fail before one is created. */
static int check_version_can_say_it(const struct attach *a, struct err *e)
{
	const struct cni_conf *c = &a->call->conf;

	if (*c->ipam_type || a->prev.n_ips || c->version > CNI_020)
		return 0;
	return err_set(e, ERR_CONFIG, 0,
		       "cniVersion %s cannot describe an interface without an address: give ipam, "
		       "or use 0.3.0 or later",
		       cni_version_name(c->version));
}

/* /sys shows the devices of the host. */
static int check_master_form(const struct attach *a, struct err *e)
{
	const char *text = a->conf.in_container ? master_needs_host(&a->conf.master) : NULL;

	if (!text)
		return 0;
	return err_set(e, ERR_CONFIG, 0,
		       "master: \"%.64s\": with linkInContainer only a name or mac: can be found",
		       text);
}

static int attach_conf_decode(struct attach *a, struct err *e)
{
	const struct cni_conf *c = &a->call->conf;
	bool follows = a->type->role == ATTACH_FOLLOWS;

	if ((!follows && json_decode(c->tree, "", common_fields, &a->conf, e)) ||
	    (a->type->fields && json_decode(c->tree, "", a->type->fields, a->state, e)))
		return -1;
	if (c->prev_result &&
	    cni_result_parse(c->prev_result, "prevResult", c->version, &a->prev, e))
		return -1;
	if (follows)
		return 0;
	if (master_read_conf(c->tree, &a->conf.master, e) ||
	    probe_read_conf(c->tree, &a->conf.probe, e) ||
	    routing_read_conf(c->tree, &a->conf.routing, e) ||
	    hostveth_read_conf(c->tree, &a->conf.host, e) ||
	    tuning_read_conf(c->tree, &a->conf.tuning, e) || check_mac_prefix(a, e) ||
	    check_rings(a, e) || check_guid_pool(a, e))
		return -1;
	if (a->type->no_dhcp && strcmp(c->ipam_type, "dhcp") == 0)
		return err_set(e, ERR_CONFIG, 0,
			       "ipam.type: \"dhcp\" knows addresses of Ethernet only, and the "
			       "interfaces of %s have others: use another IPAM",
			       a->type->name);
	return check_master_form(a, e) || attach_check_demand(a, e) ||
			       check_version_can_say_it(a, e)
		       ? -1
		       : 0;
}

int attach_read_conf(struct attach *a, struct err *e)
{
	if (attach_records(a->call, &a->records, e) || attach_conf_decode(a, e) ||
	    (a->type->validate && a->type->validate(a, e)))
		return cni_conf_blame_key(&a->call->conf, e);
	/* The call of the whole warned for all its parts. */
	return a->whole ? cni_conf_check_keys(&a->call->conf, false, e)
			: cni_check_keys(a->call, NULL, true, e);
}

int attach_check_conf(const struct attach_type *type, struct cni_call *call, struct err *e)
{
	auto_attach struct attach a;

	call->data = type;
	attach_init(&a, call);
	return attach_read_conf(&a, e);
}

/* ---- the MAC address ---- */

#define FROM_ARGS "CNI_ARGS: MAC"

static int parse_unicast_mac(const char *where, const char *text, uint8_t out[MAC_LEN],
			     struct err *e)
{
	static const uint8_t zero[MAC_LEN];
	enum err_code code = strcmp(where, FROM_ARGS) == 0 ? ERR_ENV : ERR_CONFIG;

	if (parse_mac(text, out))
		return err_set(e, code, 0, "%s: \"%.64s\" is not a MAC address", where, text);
	if ((out[0] & 1) || memcmp(out, zero, MAC_LEN) == 0)
		return err_set(e, code, 0, "%s: \"%.64s\" is not a unicast address", where, text);
	return 1;
}

int attach_choose_mac(const struct attach *a, const char *configured, uint8_t out[MAC_LEN],
		      struct err *e)
{
	const struct json *runtime = json_get(a->call->conf.runtime, "mac");
	uint8_t mac[MAC_LEN];
	char from_args[64];
	int found = 0;

	if (configured && *configured && (found = parse_unicast_mac("mac", configured, mac, e)) < 0)
		return -1;
	int in_args = cni_args_get(a->call->env.args, "MAC", from_args, sizeof(from_args), e);
	if (in_args < 0)
		return -1;
	if (in_args > 0 && *from_args &&
	    (found = parse_unicast_mac(FROM_ARGS, from_args, mac, e)) < 0)
		return -1;
	if (runtime && json_type(runtime) != JSON_STRING)
		return err_set(e, ERR_DECODE, 0, "runtimeConfig.mac: must be a string, got %s",
			       json_type_name(runtime));
	if (runtime && *json_str(runtime) &&
	    (found = parse_unicast_mac("runtimeConfig.mac", json_str(runtime), mac, e)) < 0)
		return -1;
	if (found)
		memcpy(out, mac, MAC_LEN);
	return found;
}

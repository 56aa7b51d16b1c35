/* SPDX-License-Identifier: Apache-2.0 */
/* attach_conf.c: reads the configuration of an attachment, and the limits of time in it. */
#include "cni/engine/attach_priv.h"

#define DEFAULT_IPAM_TIMEOUT                                                                       \
	90 /* whereabouts gives itself 120 s, kubelet's CRI calls end at 120 to 240 s */

static const struct json_field common_fields[] = {
	{ .key = "master",
	  .kind = J_STRING,
	  .offset = offsetof(struct attach_conf, master),
	  .flags = J_EMPTY_OK },
	{ .key = "mtu", .kind = J_U32, .offset = offsetof(struct attach_conf, mtu), .max = 65535 },
	{ .key = "linkInContainer",
	  .kind = J_BOOL,
	  .offset = offsetof(struct attach_conf, in_container) },
	{ .key = "dad", .kind = J_BOOL, .offset = offsetof(struct attach_conf, dad) },
	{ .key = "probe", .kind = J_BOOL, .offset = offsetof(struct attach_conf, probe) },
	{ .key = "ipamTimeout",
	  .kind = J_U32,
	  .offset = offsetof(struct attach_conf, ipam_timeout),
	  .min = 1,
	  .max = 600 },
	{ 0 },
};

const struct attach_type *attach_type_of(const struct cni_call *call)
{
	return call->data;
}

const char *attach_ipam_type(const struct cni_call *call)
{
	return attach_type_of(call)->role == ATTACH_FOLLOWS ? "" : call->conf.ipam_type;
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
		.conf = { .ipam_timeout = DEFAULT_IPAM_TIMEOUT },
		.host = { .fd = -1 },
		.pod = { .fd = -1 },
	};
	a->no_link = a->type->role == ATTACH_FOLLOWS;
	if (a->type->defaults)
		a->type->defaults(a->state);
}

void attach_clear(struct attach *a)
{
	if (a->type->clear)
		a->type->clear(a->state);
	cni_result_clear(&a->prev);
	json_free(a->device);
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

static int check_master(const struct attach *a, struct err *e)
{
	const char *problem = a->conf.master ? ifname_problem(a->conf.master) : NULL;

	if (problem)
		return err_set(e, ERR_CONFIG, 0, "master: \"%.64s\": %s", a->conf.master, problem);
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

static int decode(struct attach *a, struct err *e)
{
	const struct cni_conf *c = &a->call->conf;
	bool follows = a->type->role == ATTACH_FOLLOWS;

	if ((!follows && json_decode(c->tree, "", common_fields, &a->conf, e)) ||
	    (a->type->fields && json_decode(c->tree, "", a->type->fields, a->state, e)))
		return -1;
	if (c->prev_result &&
	    cni_result_parse(c->prev_result, "prevResult", c->version, &a->prev, e))
		return -1;
	return !follows && (check_master(a, e) || check_version_can_say_it(a, e)) ? -1 : 0;
}

int attach_read_conf(struct attach *a, struct err *e)
{
	if (attach_records(a->call, &a->records, e) || decode(a, e) ||
	    (a->type->validate && a->type->validate(a, e)))
		return -1;
	return cni_conf_check_case(&a->call->conf, e);
}

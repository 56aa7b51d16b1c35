/* SPDX-License-Identifier: Apache-2.0 */
/* attach.c: the hooks of the sriov plugin. The order in which they are called is the engine's. */
#include "sriov/plugin/attach.h"

#include <string.h>

#include "cni/protocol/devinfo.h"
#include "sriov/plugin/conf.h"
#include "sriov/take/claim.h"
#include "sriov/take/taken.h"

_Static_assert(sizeof(struct sriov_conf) <= ATTACH_STATE_MAX, "the state is too large");

static struct sriov_conf *conf_of(struct attach *a)
{
	return (void *)a->state;
}

static int sriov_validate(struct attach *a, struct err *e)
{
	const char *ignored;

	return sriov_conf_check(a, conf_of(a), e) || devinfo_path(&a->call->conf, &ignored, e) ? -1
											       : 0;
}

/* ---- which VF ---- */

/* The record has the values from the time of the ADD. The file may have changed since. */
static int recall_tier(struct sriov_conf *c, const struct json *device, struct err *e)
{
	struct tier t;

	if (!c->tier)
		return 0;
	if (sriov_device_tier(device, &t, e)) {
		e->code = ERR_STATE;
		return err_wrap(e, "tier: \"%.64s\"", c->tier);
	}
	if (strcmp(t.name, c->tier) != 0)
		return err_set(e, ERR_STATE, 0, "tier: is \"%s\", configured is \"%.64s\"", t.name,
			       c->tier);
	return sriov_conf_take_tier(c, &t, e);
}

static int look_up_tier(struct sriov_conf *c, struct err *e)
{
	struct tier t;

	if (!c->tier)
		return 0;
	return tier_load(TIER_FILE, c->tier, &t, e) ? err_wrap(e, "tier: \"%.64s\"", c->tier)
						    : sriov_conf_take_tier(c, &t, e);
}

static int sriov_find(struct attach *a, struct err *e)
{
	struct sriov_conf *c = conf_of(a);
	auto_record struct record r = { 0 };
	bool check = a->call->env.cmd == CNI_CHECK;

	if (check && vf_attach_recall(a, &c->which, &r, e))
		return -1;
	if (check ? recall_tier(c, r.device, e) : look_up_tier(c, e))
		return -1;
	return vf_attach_find(a, &c->which, e);
}

/* ---- ADD ---- */

static int sriov_claim(struct attach *a, struct err *e)
{
	struct sriov_conf *c = conf_of(a);
	struct tier t;
	const struct tier *tier = sriov_conf_tier(c, &t) ? &t : NULL;

	return vf_attach_claim(a, &c->which, c->request.pf_side.has, tier, e);
}

static int sriov_create(struct attach *a, struct err *e)
{
	const struct sriov_conf *c = conf_of(a);
	const struct vf_attach *v = &c->which;
	const struct record_key key = attach_key(a->call);
	bool own_mac = false;
	struct err why;

	for (unsigned one = 1; one <= VF_ALL; one <<= 1) {
		if (c->request.pf_side.has & one)
			log_debug(&a->call->ctx.log, "VF %s: setting its %s", v->vf,
				  vf_attr_name((enum vf_attr)one));
	}
	int rc = vf_configure(a->host_nl, &v->place, &c->request, &own_mac, e);
	/* Record it also after a failure: the restore needs it. */
	if (own_mac && claim_set_own_mac(&a->call->ctx, v->vf, &key, rc ? &why : e))
		return -1;
	return rc ? -1 : vf_attach_move(a, v, e);
}

static int sriov_carrier_ms(const struct attach *a)
{
	const struct sriov_conf *c = (const void *)a->state;

	return vf_attach_carrier_ms(a, &c->which, &c->request.pf_side);
}

/* ---- CHECK ---- */

static int sriov_check(struct attach *a, struct err *e)
{
	const struct sriov_conf *c = conf_of(a);

	return vf_attach_check(a, &c->which, e) ||
			       vf_attach_check_pf_side(a, &c->which, &c->request.pf_side, e)
		       ? -1
		       : 0;
}

const struct attach_type sriov_type = {
	.name = "sriov",
	.role = ATTACH_MOVES,
	.kind = "",
	.fields = sriov_fields,
	.defaults = sriov_conf_defaults,
	.validate = sriov_validate,
	.find = sriov_find,
	.claim = sriov_claim,
	.create = sriov_create,
	.check = sriov_check,
	.restore = sriov_restore,
	.release = vf_attach_release,
	.carrier_ms = sriov_carrier_ms,
};

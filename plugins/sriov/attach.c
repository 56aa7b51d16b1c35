/* SPDX-License-Identifier: Apache-2.0 */
/* attach.c: the hooks of the sriov plugin. The order in which they are called is the engine's. */
#include "plugins/sriov/attach.h"

#include <string.h>

#include "cni/protocol/devinfo.h"
#include "plugins/sriov/vf_rdma.h"
#include "plugins/sriov/conf.h"
#include "sriov/claim/claim.h"
#include "sriov/claim/taken.h"

_Static_assert(sizeof(struct sriov_conf) <= ATTACH_STATE_MAX, "the state is too large");

#define RDMA_KEY "rdma"

static struct sriov_conf *attach_conf_of(const struct attach *a)
{
	return (void *)(uintptr_t)a->state;
}

static int sriov_validate(struct attach *a, struct err *e)
{
	const char *ignored;

	return sriov_conf_check(a, attach_conf_of(a), e) ||
			       devinfo_path(&a->call->conf, &ignored, e)
		       ? -1
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

/* A driver of user space makes no RDMA device. */
static int check_rdma_possible(const struct attach *a, const struct sriov_conf *c, struct err *e)
{
	if (c->rdma != SRIOV_RDMA_MOVES || !a->no_link)
		return 0;
	/* At CHECK: the VF was bound to another driver since ADD moved its device. */
	err_set(e, a->call->env.cmd == CNI_CHECK ? ERR_STATE : ERR_CONFIG, 0,
		RDMA_KEY ": \"exclusive\", but VF %s has the driver %s, which makes no RDMA device",
		c->which.vf, c->which.place.driver);
	return err_hint(e,
			"remove the key " RDMA_KEY ", or bind the VF to the driver of its card: "
			"`railctl vf bind %s DRIVER`",
			c->which.vf);
}

static int sriov_find(struct attach *a, struct err *e)
{
	struct sriov_conf *c = attach_conf_of(a);
	auto_record struct record r = { 0 };
	bool check = a->call->env.cmd == CNI_CHECK;

	if (check && vf_attach_recall(a, &c->which, &r, e))
		return -1;
	if (check ? recall_tier(c, r.device, e) : look_up_tier(c, e))
		return -1;
	return vf_attach_find(a, &c->which, e) || check_rdma_possible(a, c, e) ||
			       (c->rdma == SRIOV_RDMA_MOVES && vf_rdma_check_mode(RDMA_KEY, e))
		       ? -1
		       : 0;
}

/* ---- ADD ---- */

static int sriov_claim(struct attach *a, struct err *e)
{
	struct sriov_conf *c = attach_conf_of(a);
	struct tier t;
	const struct tier *tier = sriov_conf_tier(c, &t) ? &t : NULL;

	c->which.needs_rdma = c->rdma == SRIOV_RDMA_MOVES;
	const unsigned mac = a->conf.tuning.has_mac_prefix ? VF_MAC : 0;

	return vf_attach_claim(a, &c->which, c->request.pf_side.has | mac, tier, e);
}

static int set_own_mac(struct attach *a, struct vf_attach *v, struct err *e)
{
	const struct record_key key = attach_key(a->call);

	if (!v->held)
		return claim_set_own_mac(&a->call->ctx, v->vf, &key, e);
	v->held->base.own_mac = true;
	return vf_state_write(&a->call->ctx, v->held, e);
}

static int move_interface(struct attach *a, struct sriov_conf *c, struct err *e)
{
	struct vf_attach *v = &c->which;
	bool own_mac = false;
	struct err why;

	for (unsigned one = 1; one <= VF_ALL; one <<= 1) {
		if (c->request.pf_side.has & one)
			log_debug(&a->call->ctx.log, "VF %s: setting its %s", v->vf,
				  vf_attr_name((enum vf_attr)one));
	}
	int rc = vf_configure(a->host_nl, &v->place, &c->request, &own_mac, e);
	/* Record it also after a failure: the restore needs it. */
	if (own_mac && set_own_mac(a, v, rc ? &why : e))
		return -1;
	return rc || vf_attach_move(a, v, e) ? -1 : 0;
}

/*
 * The interface first, as when the plugin rdma follows in a list. The lock of the node comes before
 * both, so that nothing has moved while ADD waits for it.
 */
static int move_both(struct attach *a, struct sriov_conf *c, struct err *e)
{
	const struct vf_rdma_keys keys = {
		.key = RDMA_KEY,
		.renumbered = c->renumbered == RDMA_RENUMBERED_REPORT ? RDMA_RENUMBERED_REPORT
								      : RDMA_RENUMBERED_FAIL,
		.lock_ms = (int)c->rdma_timeout * 1000,
	};
	auto_vf_rdma struct vf_rdma_move m = vf_rdma_init(a, &c->which, keys);

	if (vf_rdma_open(&m, e) || vf_rdma_expect(&m, e))
		return -1;
	return move_interface(a, c, e) || vf_rdma_move(&m, e) ? -1 : 0;
}

/* A MAC that is given for this pod counts more than one that is made from its address. */
static void use_made_mac(const struct attach *a, struct vf_info *want)
{
	if (!a->made_mac.len || want->has & VF_MAC)
		return;
	want->has |= VF_MAC;
	memcpy(want->mac, a->made_mac.byte, MAC_LEN);
}

static int sriov_create(struct attach *a, struct err *e)
{
	struct sriov_conf *c = attach_conf_of(a);

	use_made_mac(a, &c->request.pf_side);
	return c->rdma == SRIOV_RDMA_MOVES ? move_both(a, c, e) : move_interface(a, c, e);
}

static int sriov_carrier_ms(const struct attach *a)
{
	const struct sriov_conf *c = attach_conf_of(a);

	return vf_attach_carrier_ms(a, &c->which, &c->request.pf_side);
}

/* ---- CHECK ---- */

static int sriov_check(struct attach *a, struct err *e)
{
	struct sriov_conf *c = attach_conf_of(a);

	use_made_mac(a, &c->request.pf_side);
	return vf_attach_check(a, &c->which, e) ||
			       vf_attach_check_pf_side(a, &c->which, &c->request.pf_side, e) ||
			       (c->rdma == SRIOV_RDMA_MOVES &&
				vf_rdma_check(a, &c->which, RDMA_KEY, e))
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
	.takes_mac_prefix = true,
};

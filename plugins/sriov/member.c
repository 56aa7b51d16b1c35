/* SPDX-License-Identifier: Apache-2.0 */
/* member.c: asks for the membership of a partition, and gives it up. */
#include "plugins/sriov/member.h"

#include "fabric/sm.h"
#include "sriov/claim/claim.h"
#include "sriov/claim/taken.h"
#include "sriov/vf/guid.h"

/* Without a GUID of its own the attachment has that of the VF. */
static int member_guid_of(const struct attach *a, const struct ib_conf *c, struct guid *out,
			  struct err *e)
{
	const struct vf_place *p = &c->which.place;
	struct link_info link;

	*out = c->want.port_guid;
	if ((c->want.has & VF_GUIDS) || !*p->name)
		return 0;
	if (nl_link_by_name(a->host_nl, p->name, &link, e))
		return -1;
	*out = vf_own_guids(&a->call->ctx, p->vf, link.addr).port;
	return 0;
}

int ib_member_add(const struct attach *a, const struct ib_conf *c, struct err *e)
{
	const struct record_key key = attach_key(a->call);
	const struct cni_pod pod = cni_args_pod(a->call->env.args);
	const bool named = *pod.ns || *pod.name;
	struct sm_member m = {
		.pkey = c->pkey,
		.who = { key.network, key.container, key.ifname, named ? pod.ns : NULL,
			 named ? pod.name : NULL },
	};

	if (!c->pkey || member_guid_of(a, c, &m.guid, e))
		return c->pkey ? -1 : 0;
	if (!guid_is_usable(m.guid)) {
		log_warn(&a->call->ctx.log,
			 "pkey: the GUID of VF %s is not known, so no partition is asked for",
			 c->which.vf);
		return 0;
	}
	return sm_add(&a->call->ctx, &m, SM_ADD_MS, e) ? err_wrap(e, "pkey") : 0;
}

int ib_member_remove(const struct ctx *ctx, const struct record_key *key, struct err *e)
{
	const struct sm_who who = { key->network, key->container, key->ifname, NULL, NULL };
	struct err why;
	int rc = sm_remove(ctx, &who, SM_REMOVE_MS, &why);

	if (rc > 0)
		log_warn(&ctx->log, "partition: %s; the removal is queued", why.msg);
	if (rc < 0)
		*e = why;
	return rc < 0 ? -1 : 0;
}

/* A GUID of a pool is free for another VF as soon as the IPAM has released it. */
static int take_guid_back(const struct ctx *ctx, const struct record *r, struct err *e)
{
	bool leased = cni_conf_guid_pool(json_get(r->config, "ipam")) != NULL;

	return sriov_device_vf(r) && leased ? claim_take_guid_back(ctx, r, e) : 0;
}

int ib_restore(const struct ctx *ctx, const struct record *r, struct err *e)
{
	return sriov_restore(ctx, r, e) || take_guid_back(ctx, r, e) ||
			       ib_member_remove(ctx, &r->key, e)
		       ? -1
		       : 0;
}

int ib_release(const struct cni_call *call, const struct record *r, struct err *e)
{
	const struct record_key key = attach_key(call);

	return vf_attach_release(call, r, e) || (!r && ib_member_remove(&call->ctx, &key, e)) ? -1
											      : 0;
}

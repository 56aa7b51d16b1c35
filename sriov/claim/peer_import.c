/* SPDX-License-Identifier: Apache-2.0 */
/* peer_import.c: makes an attachment of sriov-cni ours: writes its VF state and its record. */
#include "sriov/claim/peer.h"
#include "sriov/claim/taken.h"

#define LOCK_MS 10000

static int check_importable(const struct ctx *ctx, const struct peer *p, struct netns *pod,
			    struct err *e)
{
	struct err why;

	if (!p->has_base || !id_valid(p->network) || !id_valid(p->container) ||
	    ifname_problem(p->ifname))
		return err_set(e, ERR_STATE, 0,
			       "the file names no network, container and interface");
	if (!*p->netns)
		return err_set(e, ERR_STATE, 0,
			       "%s/sriov/pci/%s is not there: its network namespace is not known",
			       ctx->cni_dir, p->vf);
	if (netns_open(p->netns, pod, &why) == 0)
		return 0;
	err_set(e, ERR_STATE, 0, "its network namespace %.200s is gone", p->netns);
	return err_hint(e, "railctl vf repair %s restores the VF", p->vf);
}

static int write_entry(const struct ctx *ctx, const struct peer *p, struct vf_place *place,
		       struct err *e)
{
	const struct peer_owner owner = { { p->network, p->container, p->ifname }, p->netns };
	auto_vf_entry struct vf_entry old = { 0 };
	struct peer_host h = { .ctx = ctx };
	struct vf_entry x;
	auto_nl struct nl *nl = NULL;
	struct err why;

	if (nl_open(&nl, e) || vf_locate(ctx, nl, p->vf, place, e))
		return -1;
	h.nl = nl;
	if (vf_state_read(ctx, p->vf, &old, &why) == 0 && old.owned && vf_owner_lives(ctx, &old)) {
		if (vf_owner_is(&old, &owner.key, (struct netns_id){ 0 }))
			return 0;
		return err_set(e, ERR_BUSY, 0, "VF %s belongs to container %.64s now", p->vf,
			       old.owner.key.container);
	}
	return peer_entry(&h, p, &owner, &x, e) || vf_state_write(ctx, &x, e) ? -1 : 0;
}

/*
 * sriov-cni keeps only the type of the IPAM, so only the runtime's DEL can release addresses. The
 * record gets no IPAM, because repair would try to run it.
 */
static struct json *peer_config(const struct peer *p)
{
	auto_json struct json *conf = json_dup(p->conf);

	if (!conf)
		return NULL;
	json_del(conf, "ipam");
	json_del(conf, "OrigVfState");
	return TAKE_PTR(conf);
}

static int peer_import_write_record(const struct ctx *ctx, const struct peer *p,
				    const struct netns *pod, const struct vf_place *place,
				    struct err *e)
{
	auto_json struct json *conf = peer_config(p), *device = sriov_device(place, NULL, NULL);
	struct record r = { .key = { p->network, p->container, p->ifname },
			    .plugin = "sriov",
			    .kind = "",
			    .netns = p->netns,
			    .netns_id = pod->id,
			    .created = ctx->now(ctx->clock),
			    .master = place->pf_name,
			    .cni_path = "",
			    .args = "",
			    .config = conf,
			    .device = device };

	if (!conf || !device)
		return err_nomem(e);
	return ctx_boot_id(ctx, r.boot, e) || record_write(ctx, &r, e) ? -1 : 0;
}

int peer_may_import(const struct ctx *ctx, const struct peer *p, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 };

	return check_importable(ctx, p, &pod, e);
}

int peer_import(const struct ctx *ctx, const struct peer *p, struct err *e)
{
	const struct record_key key = { p->network, p->container, p->ifname };
	auto_netns struct netns pod = { .fd = -1 };
	auto_record struct record old = { 0 };
	struct vf_place place;
	struct err why;

	if (check_importable(ctx, p, &pod, e))
		return -1;
	auto_fd int lock = record_lock(ctx, &key, true, LOCK_MS, e);
	if (lock < 0)
		return -1;
	if (record_read(ctx, &key, &old, &why) == 0)
		return err_set(e, ERR_BUSY, 0, "it is an attachment of railhead already");
	auto_fd int vf_lock = vf_state_lock(ctx, p->vf, VF_STATE_LOCK_MS, e);
	return vf_lock < 0 || write_entry(ctx, p, &place, e) ||
			       peer_import_write_record(ctx, p, &pod, &place, e)
		       ? -1
		       : 0;
}

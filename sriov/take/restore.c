/* SPDX-License-Identifier: Apache-2.0 */
#include "sriov/take/restore.h"

#include <string.h>

#include "cni/protocol/devinfo.h"
#include "sriov/take/claim.h"
#include "sriov/take/peer.h"
#include "sriov/take/taken.h"

/* One that was imported, or attached anew: what the peer has on record of it is no longer so. */
static int forget_peer(const struct ctx *ctx, const struct record *r, const char *vf, struct err *e)
{
	auto_peer struct peer p = { .file = "" };
	struct err ignored;

	if (peer_find(ctx, r->key.container, r->key.ifname, &p, &ignored) || strcmp(p.vf, vf) != 0)
		return 0;
	return peer_forget(ctx, &p, e);
}

static int restore_vf(const struct ctx *ctx, const struct record *r, struct err *e)
{
	const char *vf = sriov_device_vf(r);
	const struct peer_owner owner = { r->key, r->netns };

	if (vf)
		return claim_release(ctx, vf, &r->key, r->netns_id, e) || forget_peer(ctx, r, vf, e)
			       ? -1
			       : 0;
	/* An ADD that was killed between the claim and its record, or the peer's. */
	return claim_release_all(ctx, &r->key, r->netns_id, e) || peer_release(ctx, &owner, e) ? -1
											       : 0;
}

int sriov_restore(const struct ctx *ctx, const struct record *r, struct err *e)
{
	const char *devinfo = sriov_device_info(r->device);

	if (restore_vf(ctx, r, e))
		return -1;
	return devinfo ? devinfo_remove(devinfo, e) : 0;
}

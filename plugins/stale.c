/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stale.c: walks the records of all plugins. The rdma plugin is the last one of a chain, and has
 * its records in a folder of its own.
 */
#include "plugins/stale.h"

#include "cni/uplink/demand.h"
#include "cni/engine/staged.h"
#include "plugins/rdma/restore.h"
#include "plugins/sriov/member.h"
#include "sriov/claim/claim.h"

const struct attach_restore_type stale_restorers[] = { { "sriov", sriov_restore },
						       { "ib-sriov", ib_restore },
						       { "rdma", rdma_restore_placed },
						       { "ipoib", staged_restore },
						       { 0 } };

struct walk {
	const struct ctx *place;
	stale_fn fn;
	void *arg;
	bool ended;
};

static int call_fn(const struct record *r, void *arg)
{
	struct walk *w = arg;

	w->ended = w->fn(w->place, r, w->arg) != 0;
	return w->ended;
}

int stale_each(const struct ctx *ctx, const char *network, stale_fn fn, void *arg, struct err *e)
{
	struct walk w = { .fn = fn, .arg = arg };
	struct record_place rdma;

	if (rdma_place(ctx, &rdma, e))
		return -1;
	const struct ctx *const places[] = { &rdma.ctx, ctx };
	for (size_t i = 0; i < ARRAY_SIZE(places) && !w.ended; i++) {
		w.place = places[i];
		if (record_each(w.place, network, call_fn, &w, e))
			return -1;
	}
	return 0;
}

int stale_links(const struct ctx *ctx, const char *network, link_fn chosen, void *arg,
		struct err *e)
{
	const struct staged_orphans which = { "ipoib", network, chosen, arg };

	return staged_sweep(ctx, &which, e);
}

void stale_tidy(const struct ctx *ctx)
{
	struct record_place rdma;
	struct err why;

	if (rdma_place(ctx, &rdma, &why) || record_tidy(&rdma.ctx, &why))
		log_warn(&ctx->log, "%s", why.msg);
	if (record_tidy(ctx, &why))
		log_warn(&ctx->log, "%s", why.msg);
}

void stale_masters(const struct ctx *ctx)
{
	struct err why;

	if (demand_sweep(ctx, &why))
		log_warn(&ctx->log, "%s", why.msg);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* restore.c: undoes one attachment of the rdma plugin from its record. */
#include "plugins/rdma/restore.h"

#include <string.h>

#include "cni/protocol/devinfo.h"
#include "lib/rdma/return.h"

#define FOLDER "/" RDMA_RECORDS

static int restore_taken(const struct ctx *ctx, const struct record *r, bool locked, struct err *e)
{
	const struct netns_on_record pod = record_netns(r);
	struct rdma_taken t;

	if (rdma_taken_read(r, &t, e))
		return -1;
	const struct rdma_away away = { t.bus, t.index, t.name, t.uverbs };
	if (t.moved && rdma_return(ctx, &pod, &away, locked, e))
		return -1;
	if (t.devinfo && *t.devinfo == '/')
		return devinfo_restore(t.devinfo, t.devinfo_was, e);
	return 0;
}

int rdma_restore_locked(const struct ctx *ctx, const struct record *r, struct err *e)
{
	return restore_taken(ctx, r, true, e);
}

int rdma_restore(const struct ctx *ctx, const struct record *r, struct err *e)
{
	return restore_taken(ctx, r, false, e);
}

int rdma_restore_placed(const struct ctx *ctx, const struct record *r, struct err *e)
{
	struct ctx own = *ctx;
	auto_free char *run_dir = strdup(ctx->run_dir);

	if (!run_dir)
		return err_nomem(e);
	run_dir[strlen(run_dir) - strlen(FOLDER)] = '\0';
	own.run_dir = run_dir;
	return rdma_restore(&own, r, e);
}

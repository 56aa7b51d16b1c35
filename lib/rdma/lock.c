/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c: one lock file for all RDMA devices of the node. */
#include "lib/rdma/lock.h"

#include "lib/sys/fs.h"
#include "lib/sys/lock.h"

#define LOCK_NAME "RDMA devices"

int rdma_lock(const struct ctx *ctx, int timeout_ms, struct err *e)
{
	auto_fd int dir = fs_open_dir(ctx->run_dir, true, e);

	return dir < 0 ? -1 : lock_name(dir, LOCK_NAME, true, timeout_ms, e);
}

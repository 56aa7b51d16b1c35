/* SPDX-License-Identifier: Apache-2.0 */
/* pool_step.h: the calls that change a pool once all nodes have reported it. */
#ifndef RAILHEAD_RAILHEADD_POOL_STEP_H
#define RAILHEAD_RAILHEADD_POOL_STEP_H

#include "railheadd/server.h"

struct driver;
struct nodes;

/*
 * Each call answers the request, or refuses it with ERR_BUSY while a node has not reported the
 * present definition without a reason to wait. The message names nodes and reasons. A node whose
 * heartbeat does not move counts, too: its pods may live.
 *
 * pool_step_open - {"opened": true}: an adopting pool is open; false: it was open already.
 * pool_step_close - {"closed": true}: a leaving pool is closed; false: it was closed already.
 * pool_step_remove - {"deleted": true}: the pool is deleted; only a closed one needs reports.
 */
struct pool_step_at {
	struct driver *driver;
	struct nodes *nodes;
	struct server_request *request;
	const char *pool;
};
void pool_step_open(const struct pool_step_at *at);
void pool_step_close(const struct pool_step_at *at);
void pool_step_remove(const struct pool_step_at *at);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* pool_open.h: the call that opens an adopting pool once all nodes have reported it. */
#ifndef RAILHEAD_RAILHEADD_POOL_OPEN_H
#define RAILHEAD_RAILHEADD_POOL_OPEN_H

#include "railheadd/server.h"

struct driver;
struct nodes;

/*
 * pool_open - answer {"opened": true}: an adopting pool is open; false: it was open already. Or
 * refuse the request with ERR_BUSY while a node has not reported the present definition without a
 * reason to wait. The message names nodes and reasons. A node whose heartbeat does not move counts,
 * too: its pods may live.
 */
struct pool_open_at {
	struct driver *driver;
	struct nodes *nodes;
	struct server_request *request;
	const char *pool;
};
void pool_open(const struct pool_open_at *at);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* pool_open.h: the call "pool-open": an adopting pool is opened once all nodes have reported it. */
#ifndef RAILHEAD_RAILHEADD_SERVE_POOL_OPEN_H
#define RAILHEAD_RAILHEADD_SERVE_POOL_OPEN_H

#include "railheadd/serve/server.h"

struct driver;
struct nodes;

/*
 * pool_open - answers the request with {"opened": true}, or false if the pool is open already.
 * Refuses it with ERR_BUSY while a node has not taken the pool over; the message names the nodes. A
 * node whose heartbeat does not move counts, too: its pods may live.
 */
void pool_open(struct driver *d, struct nodes *n, struct server_request *r, const char *pool);

#endif

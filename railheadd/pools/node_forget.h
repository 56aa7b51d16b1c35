/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_forget.h: an operator says that the machine of another node is off.
 *
 * The statement goes into the object of that node, with the version of its heartbeat. It is void
 * once the heartbeat is another one. railheadd --reclaim acts upon it.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_NODE_FORGET_H
#define RAILHEAD_RAILHEADD_POOLS_NODE_FORGET_H

#include "railheadd/pools/ask.h"

struct driver;

/*
 * node_forget_begin - look at the heartbeat for two of its periods, then write; no answer.
 * ERR_BUSY: the heartbeat moves, or it is this node. ERR_NOTFOUND: the cluster knows no such node.
 * ERR_AGAIN: the cluster store is away.
 */
struct ask *node_forget_begin(struct driver *d, const char *node, const struct ask_end *end,
			      struct err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflict.h: what this node and the cluster store do not agree on. These are blocks that are
 * contested or lost while pods of this node live in them, and shared pools that overlap an older
 * one. Nodes that have the number of this one belong to them, too.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_CONFLICT_H
#define RAILHEAD_RAILHEADD_POOLS_CONFLICT_H

#include "railheadd/pools/ask.h"

struct driver;

/*
 * conflict_ask_begin - all conflicts, with the owners that the cluster store names now:
 *	{"blocks": [as of admin_conflicts(), "owner", "holder"],
 *	 "pools": [{"name", "uid", "subnet", "older", "olderSubnet", "gives", "since"}],
 *	 "reserved": as of admin_reserved(),
 *	 "numbers": [{"number", "node", "since"}],
 *	 "unknown": why some blocks have no "owner"}
 * owner: the node that has the block; null: no node. Absent: not known. gives: which of the two
 * pools assigns addresses; null: neither. It looks at CONFLICT_LOOKS blocks at most. ERR_STORE.
 */
#define CONFLICT_LOOKS 64
struct ask *conflict_ask_begin(struct driver *d, const struct ask_end *end, struct err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* node.h: number and labels of this node, for railctl. */
#ifndef RAILHEAD_IPAM_ADMIN_NODE_H
#define RAILHEAD_IPAM_ADMIN_NODE_H

#include "ipam/lease/session.h"

/*
 * admin_node_set - write node.json, if living leases and pools with slices allow the number in it.
 * The labels in the file stay. ERR_BUSY, also with force: leases would be in the slice of
 * another node. Or a shared pool returns to slices, and the node has another number in it.
 * ERR_CONFIG: the number does not fit into a pool, and force is false.
 */
struct admin_node {
	const struct json *file; /* see ipam/conf/node_number.h */
	bool force;
	uint32_t number; /* output */
};
int admin_node_set(struct ipam *m, struct admin_node *n, struct err *e) must_check;

/*
 * admin_node_label - change labels in node.json, whose number stays. changes: an object of texts;
 * null: the label goes. Pods keep their addresses, also in pools that are not for this node any
 * more. ERR_CONFIG, ERR_DECODE: a name or a value is none.
 */
int admin_node_label(struct ipam *m, const struct json *changes, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* node_labels.h: the labels of this node, and which pools are for other nodes. */
#ifndef RAILHEAD_RAILHEADD_POOLS_NODE_LABELS_H
#define RAILHEAD_RAILHEADD_POOLS_NODE_LABELS_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

/* See ipam/conf/labels.h. All zero: not known yet. */
struct node_labels {
	struct json *cluster; /* of the Node in Kubernetes; owned; NULL: none is known */
	struct json *now;     /* owned; NULL: not known */
	char *text, *file;    /* the same, and node.json, to compare. Owned */
	bool has_number;      /* node.json has a number for this node, */
	uint32_t number;      /* this one */
	int64_t due;          /* CLOCK_BOOTTIME in ns, when they are read again */
	bool failed;          /* the last time they could not be read */
};

/*
 * node_labels_changed - read the labels of the node again if `now` is due. True: they or the file,
 * which also has the number of the node, differ from those before. The log has the labels of the
 * Node that the file overrides. If the file cannot be read, the log has the reason and the labels
 * stay. node_labels_clear - free them.
 */
bool node_labels_changed(struct node_labels *l, const struct ctx *ctx, const char *node,
			 int64_t now);

/*
 * node_labels_set - the labels of the Node in Kubernetes from now on; taken over; NULL: none. They
 * count from the next node_labels_changed(), which reads the file again.
 */
void node_labels_set(struct node_labels *l, struct json *cluster);
void node_labels_clear(struct node_labels *l);

/* node_labels_exclude - a pool with this definition is for other nodes. */
bool node_labels_exclude(const struct node_labels *l, const struct json *definition);

/*
 * node_labels_explain - set ERR_AGAIN: which nodes the pool is for. ERR_NOMEM. Returns -1.
 */
int node_labels_explain(const struct node_labels *l, const char *pool,
			const struct json *definition, struct err *e);

#endif

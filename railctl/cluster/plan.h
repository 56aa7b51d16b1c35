/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: what the files of `railctl cluster plan` share: the file, and the plan of the cluster. */
#ifndef RAILHEAD_RAILCTL_CLUSTER_PLAN_H
#define RAILHEAD_RAILCTL_CLUSTER_PLAN_H

#include "fabric/pin.h"
#include "ipam/conf/rail_plan.h"
#include "railctl/cluster/fabric.h"

/* The file: its texts and lists are those of the documents. */
struct plan_file {
	const char *supernet;
	uint32_t rails, nodes_per_group, addresses_per_node, block_size;
	const struct json *groups;      /* {"g0": ["gpu-0*", ...]}; NULL: the cables say it */
	const struct json *leave_alone; /* patterns of nodes; NULL: none */
};

struct plan {
	struct json *documents; /* owned: the file, and labels of nodes if the caller has them */
	struct plan_file file;
	struct cluster_cables cables;
	struct json *there; /* owned: the pools of the cluster, as the agent says */
	struct pin *pin;    /* owned: the nodes of the plan, by name */
	size_t n_pins;
	uint64_t groups;       /* from g0 on; with those that only have pools */
	struct rail_plan made; /* with groups > 0 */
	struct findings findings;
};

/*
 * plan_file_read - the documents of YAML at path, "-": standard input. ERR_DECODE, ERR_CONFIG and
 * ERR_FIELD name key and value.
 *
 * plan_file_group - the group that the file gives to a node; PIN_NONE: none. plan_file_leaves -
 * the file says to leave the node alone. plan_pattern_fits - an entry of their lists is for the
 * node.
 *
 * The second document says which nodes there are, and their labels: {"labels": {"gpu-1": "g0",
 * "gpu-2": ""}}. plan_labels - its object; NULL: there is no second document. plan_label_of - the
 * label of a node; NULL: none.
 */
#define PLAN_LABEL "railhead.io/group"
int plan_file_read(const char *path, struct plan *p, struct err *e) must_check;
uint32_t plan_file_group(const struct plan_file *f, const char *node);
bool plan_pattern_fits(const struct json *pattern, const char *node);
bool plan_file_leaves(const struct plan_file *f, const char *node);
const struct json *plan_labels(const struct plan *p);
const char *plan_label_of(const struct plan *p, const char *node);

/* plan_cables_of - the cables of a node; NULL: it does not listen. */
const struct fabric_node *plan_cables_of(const struct plan *p, const char *node);

/* plan_check - add what the plan cannot do, or leaves out, to its findings. ERR_NOMEM. */
int plan_check(struct plan *p, struct err *e) must_check;

/* plan_pool_find - the definition of a pool that the cluster has; NULL: it has none. */
const struct json *plan_pool_find(const struct plan *p, const char *name);

#endif

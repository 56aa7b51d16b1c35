/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.h: what the agents say about nodes and the cables of their rails. */
#ifndef RAILHEAD_RAILCTL_CLUSTER_FABRIC_H
#define RAILHEAD_RAILCTL_CLUSTER_FABRIC_H

#include "fabric/groups.h"
#include "fabric/ib_links.h"
#include "fabric/intent.h"
#include "railctl/cluster/cluster.h"

struct cluster_cables {
	struct json *nodes;       /* owned; of each agent: "name", and "rails" if it listens */
	struct ib_links links;    /* owned; of InfiniBand, by --ibnetdiscover */
	struct fabric_node *node; /* those that listen */
	struct fabric_port *port; /* both owned; their texts are those of nodes, links and names */
	struct json *names;       /* owned; of leaves whose name others have, too */
	size_t n, n_ports;
	struct fabric_groups groups;
	uint32_t *number; /* owned; of each group, as pin.h; NULL before cluster_cables_number() */
};

/*
 * cluster_cables_read - ask the agent for all nodes, and put those that listen into groups. The
 * option --ibnetdiscover says the leaves of InfiniBand ports. The errors of the agent, and of
 * ib_links_read(); ERR_DECODE: the agent repeats its answer; ERR_CONFIG: a node has too many
 * interfaces. cluster_cables_clear - free all that c owns.
 */
int cluster_cables_read(const struct cmd_run *r, struct cluster_cables *c,
			struct err *e) must_check;
void cluster_cables_clear(struct cluster_cables *c);
#define auto_cluster_cables auto_clean(cluster_cables_clear)

/* cluster_topology_read - the option --topology; *out stays as it is without it. */
int cluster_topology_read(const struct cmd_run *r, struct intent *out, struct err *e) must_check;

/* cluster_cables_check - the findings of fabric_check(), or with --topology those of
 * intent_check(). It is read behind --ibnetdiscover. */
int cluster_cables_check(const struct cmd_run *r, const struct cluster_cables *c,
			 struct findings *out, struct err *e) must_check;
#define CLUSTER_OPT_TOPOLOGY                                                                       \
	{                                                                                          \
		"topology", "FILE", "compare with this file of cables, not with the other nodes",  \
			0                                                                          \
	}

/* The option of commands that use it. */
#define CLUSTER_OPT_IBNETDISCOVER                                                                  \
	{                                                                                          \
		"ibnetdiscover", "FILE",                                                           \
			"what ibnetdiscover has printed: it says the leaves of InfiniBand ports",  \
			0                                                                          \
	}

/*
 * cluster_cables_number - set number; labels: {node: the name of its group until now}, may be NULL.
 * A group keeps the number that most of its nodes have by label. A new one gets a number that no
 * label and no pool of a plan has; pools: those of the agent. ERR_NOMEM, ERR_CONFIG.
 *
 * cluster_cables_name - the same, with the pools that the agent says. cluster_labels_read - the
 * option --labels; *out stays NULL without it. It must be read before --ibnetdiscover.
 */
int cluster_cables_number(struct cluster_cables *c, const struct json *labels,
			  const struct json *pools, struct err *e) must_check;
int cluster_cables_name(const struct cmd_run *r, struct cluster_cables *c,
			const struct json *labels, struct err *e) must_check;
int cluster_labels_read(const struct cmd_run *r, struct json **out, struct err *e) must_check;
#define CLUSTER_OPT_LABELS                                                                         \
	{                                                                                          \
		"labels", "FILE",                                                                  \
			"JSON: node: the name of its group until now; a group keeps its name", 0   \
	}

/* cluster_pool_group - the group of a pool of a plan, "rail3-g5"; PIN_NONE: it is another pool, or
 * is deleted. */
uint32_t cluster_pool_group(const struct json *pool);

/* cluster_is_about - a finding of fabric_check() is about that node: its subject is "NODE", or
 * "NODE rail 0 (eth1)". */
bool cluster_is_about(const struct finding *f, const char *node);

#endif

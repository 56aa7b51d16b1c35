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

/* The NICs of a node: their address on each rail has this offset in the subnet of the group. */
struct plan_host {
	const struct fabric_node *node; /* NULL: its agent does not listen */
	uint64_t number;                /* 0: none */
};

struct plan {
	struct json *documents; /* owned: the file, and labels of nodes if the caller has them */
	struct plan_file file;
	struct cluster_cables cables;
	struct json *there; /* owned: the pools of the cluster, as the agent says */
	struct pin *pin;    /* owned: the nodes of the plan, by name */
	size_t n_pins;
	struct plan_host *host; /* owned: of each pin */
	uint64_t groups;        /* from g0 on; with those that only have pools */
	struct rail_plan made;  /* with groups > 0 */
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
 * The second document says which nodes there are, their labels, and their annotations: {"labels":
 * {"gpu-1": "g0", "gpu-2": ""}, "hosts": {"gpu-1": "2"}}. plan_labels - the first object; NULL:
 * there is no second document. plan_label_of - the label of a node; NULL: none. plan_host_of - its
 * annotation, which counts only beside a label; NULL: none.
 */
#define PLAN_LABEL "railhead.io/group"
#define PLAN_HOST  "railhead.io/host"
int plan_file_read(const char *path, struct plan *p, struct err *e) must_check;
uint32_t plan_file_group(const struct plan_file *f, const char *node);
bool plan_pattern_fits(const struct json *pattern, const char *node);
bool plan_file_leaves(const struct plan_file *f, const char *node);
const struct json *plan_labels(const struct plan *p);
const char *plan_label_of(const struct plan *p, const char *node);
const char *plan_host_of(const struct plan *p, const char *node);

/* plan_cables_of - the cables of a node; NULL: it does not listen. */
const struct fabric_node *plan_cables_of(const struct plan *p, const char *node);

/*
 * plan_hosts - set host, and add what is wrong with it to the findings. A number that an annotation
 * pins stays, and so does an address that a node says. A node without gets the number of an address
 * that it says, or else the lowest that no node of its group has. But it gets none as long as a
 * node of its group has not said its addresses. ERR_NOMEM.
 *
 * plan_host_address - the address of a NIC; family IP_NONE: it has none. plan_next_address - the
 * next one of a list as in fabric_port; false: there is no more.
 */
int plan_hosts(struct plan *p, struct err *e) must_check;
struct ip plan_host_address(const struct plan *p, size_t pin, uint32_t rail);
bool plan_next_address(const char **list, struct ip_prefix *out);

/* plan_print_nics - the addresses of NICs as a file of netplan for each node, or files of networkd
 * for each rail. ERR_CONFIG: format is neither, or no node has this name; node NULL: all. */
int plan_print_nics(const struct cmd_run *r, const struct plan *p, struct err *e) must_check;

/* plan_check - add what the plan cannot do, or leaves out, to its findings. ERR_NOMEM. */
int plan_check(struct plan *p, struct err *e) must_check;

/* plan_add - one more finding. plan_add_node - one about a node. */
struct finding *plan_add(struct plan *p, const char *code, enum finding_state state);
struct finding *plan_add_node(struct plan *p, const char *code, enum finding_state state,
			      const struct pin *x);

/* plan_pool_find - the definition of a pool that the cluster has; NULL: it has none. */
const struct json *plan_pool_find(const struct plan *p, const char *name);

#endif

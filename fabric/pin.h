/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pin.h: the group of each node in the plan of a cluster. Pure.
 *
 * A group has a number that stays. The label of a node says it once a plan was applied; before that
 * a file says it, or the cables do. Cables that change later move no node: they are a finding.
 */
#ifndef RAILHEAD_FABRIC_PIN_H
#define RAILHEAD_FABRIC_PIN_H

#include "fabric/groups.h"

#define PIN_GROUPS_MAX 4096
#define PIN_NONE       UINT32_MAX

struct pin {
	const char *node; /* borrowed */
	uint32_t label;   /* the group that its label has; PIN_NONE: no label */
	uint32_t file;    /* the group that the file gives it; PIN_NONE: none */
	size_t cables;    /* as fabric_node.group */
	uint32_t group;   /* out: its group; PIN_NONE: nothing says it */
	uint32_t seen;    /* out: the group that its cables say; PIN_NONE: none */
};

/*
 * pin_groups - set group and seen of n nodes. A group of cables gets the number that most of its
 * nodes have by label or file, unless more nodes of another group have it. Without one it gets the
 * first one that is free.
 * used: PIN_GROUPS_MAX of them, those with pools; the groups of nodes are added. ERR_CONFIG: there
 * are more groups; ERR_NOMEM.
 */
int pin_groups(struct pin *pin, size_t n, bool *used, struct err *e) must_check;

/* pin_parse - the number of "g5"; PIN_NONE: it is not the name of a group. */
uint32_t pin_parse(const char *name);
/* pin_name - the name of a group. Returns out. */
#define PIN_NAME_LEN 12
const char *pin_name(uint32_t group, char out[PIN_NAME_LEN]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent.h: to which leaf and port each interface shall be cabled, by a person's file. Pure.
 *
 * The file is a table with commas, "NODE,INTERFACE,LEAF,PORT" a line, whose port may be absent. Or
 * it is a graph in DOT, as ptmd of Cumulus Linux reads it: "gpu-1":"eth1" -- "leaf-1":"swp1". Lines
 * that begin with # are comments. Or it is JSON, as NVIDIA Air exports a simulation:
 * {"content": {"links": [[{"node": "gpu-1", "interface": "eth1"}, {...}]]}}, or the topology file
 * of l8k, {"nodes": [...], "links": [...]}.
 */
#ifndef RAILHEAD_FABRIC_INTENT_H
#define RAILHEAD_FABRIC_INTENT_H

#include "fabric/groups.h"

#define INTENT_CABLES_MAX 262144
#define INTENT_TEXT_MAX   128 /* of a name, with NUL */

struct intent_cable {
	char node[INTENT_TEXT_MAX], interface[INTENT_TEXT_MAX];
	char leaf[INTENT_TEXT_MAX], port[INTENT_TEXT_MAX]; /* port "": any */
};

/* Both ends of a line of DOT, or of a link of JSON, are nodes of a cable: which one is the leaf is
 * not said. */
struct intent {
	struct intent_cable *cable; /* owned; by node and interface */
	size_t n;
};

/*
 * intent_read - ERR_DECODE, ERR_CONFIG: the line or link, and what is wrong with it; an interface
 * that has two cables; no cable at all. ERR_NOMEM. intent_clear - free all that t owns.
 */
int intent_read(const char *text, size_t len, struct intent *out, struct err *e) must_check;
void intent_clear(struct intent *t);
#define auto_intent auto_clean(intent_clear)

/*
 * intent_check - what is not cabled as the file says; codes as of fabric_check(), and "port". A
 * name without a dot is also that of a switch in a domain. ERR_NOMEM.
 */
int intent_check(const struct intent *t, const struct fabric_node *node, size_t n,
		 struct findings *out, struct err *e) must_check;

#endif

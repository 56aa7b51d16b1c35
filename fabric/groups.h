/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h: which nodes are cabled alike, and which cable is not where those of the others are.
 * Pure.
 *
 * A node has ports: the interfaces of its rails, or the members of their bonds. The place of a port
 * is its rail and its number among the members. Nodes of one group have the same leaf at the same
 * place. An unknown leaf never disagrees.
 */
#ifndef RAILHEAD_FABRIC_GROUPS_H
#define RAILHEAD_FABRIC_GROUPS_H

#include "lib/cli/finding.h"

#define FABRIC_NODES_MAX 16384
#define FABRIC_PORTS_MAX 64 /* of a node */
#define FABRIC_ALIKE     75 /* percent of the known leaves that nodes of a group share */
#define FABRIC_GROUP_MIN 3  /* nodes: fewer have no majority */
#define FABRIC_NO_GROUP  SIZE_MAX

/* Texts are borrowed. */
struct fabric_port {
	uint32_t rail, member;
	const char *interface;
	const char *bond;       /* that is the rail, of which interface is a member; "": none */
	const char *leaf;       /* its chassis; NULL: not known */
	const char *system;     /* the name of the leaf: two may have one; if leaf is known */
	const char *leaf_name;  /* the same for people: with the chassis, if others have the name */
	const char *port;       /* a port of that leaf; if leaf is known */
	const char *guid;       /* of an InfiniBand port; "": of Ethernet */
	uint32_t mbps, mtu;     /* 0: not known */
	const char *last_heard; /* its time, if LLDP of the leaf is silent for two TTLs, or NULL */
	bool contested;         /* another sender was heard, too */
	const char *addresses;  /* of the rail, as in RailNode; "": none, or not known */
	bool cut;               /* keys of it were left out */
	const char *by;         /* who else makes them: "dynamic", "routing"; "": nobody */
	/* As in RailNode; NULL: not known. hca has ":2" behind it for a second port. */
	const char *hca, *pci, *rdma, *gpus;
	const char *degraded; /* the checks of its agent that failed; "": none; NULL: not known */
};

struct fabric_node {
	const char *name;
	const struct fabric_port *port; /* borrowed; by rail and member */
	size_t n;
	size_t group; /* out: an index; FABRIC_NO_GROUP: undecided */
	size_t near; /* out: of an undecided node, the group whose leaves it has; or FABRIC_NO_GROUP
		      */
};

/* A place, and what most nodes of a group have there. */
struct fabric_place {
	uint32_t rail, member;
	const char *leaf, *system, *leaf_name; /* NULL: no node knows it */
	uint32_t mbps, mtu;                    /* 0: not known */
	size_t nodes;                          /* that have a port there */
};

struct fabric_group {
	size_t n; /* nodes */
	struct fabric_place place[FABRIC_PORTS_MAX];
	size_t n_places; /* by rail and member */
};

struct fabric_groups {
	struct fabric_group *group; /* owned; the largest first, then by their first node */
	size_t n;
};

/* fabric_groups_clear - free all that g owns. */
void fabric_groups_clear(struct fabric_groups *g);
#define auto_fabric_groups auto_clean(fabric_groups_clear)

/*
 * fabric_group - put n nodes, by name, into groups; sets group and near of each. ERR_CONFIG: there
 * are more than FABRIC_NODES_MAX; ERR_NOMEM.
 */
int fabric_group(struct fabric_node *node, size_t n, struct fabric_groups *out,
		 struct err *e) must_check;

/*
 * fabric_check - what is not as in the group of each node. The check is "fabric"; the codes are
 * those of railctl(8), cluster fabric. ERR_NOMEM.
 */
int fabric_check(const struct fabric_node *node, size_t n, const struct fabric_groups *g,
		 struct findings *out, struct err *e) must_check;

/* fabric_say_unheard - the reason and the remedy of a finding about x, whose leaf is not known. */
void fabric_say_unheard(struct finding *f, const struct fabric_port *x);

#endif

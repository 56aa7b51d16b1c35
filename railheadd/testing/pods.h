/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods.h: pods that come up on many nodes: an ADD of railhead-ipam for each rail, one after the
 * other, as Multus calls them.
 *
 * An ADD that finds no address asks the node agent with driver_need(), as the program does through
 * the socket. An ADD that fails is repeated after a second, as runtimes do. For test programs only.
 */
#ifndef RAILHEAD_RAILHEADD_TESTING_PODS_H
#define RAILHEAD_RAILHEADD_TESTING_PODS_H

#include "railheadd/testing/nodes.h"

struct pods_conf {
	struct nodes *nodes;
	uint32_t each; /* pods of a node, all at once */
	uint32_t rails;
};

struct pod;

struct pods {
	struct pods_conf conf;
	struct pod *items;
	size_t n, done;
	size_t addresses; /* that ADDs returned */
	size_t failures;  /* ADDs that failed and were repeated */
	size_t waits;     /* for the agent */
	int64_t *took;    /* of each ADD with its repetitions, ns */
	struct err last;  /* of the last failure */
};

/* pods_begin - all pods of all nodes, from the loop. pods_end - free what is kept. */
void pods_begin(struct pods *all, const struct pods_conf *conf);
void pods_end(struct pods *all);

/* pods_took - the time below which that share of ADDs was, ns; share: 0 to 1. Sorts. */
int64_t pods_took(struct pods *all, double share);

#endif

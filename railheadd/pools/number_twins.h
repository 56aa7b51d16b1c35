/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_twins.h: which other nodes have the number of this node, so that the slices of both are
 * the same addresses.
 *
 * A node writes its number into its object first, and lists the objects of all nodes afterwards. So
 * of two nodes with one number at least one sees the other at once. The other one sees it at its
 * next list. The object of a node that an operator gave up has no number.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_NUMBER_TWINS_H
#define RAILHEAD_RAILHEADD_POOLS_NUMBER_TWINS_H

#include "cluster/store/cluster_store.h"
#include "ipam/block/object.h"
#include "lib/base/ctx.h"
#include "lib/json/json.h"

struct event_base;
struct number_twins;

/* More nodes than these are not named. */
#define NUMBER_TWINS_MAX 8

struct number_twin {
	char node[NODE_NAME_LEN];
	int64_t since; /* when this agent saw it first: ns since 1970 */
};

/*
 * All borrowed. soon: ns between two lists after a failure, or while there is a twin. random: 64
 * random bits, for pauses; its argument is NULL.
 */
struct number_twins_conf {
	const struct ctx *ctx;
	struct event_base *base;
	struct cluster_store *store;
	const char *node; /* this one */
	int64_t soon;
	uint64_t (*random)(void *arg);
};

/* number_twins_new - ERR_NOMEM. number_twins_free - before the store is closed. NULL is fine. */
int number_twins_new(const struct number_twins_conf *conf, struct number_twins **out,
		     struct err *e) must_check;
void number_twins_free(struct number_twins *t);

/*
 * number_twins_written - the cluster store has this number in the object of this node; -1: none.
 * Another number than before is looked for at once. Without a change the nodes are listed about
 * each hour, and more often while there is a twin or after a failure. Each twin that comes or goes
 * is a line of the log.
 */
void number_twins_written(struct number_twins *t, int64_t number);

/*
 * number_twins_list - those of the last list, in the order of names. *number: of this node. Returns
 * how many; *twins: borrowed until the next event of the loop.
 */
size_t number_twins_list(const struct number_twins *t, const struct number_twin **twins,
			 int64_t *number);

/*
 * node_number_put - "number" of the value of a node; -1: it has none. Returns -1: no memory.
 * node_number_of - the same from the value; -1: none, or not a number of a node.
 */
int node_number_put(struct json *value, int64_t number) must_check;
int64_t node_number_of(const struct json *value);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h: many nodes in one process: each has a driver, a connection to etcd and a store of its
 * own.
 *
 * For test programs only. A call that fails ends the program: half a cluster says nothing.
 */
#ifndef RAILHEAD_RAILHEADD_TESTING_NODES_H
#define RAILHEAD_RAILHEADD_TESTING_NODES_H

#include "ipam/lease/session.h"
#include "railheadd/pools/driver.h"

#define NODES_RAILS_MAX 16

struct node {
	struct ctx ctx;
	char name[32];
	char run_dir[256], state_dir[256];
	struct ipam ipam;
	struct driver *driver;
	char lacking[64]; /* by the last ADD: the pool that needs blocks; "": none did */
};

/* Where the nodes are, and what the agent of each has in agent.json. */
struct nodes_conf {
	struct event_base *base;
	const char *url;    /* of etcd; or the path of a kubeconfig */
	const char *folder; /* exists; gets NODE/run and NODE/lib */
	uint32_t n;
	uint32_t rails;      /* a node is ready when it knows so many pools */
	int64_t renew, hold; /* ns */
};

struct nodes {
	struct nodes_conf conf;
	struct node *items;
	uint32_t ready; /* all nodes before this one are */
};

/* nodes_begin - all at once. nodes_end - as SIGTERM ends an agent. */
void nodes_begin(struct nodes *all, const struct nodes_conf *conf);
void nodes_end(struct nodes *all);

/* nodes_are_ready - each node knows all pools and has renewed its heartbeat. */
bool nodes_are_ready(struct nodes *all);

/* nodes_open_store - a connection of its own to etcd or to an API server. */
struct cluster_store *nodes_open_store(struct event_base *base, const char *url);

/* nodes_fail - print the error and end the program. */
_Noreturn void nodes_fail(const char *what, const struct err *e);

#endif

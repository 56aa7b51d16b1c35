/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserved.h: follows the objects that reserve addresses for the whole cluster: RailReserved
 * "cluster" of people, with etcd the key reserved/cluster, and one of each node that has addresses
 * of pools on its interfaces.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_RESERVED_H
#define RAILHEAD_RAILHEADD_POOLS_RESERVED_H

#include "railheadd/pools/driver.h"

#define RESERVED_LOOK_MS 5000

struct reserved;

/* All borrowed. The driver has the same store, and its pools wait for this part. */
struct reserved_conf {
	const struct ctx *ctx;
	struct event_base *base;
	struct cluster_store *store;
	struct ipam *ipam;
	struct driver *driver;
	const char *node; /* this one */
	int64_t look_ms;  /* between looks at its addresses, and up to as much again */
};

/*
 * reserved_new - follow the object from now on: it goes to driver_reserved(). If there is none,
 * nothing is reserved. If it cannot be read, the last one counts, and the log says so; without a
 * last one the pools of the driver wait. If the cluster store does not have the kind of object,
 * what the pools of the node have counts. ERR_NOMEM. reserved_free - before the driver. NULL is
 * fine.
 */
int reserved_new(const struct reserved_conf *conf, struct reserved **out, struct err *e) must_check;
void reserved_free(struct reserved *r);

/* reserved_status - add "reserved": {"known", "ranges": a number, "why": why not, or not now}. */
int reserved_status(const struct reserved *r, struct json *obj, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_ranges.h: the addresses that this node has on its interfaces, as far as shared pools would
 * assign them. The cluster learns of them by an object, and every other agent with it.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_OWN_RANGES_H
#define RAILHEAD_RAILHEADD_POOLS_OWN_RANGES_H

#include "ipam/conf/ranges.h"
#include "railheadd/pools/driver.h"

struct cluster_object;
struct cluster_store;
struct event_base;
struct own_ranges;

/* All borrowed. changed: from the loop, other addresses than before. */
struct own_ranges_conf {
	const struct ctx *ctx;
	struct event_base *base;
	struct cluster_store *store;
	struct driver *driver;
	const char *node; /* this one */
	int64_t look_ms;  /* see struct reserved_conf */
	void (*changed)(void *arg);
	void *arg;
};

/*
 * own_ranges_new - look now and then; ERR_NOMEM. The object is written once own_ranges_seen() says
 * what the cluster has. Until the next write there is a pause, which grows while others change the
 * object or the write fails. own_ranges_free - before the store is closed. NULL is fine.
 */
int own_ranges_new(const struct own_ranges_conf *conf, struct own_ranges **out,
		   struct err *e) must_check;
void own_ranges_free(struct own_ranges *o);

/* own_ranges_seen - the object of this node in the cluster; NULL: there is none. */
void own_ranges_seen(struct own_ranges *o, const struct cluster_object *there);

/* own_ranges_list - borrowed until the next event. */
const struct ranges *own_ranges_list(const struct own_ranges *o);

#endif

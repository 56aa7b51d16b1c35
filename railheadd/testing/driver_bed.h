/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_bed.h: one driver on a cluster store in memory, and its calls in one line. For test
 * programs only.
 */
#ifndef RAILHEAD_RAILHEADD_TESTING_DRIVER_BED_H
#define RAILHEAD_RAILHEADD_TESTING_DRIVER_BED_H

#include <event2/event.h>

#include "cluster/testing/loop.h"
#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"
#include "railheadd/pools/driver.h"
#include "railheadd/testing/memory_store.h"

static struct fixture w;

struct bed {
	struct event_base *base;
	struct memory_store *store;
	struct driver *driver;
};

static struct bed b;

static inline bool has_health(const void *arg)
{
	auto_json struct json *status = json_new_object();
	struct err e;

	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	return strcmp(json_str(json_get(status, "health")), arg) == 0;
}

static inline bool knows_pool(const void *arg)
{
	auto_json struct json *status = json_new_object();
	struct err e;

	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	json_each (p, json_get(status, "pools")) {
		if (strcmp(json_str(json_get(p, "name")), arg) == 0)
			return true;
	}
	return false;
}

static inline bool follows_both(const void *arg)
{
	struct memory_counts counts = memory_store_counts(b.store);

	(void)arg;
	return counts.running == 2 && counts.watches >= 2;
}

static inline void begin(void)
{
	fixture_open(&w);
	b = (struct bed){ .base = loop_new() };
	b.store = memory_store_new(b.base);
}

/* store NULL: none. */
static inline void begin_driver_on(struct cluster_store *store)
{
	const struct driver_conf conf = { .ctx = &w.ctx,
					  .base = b.base,
					  .store = store,
					  .ipam = &w.m,
					  .node = "n1",
					  .hold = 600 * SECOND,
					  .renew = 60 * SECOND,
					  .retry = SECOND / 100 };
	struct err e;

	ck_assert_msg(driver_new(&conf, &b.driver, &e) == 0, "%s", e.msg);
}

static inline void begin_driver(void)
{
	begin_driver_on(memory_store_ops(b.store));
}

static inline void ready(void)
{
	loop_until(b.base, has_health, "ok");
	loop_until(b.base, follows_both, NULL);
}

static inline void end(void)
{
	loop_until(b.base, follows_both, NULL);
	driver_free(b.driver);
	loop_free(b.base);
	fixture_close(&w);
}

static inline void pool(const char *name, const char *value)
{
	memory_store_put(b.store, CLUSTER_POOL, name, "", value);
}

#define ONE   "{\"subnet\":\"10.1.0.0/24\",\"ranges\":[\"10.1.0.5\"],\"blockSize\":1,\"warm\":0}"
#define RAIL  "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"warm\":1,\"cooldown\":0}"
#define OTHER "{\"subnet\":\"10.2.0.0/24\",\"blockSize\":8,\"warm\":1,\"cooldown\":0}"

/* Whether the object of the node has this text. */
static inline bool node_says(const void *arg)
{
	auto_free char *text = memory_store_text(b.store, CLUSTER_NODE, "n1");

	return text && strstr(text, arg) != NULL;
}

static inline bool has_subnet(const void *arg)
{
	auto_json struct json *list = NULL;
	auto_free char *text = NULL;
	struct err e;

	ck_assert_int_eq(shared_pool_list(&w.m, &list, &e), 0);
	text = json_print(list, false);
	return strstr(text, arg) != NULL;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_engine.h: stores of a real etcd. ETCD_ENDPOINT, ETCD_CA, ETCD_CERT, ETCD_KEY (files),
 * ETCD_USER, ETCD_PASSWORD say where it is and who we are; see conformance/cluster-store/. For test
 * programs only.
 */
#ifndef RAILHEAD_CLUSTER_TESTING_ETCD_ENGINE_H
#define RAILHEAD_CLUSTER_TESTING_ETCD_ENGINE_H

#include <fcntl.h>
#include <stdio.h>

#include "cluster/etcd/etcd.h"
#include "cluster/testing/contract.h"
#include "cluster/testing/loop.h"
#include "lib/sys/fs.h"
#include "lib/testing/testing.h"

static char *ca, *cert, *key; /* NULL: none */

/* The text of the file that a variable names; NULL: not set. */
static inline char *file_of(const char *variable)
{
	const char *path = getenv(variable);
	char *text = NULL;
	struct err e;

	if (path && *path && fs_read_at(AT_FDCWD, path, 65536, &text, &e) < 0)
		(void)fprintf(stderr, "%s: %s\n", variable, e.msg);
	return text;
}

static inline const char *text_of(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text ? text : NULL;
}

/* conf_of - with the rights of the agent. */
static inline struct etcd_conf conf_of(const char *const *endpoints, unsigned timeout_ms)
{
	return (struct etcd_conf){ .endpoints = endpoints,
				   .prefix = "/contract/",
				   .tls = { ca, cert, key },
				   .user = text_of("ETCD_USER"),
				   .password = text_of("ETCD_PASSWORD"),
				   .timeout_ms = timeout_ms };
}

/* open_etcd - for struct contract_engine. */
static inline int open_etcd(struct event_base *base, unsigned timeout_ms,
			    struct cluster_store **out, struct err *e)
{
	const char *const endpoints[] = { getenv("ETCD_ENDPOINT"), NULL };
	struct etcd_conf conf = conf_of(endpoints, timeout_ms);

	return etcd_open(base, &conf, out, e);
}

/* A store of this configuration instead of the usual one. */
static inline struct calls open_with(const struct etcd_conf *conf)
{
	struct calls c = engine_open();
	struct err e;

	c.store->ops->close(c.store);
	ck_assert_int_eq(etcd_open(c.base, conf, &c.store, &e), 0);
	return c;
}

/* etcd_read_files - once, before the tests run. */
static inline void etcd_read_files(void)
{
	ca = file_of("ETCD_CA");
	cert = file_of("ETCD_CERT");
	key = file_of("ETCD_KEY");
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* pools_priv.h: shared by the readers of pools only. */
#ifndef RAILHEAD_IPAM_PEERS_POOLS_PRIV_H
#define RAILHEAD_IPAM_PEERS_POOLS_PRIV_H

#include "ipam/peers/pools.h"
#include "lib/base/ip.h"

/* The object that is being read. */
struct peer {
	struct peer_pools *all;
	char label[160];         /* "SpiderIPPool rail0" */
	const char *name;        /* of the object. Borrowed */
	const struct json *spec; /* borrowed */
	struct err *e;
};

/* A key, and whether pools have it. */
struct peer_key {
	const char *key; /* NULL ends a table */
	const char *why; /* it is not carried over; NULL: it is */
};

/* peer_note - "OBJECT: KEY: WHY". peer_notes - one for each key of the object o that needs it. */
int peer_note(const struct peer *p, const char *key, const char *fmt, ...) printf_like(3, 4);
int peer_notes(const struct peer *p, const struct json *o, const struct peer_key *keys) must_check;

/* peer_is_empty - the value says nothing. peer_text - a text member; "" if it is none. */
bool peer_is_empty(const struct json *n);
const char *peer_text(const struct json *o, const char *key);

/*
 * peer_pool - *out is a new pool with name, subnet and blockSize. It is NULL, with a note, if the
 * subnet is not one. block: 0 for the usual size. name: any text; if it had to change there is a
 * note.
 */
struct peer_pool {
	const char *name, *subnet;
	uint64_t block;
};
int peer_pool(const struct peer *p, const struct peer_pool *from, struct json **out) must_check;

/* peer_list - add the texts of `from` to the array `key` of a pool, which is made if need be. */
int peer_list(const struct peer *p, struct json *pool, const char *key,
	      const struct json *from) must_check;

/*
 * peer_mask - add a range to the array `key` of a pool, as far as its subnet has it. Returns 1 if
 * the subnet has nothing of it.
 */
int peer_mask(const struct peer *p, struct json *pool, const char *key,
	      struct ip_range r) must_check;

/* peer_gateway - set the gateway of a pool; a note if it is not in the subnet. "": nothing. */
int peer_gateway(const struct peer *p, struct json *pool, const char *gateway) must_check;

/* peer_route - add a route; gw "": through the gateway of the pool. */
int peer_route(const struct peer *p, struct json *pool, const char *dst, const char *gw) must_check;

/* The readers of each project's objects. */
int peer_spider_pool(const struct peer *p) must_check;
int peer_spider_nodes(const struct peer *p, struct json *pool) must_check; /* adds "nodes" */
/* node: the name of the only one; NULL: those of nodeSelector. */
int peer_nv_nodes(const struct peer *p, const struct json *node, struct json *pool) must_check;
int peer_spider_subnet(const struct peer *p) must_check;
int peer_spider_reserved(const struct peer *p) must_check;
int peer_nv_pool(const struct peer *p, const struct json *status) must_check;
int peer_nv_cidr_pool(const struct peer *p, const struct json *status) must_check;
int peer_whereabouts_pool(const struct peer *p) must_check;
int peer_netconf(const struct peer *p) must_check; /* p->spec is the configuration */

#endif

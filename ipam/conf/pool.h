/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h: the definition of a named pool, which is JSON text in the store. Pure. */
#ifndef RAILHEAD_IPAM_CONF_POOL_H
#define RAILHEAD_IPAM_CONF_POOL_H

#include "ipam/conf/source.h"

/*
 * The keys, see railhead-pool(5):
 *
 * - subnet: required; host bits must be zero
 * - ranges: "10.1.1.0-10.1.1.99", "10.1.2.0/24" (without its first and last address), "10.1.3.7";
 *   default: the whole subnet
 * - thisNodeOnly: no other node assigns addresses of the subnet
 * - slice: {"prefix": 28} or {"size": 16}: each node has its part, see ipam/conf/pool_slice.h
 * - blockSize, warm, idle, fence: nodes own blocks of it, see ipam/conf/pool_blocks.h
 * - excludes: as ranges, but all addresses of a network
 * - reserved: as excludes, but addresses of other networks have no effect
 * - nodes: {"leaf": "g3"}: only nodes with these labels assign addresses, see ipam/conf/labels.h
 * - gateway: in the subnet; never assigned
 * - routes: as in a CNI result
 * - sticky, cooldown, strictCooldown, namespaces
 * - fixedNamespaces: as namespaces, for pods that request a certain address
 * - quota: 10, or {"*": 10, "team-a": 2}
 */

/*
 * pool_name_valid - ERR_CONFIG unless name has the characters of a network name, and at most
 * KEY_NAME_MAX bytes.
 */
int pool_name_valid(const char *name, struct err *e) must_check;

/*
 * pool_decode - make the source of pool `name` from its definition. It has the addresses of the
 * whole pool; pool_slice_cut() makes a node's part of it. *out borrows from def; the caller clears
 * it. ERR_DECODE, ERR_CONFIG: the message begins with "pool NAME: ", and has key and
 * value.
 */
int pool_decode(const char *name, const struct json *def, struct source *out,
		struct err *e) must_check;

/*
 * pool_record - the text of a definition for the store; NULL: no memory. A definition with slices
 * or blocks is wrapped in an object. A plugin of a version without them finds no subnet there and
 * refuses the pool, instead of assigning addresses of all nodes. pool_record_shared - the same for
 * a pool with blocks, with its uid and generation in the cluster, and the addresses that are
 * reserved there. pool_parse - the reverse: all but the tree belong to *tree, which the caller
 * frees. ERR_DECODE; `what` names the text.
 */
struct pool_text {
	struct json *tree;
	const struct json *def;
	const char *uid;    /* of a pool with blocks, in the cluster; NULL: of this node only */
	int64_t generation; /* of the definition, in the cluster */
	/* Addresses of the subnet that no pool of the cluster assigns, as an array of ranges; NULL:
	 * none. */
	const struct json *reserved;
};
char *pool_record(const struct json *def);
char *pool_record_shared(const struct pool_text *t);
void pool_text_clear(struct pool_text *t);
#define auto_pool_text auto_clean(pool_text_clear)
int pool_parse(const char *text, const char *what, struct pool_text *out, struct err *e) must_check;

/*
 * pool_text_decode - pool_decode() of a record: *out has the uid, and not the addresses that are
 * reserved in the cluster. pool_reserve - remove such addresses from *s, which may have no usable
 * address then. ERR_DECODE, ERR_CONFIG: as above.
 */
int pool_text_decode(const char *name, const struct pool_text *t, struct source *out,
		     struct err *e) must_check;
int pool_reserve(struct source *s, const struct json *reserved, struct err *e) must_check;

/* pool_check_keys - ERR_CONFIG if def has an unknown key. For definitions from a user. */
int pool_check_keys(const struct json *def, struct err *e) must_check;
/* pool_check_routes - check a list of routes. before: of its key in errors, "ipam." or "". */
int pool_check_routes(const struct json *routes, const char *before, struct err *e) must_check;

/*
 * pool_is_restricted - ERR_CONFIG if a pool has the whole subnet, and neither slices nor
 * "thisNodeOnly". Only for new pools: pools of earlier versions stay valid.
 */
int pool_is_restricted(const char *name, const struct json *def, struct err *e) must_check;

/*
 * pool_load - pool_parse() and pool_decode() of a record: *out borrows from *text. Both are the
 * caller's to clear. Errors of both.
 */
int pool_load(const char *name, const char *record, struct pool_text *text, struct source *out,
	      struct err *e) must_check;

/* pool_missing - set ERR_NOTFOUND for a pool; the message names the node. Returns -1. */
int pool_missing(const char *name, const char *node, struct err *e);

/*
 * policy_decode - sticky, cooldown and strictCooldown of a pool or an ipam section; `where` names
 * it. Sets all of *out. ERR_DECODE, ERR_CONFIG.
 */
int policy_decode(const struct json *n, const char *where, struct policy *out,
		  struct err *e) must_check;

#endif

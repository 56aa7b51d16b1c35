/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h: the definition of a named pool: JSON text in the store, a source for the allocator. Pure.
 */
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
 * - excludes: as ranges, but all addresses of a network
 * - gateway: in the subnet; never assigned
 * - routes: as in a CNI result
 * - sticky, cooldown, strictCooldown, namespaces
 * - quota: 10, or {"*": 10, "team-a": 2}
 */

/* pool_name_valid - the characters of a network name, at most KEY_NAME_MAX bytes. ERR_CONFIG. */
int pool_name_valid(const char *name, struct err *e) must_check;

/*
 * pool_decode - make the source of pool `name` from def, which must live longer than it. Errors
 * name "pool NAME: key" and value: ERR_DECODE, ERR_CONFIG.
 */
int pool_decode(const char *name, const struct json *def, struct source *out,
		struct err *e) must_check;

/* pool_check_keys - refuse keys that a pool does not have: ERR_CONFIG. For definitions typed by
 * people. */
int pool_check_keys(const struct json *def, struct err *e) must_check;

/*
 * pool_is_restricted - refuse a pool of the whole subnet that does not say "thisNodeOnly":
 * ERR_CONFIG. For new pools only; those of earlier versions go on.
 */
int pool_is_restricted(const char *name, const struct json *def, struct err *e) must_check;

/* pool_missing - ERR_NOTFOUND, naming the node: it is on another one, as a rule. Returns -1. */
int pool_missing(const char *name, const char *node, struct err *e);

/* policy_decode - sticky, cooldown and strictCooldown of a pool or an ipam section; sets all of
 * *out. */
int policy_decode(const struct json *n, const char *where, struct policy *out,
		  struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_name.h: names of objects and nodes, which are the same in each store. Pure.
 */
#ifndef RAILHEAD_CLUSTER_STORE_CLUSTER_NAME_H
#define RAILHEAD_CLUSTER_STORE_CLUSTER_NAME_H

#include "cluster/store/cluster_store.h"

/*
 * cluster_name_valid - a DNS subdomain, as far as keys and addresses need it: small letters,
 * digits, '-' and '.', which are not at the ends. cluster_name_part - what such a name may begin
 * with, also "".
 */
bool cluster_name_valid(const char *name);
bool cluster_name_part(const char *text);

/*
 * cluster_prefix_pool - the pool that a prefix of blocks is of, see struct cluster_selector. false:
 * it is of no single pool.
 */
bool cluster_prefix_pool(const char *prefix, char pool[CLUSTER_NAME_LEN]);

/*
 * cluster_selector_valid - the prefix is part of a name and the node is one. If not, *bad is the
 * wrong text.
 */
bool cluster_selector_valid(const struct cluster_selector *which, const char **bad);

#endif

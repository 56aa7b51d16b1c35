/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_plan.h: an addressing plan for the rails of a GPU cluster. Pure.
 *
 * The fabric is rail-optimised: NIC r of each node is on rail r, and connects to leaf switch r of
 * the node's leaf group. A rail is one prefix, and each leaf group has a subnet of it, because a
 * leaf switch routes. Offsets in a subnet:
 *
 *	0             the network itself
 *	1             gateway: the leaf switch
 *	2             own addresses of the NICs, one for each node of the leaf group
 *	first_pod     addresses of pods, in whole blocks, up to the last whole block
 *
 * One pool is one subnet. All pools of a plan have blocks, so nodes share them. A pool is for the
 * nodes with the label of its leaf group, whose values are g0, g1 and so on.
 */
#ifndef RAILHEAD_IPAM_CONF_RAIL_PLAN_H
#define RAILHEAD_IPAM_CONF_RAIL_PLAN_H

#include "lib/base/err.h"
#include "lib/base/ip.h"
#include "lib/json/json.h"

#define RAIL_PLAN_COUNT_MAX    64
#define RAIL_PLAN_NODES_MAX    65536
#define RAIL_PLAN_PER_NODE_MAX 65536
#define RAIL_PLAN_POOLS_MAX    1024 /* the node agent knows so many pools */
#define RAIL_PLAN_LEAF         32   /* half of the ports of a leaf switch with 64 */
#define RAIL_PLAN_PER_NODE     16

struct rail_ask {
	uint64_t count;    /* rails, 1 to RAIL_PLAN_COUNT_MAX */
	uint64_t nodes;    /* 1 to RAIL_PLAN_NODES_MAX */
	uint64_t leaf;     /* nodes of a leaf group; 0: RAIL_PLAN_LEAF */
	uint64_t per_node; /* addresses for pods, of a node on a rail; 0: RAIL_PLAN_PER_NODE */
	uint64_t block;    /* addresses of a block; 0: half of per_node, as a power of two */
	const char *label; /* the name of that label, borrowed */
	struct ip_prefix supernet;
};

struct rail_plan {
	struct rail_ask ask;    /* without zeroes */
	uint64_t groups;        /* leaf groups of a rail */
	uint64_t blocks;        /* that the nodes of a full leaf group need */
	unsigned rail_len;      /* prefix length of a rail */
	unsigned subnet_len;    /* prefix length of a leaf group's subnet */
	u128 first_pod, n_pods; /* of a subnet: offset and number of addresses for pods */
};

struct rail_leaf {
	struct ip_prefix subnet;
	struct ip gateway;
	struct ip_range hosts, pods;
	uint64_t first_node, n_nodes; /* nodes count from 0 in the order of leaf groups */
};

/*
 * rail_plan_make - ERR_CONFIG: a number is out of bounds, there would be too many pools, or the
 * supernet is too small. The hint then has a supernet that fits.
 */
int rail_plan_make(const struct rail_ask *ask, struct rail_plan *out, struct err *e) must_check;

/* rail_plan_rail - the prefix of a rail. rail_plan_leaf - a leaf group of it. Both below counts. */
struct ip_prefix rail_plan_rail(const struct rail_plan *p, uint64_t rail);
struct rail_leaf rail_plan_leaf(const struct rail_plan *p, uint64_t rail, uint64_t group);

#define RAIL_PLAN_NAME_LEN 31 /* of the name of a pool: "rail3-g0" */

/*
 * rail_plan_pools - the pools of a rail: an array that `pool apply` accepts. The caller frees it;
 * NULL: no memory.
 *
 * Each pool has two routes through its gateway: to its rail, and with a higher metric to the
 * supernet. So a pod with all rails sends to a rail through its own interface of that rail. A pod
 * with one rail reaches the others through its leaf switch.
 */
struct json *rail_plan_pools(const struct rail_plan *p, uint64_t rail);

/* rail_plan_add_routes - add "routes" of a leaf group to obj, as its pool has them. -1: no
 * memory. */
int rail_plan_add_routes(const struct rail_plan *p, uint64_t rail, uint64_t group,
			 struct json *obj) must_check;

#endif

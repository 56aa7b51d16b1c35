/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostveth.h: a veth pair between a pod and its node.
 *
 * Neither end learns neighbours: each knows the MAC address of the other one by a permanent entry
 * for a link-local gateway, so that arp_ignore does not matter. The pod's end has no address, so
 * that no program takes it for a rail. The node has a route for each address of the rails that ask.
 * The pod has a table with the ranges of the configuration and the addresses of the node. Packets
 * of the rails that ask look there first, before the tables of the rails. Those of another
 * interface of the pod keep their way. The node's end drops packets from others than these rails.
 * All that the node gets is the pair: it ends with it.
 */
#ifndef RAILHEAD_CNI_HOSTVETH_HOSTVETH_H
#define RAILHEAD_CNI_HOSTVETH_HOSTVETH_H

#include "cni/routing/routing.h"
#include "lib/base/log.h"
#include "lib/base/parse.h"
#include "lib/net/addr.h"
#include "lib/net/link.h"

#define HOSTVETH_POD        "veth0"
#define HOSTVETH_PRIORITY   990 /* of the pod's rules: before those of the rails */
#define HOSTVETH_TABLE      (ROUTING_TABLE_FIRST + ROUTING_TABLES) /* behind those of the rails */
#define HOSTVETH_ROUTES_MAX 32

/* ---- pure ---- */

/* The key "host". */
struct hostveth_conf {
	bool veth;
	struct ip_prefix route[HOSTVETH_ROUTES_MAX]; /* services, other nodes: by the node */
	size_t n_routes;
};

/* hostveth_read_conf - ERR_CONFIG and ERR_DECODE name the key and the value. */
int hostveth_read_conf(const struct json *config, struct hostveth_conf *out,
		       struct err *e) must_check;

/* What tells the pair of a container from all others: both MAC addresses; the name is free to
 * have another owner, then the next attempt has another one. */
struct hostveth_id {
	char name[IFNAME_LEN]; /* of the node's end */
	struct hw_addr node_mac, pod_mac;
};
struct hostveth_id hostveth_id(const char *container, unsigned attempt);

/* One attachment in the pair. */
struct hostveth_place {
	int node_ifindex, pod_ifindex; /* of the ends */
	uint32_t metric; /* of its routes in the pod: the number of its first interface */
};

/*
 * hostveth_plan - the routes on the node and in the pod for the addresses r; node[n]: addresses of
 * the node which the pod cannot reach by its rail. A range of a family that r lacks is left out.
 * Smaller networks of r inside a range are left out, too: those of addresses and of routes.
 * -1: no memory. The caller clears both plans, also after an error.
 */
struct hostveth_plans {
	struct routing_plan node, pod;
};
struct hostveth_node {
	struct ip *addr; /* owned */
	size_t n;
};
int hostveth_plan(const struct hostveth_conf *c, const struct cni_result *r,
		  const struct hostveth_node *node, const struct hostveth_place *at,
		  struct hostveth_plans *out) must_check;
/* hostveth_counts - whether the pod needs a route to this address of the node: not to one that the
 * kernel gave, nor to a duplicate, which another machine has. Pure. */
bool hostveth_counts(const struct addr_info *a);

/* hostveth_route_to - the pod's route to an address of the node, without ifindex. Pure. */
struct route_spec hostveth_route_to(struct ip to, struct ip src, uint32_t metric);
void hostveth_plans_clear(struct hostveth_plans *p);
#define auto_hostveth_plans auto_clean(hostveth_plans_clear)

/*
 * hostveth_note - for the record: {"veth": name, "metric": number, "addresses": [...], "networks":
 * [...]}. The latter are the networks of r inside of a range, and absent if there is none; c NULL:
 * no ranges. Owned by the caller; NULL: no memory. hostveth_noted_name, _metric, _ips - NULL, 0 and
 * no address for a note that is NULL or damaged. *out has the networks as routes. The caller clears
 * it, also after an error: ERR_NOMEM.
 */
struct json *hostveth_note(const char *name, uint32_t metric, const struct hostveth_conf *c,
			   const struct cni_result *r);
const char *hostveth_noted_name(const struct json *note);
uint32_t hostveth_noted_metric(const struct json *note);
int hostveth_noted_ips(const struct json *note, struct cni_result *out, struct err *e) must_check;

/* ---- the kernel ---- */

/* Both sides. */
struct hostveth_sides {
	const char *container, *proc;
	const struct log *log;
	const struct netns *node_ns, *pod_ns; /* NULL where the pod is gone */
	struct nl *node, *pod;
};

/* hostveth_find - id and node's end of the container's pair, or ifindex 0 and a free name.
 * ERR_BUSY: each name that was tried has another owner. */
int hostveth_find(const struct hostveth_sides *s, struct hostveth_id *id, struct link_info *end,
		  struct err *e) must_check;

/*
 * hostveth_refuse - ERR_BUSY: the node must not send to one of the addresses by a pair. It has the
 * address itself, or another use for it, or nothing says that the address is the rail's: neither a
 * network of a master, nor the pool. Changes nothing.
 */
struct hostveth_claim {
	const struct hostveth_conf *conf;
	const struct cni_result *ips; /* interface: number of the master on the node; <= 0: none */
	bool pool; /* the addresses are of pools or ranges that no author of a pod chooses */
};
int hostveth_refuse(struct nl *node, const struct hostveth_claim *c, struct err *e) must_check;

/*
 * hostveth_add - find or make the pair, and add what the attachment needs. The thread is in the
 * node's namespace before and afterwards. ERR_BUSY: the pod has another interface veth0 or uses the
 * table, or the pair of another pod has one of the addresses. ERR_AGAIN: an earlier namespace of
 * the container still has the other end, after a wait. Everything that is there already is success.
 * The caller has the lock of pod_ns, as hostveth_remove() takes it: two calls of a pod would lose
 * each other's addresses in the filter.
 */
struct hostveth_request {
	const struct hostveth_conf *conf;
	const struct cni_result *ips;
	const struct hostveth_node *node;
	uint32_t metric;
};
int hostveth_add(const struct hostveth_sides *s, const struct hostveth_request *w,
		 struct err *e) must_check;

/* hostveth_check_senders - ERR_STATE: the node's end lacks the filter for the addresses to which
 * the node has a route by it. hostveth_check - ERR_STATE names what is missing. */
int hostveth_check_senders(struct nl *node, const char *name, int ifindex,
			   struct err *e) must_check;
int hostveth_check(const struct hostveth_sides *s, const struct hostveth_request *w,
		   struct err *e) must_check;

/*
 * hostveth_remove - the routes of the note, and the pair with the last of them: as long as the
 * node has a route by the pair, another attachment uses it. A filter that cannot be changed stays,
 * with a warning. An interface of that name which has another MAC address is left alone.
 */
int hostveth_remove(const struct hostveth_sides *s, const struct json *note,
		    struct err *e) must_check;

#endif

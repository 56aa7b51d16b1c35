/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h: a source of addresses: a subnet, its usable addresses, and the policy of their use.
 * Pure.
 *
 * An ADD takes one address from each set; the sources of a set are alternatives, tried in order.
 */
#ifndef RAILHEAD_IPAM_CONF_SOURCE_H
#define RAILHEAD_IPAM_CONF_SOURCE_H

#include "ipam/store/key.h"
#include "ipam/conf/ranges.h"
#include "lib/json/json.h"

#define SOURCE_SETS_MAX     64 /* addresses of one ADD: 32 rails with two families */
#define SOURCE_COOLDOWN_NS  INT64_C(60000000000)
#define SOURCE_COOLDOWN_MAX (30 * 86400) /* seconds */

struct policy {
	bool sticky;                   /* the same pod and interface get the same address again */
	bool strict;                   /* an address that still cools down is never assigned */
	int64_t cooldown;              /* ns */
	const struct json *namespaces; /* array of strings; NULL: every namespace. Borrowed */
	const struct json *fixed_namespaces; /* the same, for a request of a certain address */
	const struct json *quota;            /* number, or object of numbers with "*". Borrowed */
};

/* The grid of a pool with slices, see ipam/conf/pool_slice.h. */
struct pool_slice {
	u128 size; /* addresses of a slice; 0: the pool has no slices */
	struct ip start;
};

/* Of a pool with blocks, see ipam/conf/pool_blocks.h. */
enum pool_state { POOL_OPEN, POOL_ADOPTING };

/* The blocks of a shared pool, see ipam/conf/pool_blocks.h. */
struct pool_blocks {
	bool shared;   /* the pool has blocks */
	unsigned bits; /* a block has 2^bits addresses */
	uint64_t warm; /* free addresses that a node keeps ahead */
	int64_t idle;  /* ns until a block without leases is returned */
	bool strict;   /* fence */
	enum pool_state state;
	int64_t keep;    /* stickyKeep, ns; of a pool that moves */
	bool moves;      /* sticky addresses move between nodes: each block has one address */
	const char *uid; /* of the pool in the cluster; NULL: no agent put it. Borrowed */
};

struct source {
	char scope[KEY_SCOPE_MAX];
	char id[KEY_ID_LEN + 1]; /* changes whenever the usable addresses do */
	char range[72];          /* whereabouts' range as "first-last", hexadecimal; else "" */
	char label[128];         /* "pool rail0", "range 10.1.0.0/24", for people */
	struct ip_prefix subnet; /* host bits zero */
	struct ip gateway;       /* family IP_NONE: none */
	struct pool_slice slice;
	struct pool_blocks blocks;
	struct ranges usable; /* owned */
	struct policy policy;
	const struct json *routes; /* the pool's own; NULL: none. Borrowed */
	unsigned group;            /* the pool's, see ipam/conf/conf.h */
	const struct json *nodes;  /* which nodes it is for, see labels.h; NULL: all. Borrowed */
};

struct source_set {
	struct source *items; /* owned */
	size_t n;
};

struct source_sets {
	struct source_set sets[SOURCE_SETS_MAX];
	size_t n;
	struct json **trees; /* owned: what the sources borrow from */
	size_t n_trees;
};

/*
 * source_finish - the last step, after subnet, gateway, scope and usable are set. It
 * removes the gateway from usable, and for IPv4 (up to /30) the network and broadcast address. For
 * IPv6 (up to /126) it removes the subnet-router anycast address. Then it computes the id.
 * ERR_CONFIG: no address is left. source_identify - compute the id again after a
 * change of usable. source_clear - free what s owns.
 */
int source_finish(struct source *s, struct err *e) must_check;
void source_identify(struct source *s);
void source_clear(struct source *s);

/*
 * sources_add - append *s to sets[set]; set == sets->n makes a new set. sources_keep - sets owns
 * the tree from now on. Both take over the object also if they fail. ERR_CONFIG: too many sets.
 * sources_clear - free what sets owns.
 */
int sources_add(struct source_sets *sets, size_t set, struct source *s, struct err *e) must_check;
int sources_keep(struct source_sets *sets, struct json *tree, struct err *e) must_check;
void sources_clear(struct source_sets *sets);
#define auto_sources auto_clean(sources_clear)

/*
 * source_has_guids - the addresses are GIDs of InfiniBand, and a pod has only their GUIDs:
 * guid_is_network().
 */
bool source_has_guids(const struct source *s);

/* sources_find - the source of a set whose usable addresses contain ip; NULL: none. */
const struct source *sources_find(const struct source_set *set, struct ip ip);

/*
 * policy_allows - ERR_FORBIDDEN if namespace ns, which holds `held` addresses, may not get one
 * more. The message has label, namespace and limit. policy_allows_fixed - the same if it may not
 * choose the address.
 */
int policy_allows(const struct policy *p, const char *label, const char *ns, uint64_t held,
		  struct err *e) must_check;
int policy_allows_fixed(const struct policy *p, const char *label, const char *ns,
			struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h: the keys of the IPAM store. Pure.
 *
 *	a/<scope>/<family>/<hex>              an address that was ever assigned: its lease
 *	o/<container>/<ifname>/<network>      owner: the addresses it holds
 *	r/<scope>/<source>/<time>/<address>   resting addresses, longest first
 *	s/<scope>/<namespace>/<pod>/<ifname>  sticky: the addresses a pod had last
 *	i/<scope>/<namespace>/<pod>/<ifname>/<address>  the same pod's held addresses
 *	u/<scope>/<source>                    usage of a source: used, resting, the cursor
 *	q/<scope>/<namespace>                 the number of addresses a namespace holds in a pool
 *	d/<pool>                              definition of a pool
 *	b/<scope>/<family>/<hex>              block of a shared pool that this node has, or wants
 *	l/<scope>/<family>/<hex>              address that another node lends to this one
 *	f/<scope>/<epoch>/<time>/<address>    blocks with a free address, the best one first
 *	m/store                               schema version, boot of the last clean-up
 *	m/node                                the node as the cluster store knows it
 *	m/labels                              the labels of its Node in Kubernetes
 *
 * Numbers are hexadecimal of fixed width, so the order of keys is the order of addresses and times.
 * An address is unique in its scope: p/<pool>, n/<network>, w/<network_name>,
 * x/<network_name>/<first-last>. The letter determines the number of parts. Parts are escaped, so
 * '/' only separates. Ranges of whereabouts are in w/ or x/, see ipam/alloc/overlap.h. The
 *container comes first in the owner, so one short scan finds all addresses of a pod's other
 *interfaces.
 */
#ifndef RAILHEAD_IPAM_STORE_KEY_H
#define RAILHEAD_IPAM_STORE_KEY_H

#include "ipam/store/store.h"
#include "lib/base/ip.h"
#include "lib/base/parse.h"

#define KEY_SCOPE_MAX 288 /* with NUL */
#define KEY_ID_LEN    16  /* hex digits of a source's id */
#define KEY_NAME_MAX  100 /* longest name of a pool */
#define KEY_META      "m/store"
#define KEY_NODE      "m/node"
#define KEY_LABELS    "m/labels"

struct key {
	char s[STORE_KEY_MAX + 1];
};

/* An owner as parsed from a key. */
struct key_owner {
	char container[256], ifname[64], network[256];
};

/* One address of one scope. */
struct key_address {
	char scope[KEY_SCOPE_MAX];
	struct ip ip;
};

/* An entry of the index of blocks, see ipam/lease/block_index.h. */
struct key_free {
	uint64_t epoch;
	int64_t since;
	struct ip start;
};

/*
 * Builders. They cannot fail: if the parts together exceed STORE_KEY_MAX, a hash replaces them.
 * This happens only with very long pod names. Such keys are looked up and never parsed. Functions
 * with a plural name, key_of_container, and the NULL or "" arguments below give the prefix of
 * several keys.
 */
void key_of_address(struct key *k, const char *scope, struct ip ip);
void key_of_addresses(struct key *k, const char *scope, enum ip_family f); /* the prefix of all */
void key_of_owner(struct key *k, const char *container, const char *ifname, const char *network);
void key_of_container(struct key *k, const char *container); /* the prefix of all its owners */
void key_of_rest(struct key *k, const char *scope, const char *source, int64_t since,
		 const struct ip *ip); /* ip NULL: the first one of that time */
void key_of_rests(struct key *k, const char *scope, const char *source);
void key_of_sticky(struct key *k, const char *scope,
		   const char *const pod[3]); /* ns, pod, ifname */
/* pod: ns, pod, ifname. ip NULL: the prefix of all that the pod holds in scope */
void key_of_pod(struct key *k, const char *scope, const char *const pod[3], const struct ip *ip);
void key_of_usage(struct key *k, const char *scope, const char *source); /* source "": the prefix */
void key_of_quota(struct key *k, const char *scope, const char *ns);
void key_of_pool(struct key *k, const char *name);
void key_of_block(struct key *k, const char *scope, struct ip start);
void key_of_blocks(struct key *k, const char *scope); /* the prefix, of both families */
void key_of_loan(struct key *k, const char *scope, struct ip ip);
void key_of_loans(struct key *k, const char *scope); /* the prefix, of both families */
void key_of_free(struct key *k, const char *scope, const struct key_free *f);
void key_of_frees(struct key *k, const char *scope, uint64_t epoch); /* the prefix of an epoch */
void key_of_free_from(struct key *k, const char *scope, uint64_t epoch, int64_t since);
void key_of_pool_addresses(struct key *k, const char *name); /* the prefix, of both families */

/* Parsers: 0; -1: the key is of another kind, or is malformed. */
int key_parse_address(const char *key, struct key_address *out) must_check;
int key_parse_owner(const char *key, struct key_owner *out) must_check;
int key_parse_rest(const char *key, struct key_address *out, char source[KEY_ID_LEN + 1],
		   int64_t *since) must_check;
int key_parse_block(const char *key, struct key_address *out) must_check;
int key_parse_loan(const char *key, struct key_address *out) must_check;
int key_parse_free(const char *key, char scope[KEY_SCOPE_MAX], struct key_free *out) must_check;

/*
 * key_scope - the scope of kind p, n or w with that name. key_scope_range - the scope x of a range.
 * key_scope_label - a text for users: "pool rail0", "network mynet". All return out.
 */
char *key_scope(char out[KEY_SCOPE_MAX], char kind, const char *name);
char *key_scope_range(char out[KEY_SCOPE_MAX], const char *name, struct ip_range r);
char *key_scope_label(const char *scope, char *out, size_t size);

/* key_pool_of - the name of the pool if scope is a pool's, else NULL. Points into scope. */
const char *key_pool_of(const char *scope);
/* key_scope_log - a scope's name in the audit log: the pool's name, or the label, written to out.
 */
const char *key_scope_log(const char *scope, char *out, size_t size);

#endif

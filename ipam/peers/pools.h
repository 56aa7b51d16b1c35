/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.h: pools of other IPAMs as pools of railhead. Pure.
 *
 * Read are objects of Kubernetes, alone or in a list: SpiderIPPool, SpiderSubnet, SpiderReservedIP
 * (spiderpool.spidernet.io), IPPool and CIDRPool (nv-ipam.nvidia.com), IPPool
 * (whereabouts.cni.cncf.io), NetworkAttachmentDefinition (k8s.cni.cncf.io). A network configuration
 * of CNI, or a list of plugins, is read as well. The keys are those of the types in the
 * repositories of these projects, 2026-11.
 *
 * Everything that a pool of railhead does not say becomes a note: no key is dropped in silence.
 * Empty values (null, false, "", [], {}) say nothing.
 */
#ifndef RAILHEAD_IPAM_PEERS_POOLS_H
#define RAILHEAD_IPAM_PEERS_POOLS_H

#include "lib/json/json.h"

#define PEER_POOLS_MAX      1024
#define PEER_POOLS_NAME_MAX 30 /* of a shared pool: the names of its blocks contain it */

struct peer_pools {
	uint64_t block;        /* size of blocks where the source has none, a power of two */
	struct json *pools;    /* owned: [{"name", keys of a definition}] */
	struct json *notes;    /* owned: [{"object", "key", "why"}] */
	struct json *reserved; /* owned: [{"object", "ips"}], until peer_pools_finish() */
	struct json *ranges;   /* owned: the ranges of these that are valid, as texts */
	struct json *subnets;  /* owned: objects that become pools if no other pool is there */
};

/*
 * peer_pools_add - add what a document has: an object, a list of them, or a configuration. Objects
 * of other kinds become notes. ERR_CONFIG: more than PEER_POOLS_MAX pools. ERR_NOMEM.
 * peer_pools_finish - after the last document: reserved addresses and subnets find their pools, and
 * pools that share addresses become notes. peer_pools_clear - free what *p owns.
 */
int peer_pools_add(struct peer_pools *p, const struct json *doc, struct err *e) must_check;
int peer_pools_finish(struct peer_pools *p, struct err *e) must_check;
void peer_pools_clear(struct peer_pools *p);
#define auto_peer_pools auto_clean(peer_pools_clear)

#endif

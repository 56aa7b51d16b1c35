/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h: requests of the protocol as calls of a cluster store, and their results as replies.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_REQUEST_H
#define RAILHEAD_RAILHEADD_POOLS_REQUEST_H

#include "cluster/protocol/agent.h"

struct event_base;
struct requests;

struct request_fns {
	/* pool - a pool that the driver knows, or NULL. */
	const struct shared_pool *(*pool)(void *arg, const char *name);
	/*
	 * decode - the value of a pool's object into *out, for this reply only. ERR_CONFIG: the
	 * pool cannot be used.
	 */
	int (*decode)(void *arg, const struct cluster_object *object, struct shared_pool *out,
		      struct err *e);
	/* unreadable - an object was left out: its value is not understood. */
	void (*unreadable)(void *arg, const struct err *why);
	/* reply - once for each request, from the loop. why: of an outcome that is not CLUSTER_OK.
	 */
	void (*reply)(void *arg, const struct agent_reply *reply, const struct err *why);
};

/* requests_new - fns, arg and store are borrowed. NULL: no memory. */
struct requests *requests_new(struct event_base *base, struct cluster_store *store,
			      const struct request_fns *fns, void *arg);

/* requests_free - nothing more is reported; writes may still be executed. NULL is fine. */
void requests_free(struct requests *all);

/*
 * requests_send - a request that cannot even be begun is answered with CLUSTER_AWAY, later. -1: no
 * memory, and there will be no reply.
 */
int requests_send(struct requests *all, const struct agent_request *r) must_check;

/* request_key - which block an object with this name is; -1: of no pool that we know. */
int request_key(struct requests *all, const char *name, struct block_key *key) must_check;

/*
 * request_read_block - the object of a block. 1: of a pool that we do not know, or no block at all.
 * ERR_DECODE, ERR_CONFIG: its value is none of a block.
 */
int request_read_block(struct requests *all, const struct cluster_object *object,
		       struct block_seen *out, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* world_priv.h: what the files of the simulated cluster share. */
#ifndef RAILHEAD_CLUSTER_TESTING_WORLD_PRIV_H
#define RAILHEAD_CLUSTER_TESTING_WORLD_PRIV_H

#include "cluster/testing/world.h"

#define NODES    6
#define OBJECTS  64
#define MESSAGES 256
#define IPS      64
#define TAKERS   2
#define EVENTS   16
#define PODS     (IPS + 1)

/* Times of the simulation, in steps of the clock. */
#define HOLD  200
#define RENEW 20
#define RETRY 4
#define ASK   100
#define KEEP  120

struct object {
	bool there;
	enum cluster_kind kind;
	char name[CLUSTER_NAME_LEN];
	struct cluster_version at;
	struct block block;
	struct heartbeat beat;
};

/* A request on its way, or its reply. */
struct message {
	bool used, executed, late; /* late: nobody waits for the reply */
	unsigned node, process;
	unsigned restores; /* of the store, when it was sent */
	struct agent_request request;
	struct agent_reply reply;
	struct listed *list; /* owned; NULL: no reply needed one yet */
};

/* A change that a watch shows. */
struct event {
	bool gone;
	struct block_seen seen;
};

struct machine {
	bool on, cut;
	unsigned boots, process, pool_seen, wanted;
	char name[16], boot[32], dmi[16];
	struct node_record node; /* on its disk, as the blocks */
	struct block_record blocks[IPS];
	struct lending lent[IPS]; /* of the same block */
	size_t n_blocks, n_listed, n_events;
	bool lease[IPS], unknown[IPS]; /* a pod has it; one of a lost store. They die with m */
	int64_t rests[IPS];            /* the address cools down until then */
	unsigned pods[IPS];            /* which pod has it, if the pool's addresses move */
	bool starts[PODS];             /* an ADD of the pod may run */
	bool target[PODS];             /* it is one of a migration, as is the pod that runs then */
	struct agent *agent;
	int64_t next; /* when it wants to be called */
	enum { LIST_WANTED, LIST_UNDER_WAY, LIST_DONE } lists;
	struct block_seen listed[OBJECTS];
	struct event events[EVENTS];
	struct cluster_version evidence; /* the heartbeat when the machine was seen to be off */
	bool is_off, wants; /* such evidence is there; a pod waits for the address `wanted` */
	struct want_answer answer; /* of the last one */
	struct world *world;
};

/* A taker, and the node and the block that it looks at. */
struct world_taker {
	unsigned node;
	struct taker is;
	struct block_seen block;
};

struct world {
	struct world_settings set;
	struct ranges usable;
	struct shared_pool pool;
	bool pool_there;
	bool adds; /* each ADD that is told of an address runs at once */
	unsigned pool_version, pools;
	struct object objects[OBJECTS], snapshot[OBJECTS];
	uint64_t snapshot_versions;
	bool restored;                /* and not all is well again since */
	struct object stale[OBJECTS]; /* an older state, for STALE_LIST */
	struct kept {                 /* the address that waits for a pod, or that it has */
		bool is;
		unsigned ip;
	} kept[PODS];
	bool taken[IPS]; /* of a dead machine, and not probed since */
	struct message messages[MESSAGES];
	struct machine machines[NODES];
	struct world_taker takers[TAKERS];
	int64_t now;
	uint64_t versions, uids, random;
	char violation[256];
	struct world_counts counts;
};

/* world_trace - a line about what happens, if the settings want it. */
void world_trace(const struct world *w, const char *fmt, ...) printf_like(2, 3);
/* world_violated - the run has failed; the first reason counts. */
void world_violated(struct world *w, const char *fmt, ...) printf_like(2, 3);
/* world_slot_of - the number of an address in the pool. world_block - the block that has it. */
unsigned world_slot_of(const struct world *w, struct ip ip);
struct block_key world_block(const struct world *w, unsigned ip);

/* ---- the store and the network ---- */

/* world_key - the block with this name. */
struct block_key world_key(const char *name);
/* world_find - NULL: no such object. world_write_object - a create, an update or a removal. */
struct object *world_find(struct world *w, enum cluster_kind kind, const char *name);
enum cluster_outcome world_write_object(struct world *w, const struct agent_request *r);
/* world_list - all blocks; out has room for OBJECTS. Returns how many. */
size_t world_list(const struct world *w, struct block_seen *out);
/*
 * world_send - the agent's call: arg is its machine. world_execute - the store executes the
 * request, and has a reply. world_deliver - the reply reaches the agent, if it still waits.
 */
void world_send(void *arg, const struct agent_request *r);
void world_execute(struct world *w, struct message *m);
void world_deliver(struct world *w, struct message *msg);
/* world_pick - a request that was executed or not; NULL: there is none. */
struct message *world_pick(struct world *w, uint32_t choice, bool executed);
/* world_step_network - something happens to a request. */
void world_step_network(struct world *w, uint32_t choice);

/* ---- machines and takers ---- */

/* world_on_disk - the record of a block; NULL: none. world_lends - what the block of it lends. */
struct block_record *world_on_disk(struct machine *m, const struct block_key *key);
const struct lending *world_lends(const struct machine *m, const struct block_record *r);
/*
 * world_show - the machine sees the next of what its list and its watch have; false: nothing is
 * left. world_changed - a block is another than `before` (NULL: it is new). world_list_again - a
 * new watch. world_show_pool - the pool as it is.
 */
bool world_show(struct world *w, struct machine *m);
void world_changed(struct world *w, const struct object *o, const struct block *before);
void world_list_again(struct machine *m);
void world_show_pool(struct world *w, struct machine *m);
/* world_tick - the agent does what is due. */
void world_tick(struct world *w, struct machine *m);

#endif

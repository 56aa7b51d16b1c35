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

/* Times of the simulation, in steps of the clock. */
#define HOLD  200
#define RENEW 20
#define RETRY 4
#define ASK   100

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
	struct agent_request request;
	struct agent_reply reply;
	struct block_seen list[OBJECTS];
};

struct machine {
	bool on, cut;
	unsigned boots, process;
	char name[16], boot[16];
	/* On its disk. */
	struct node_record node;
	struct block_record blocks[IPS];
	size_t n_blocks;
	bool lease[IPS]; /* a pod has the address; pods die with the machine */
	struct agent *agent;
	struct cluster_version evidence; /* the heartbeat when the machine was seen to be off */
	bool is_off;                     /* such evidence is there */
	struct world *world;
};

/* Somebody who takes blocks of dead nodes. */
struct taker {
	unsigned node;
	struct beat_watch beat;
	struct block_seen block;
	bool armed, silent;
};

struct world {
	struct world_settings set;
	struct ranges usable;
	struct shared_pool pool;
	struct object objects[OBJECTS];
	struct object snapshot[OBJECTS];
	bool restored;
	struct message messages[MESSAGES];
	struct machine machines[NODES];
	struct taker takers[TAKERS];
	int64_t now;
	uint64_t versions, random;
	char violation[256];
	struct world_counts counts;
};

/* world_trace - a line about what happens, if the settings want it. */
void world_trace(const struct world *w, const char *fmt, ...) printf_like(2, 3);
/* world_violated - the run has failed; the first reason counts. */
void world_violated(struct world *w, const char *fmt, ...) printf_like(2, 3);
/* world_slot_of - the number of an address in the pool. */
unsigned world_slot_of(const struct world *w, struct ip ip);

/* ---- the store and the network ---- */

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

/* world_restore - the store goes back to its snapshot, at first an empty store. */
void world_restore(struct world *w);
/* world_settle - everything arrives, until nothing happens any more. */
void world_settle(struct world *w);

/* ---- machines and takers ---- */

/* world_on_disk - the record of a block; NULL: none. */
struct block_record *world_on_disk(struct machine *m, const struct block_key *key);
/* Begin and end an agent; begin and end a machine, whose pods end with it. */
void world_start_agent(struct world *w, struct machine *m);
void world_stop_agent(struct machine *m);
void world_boot(struct world *w, struct machine *m);
void world_power_off(struct world *w, struct machine *m);
/*
 * world_add_pod - false: the machine has no address to assign now. world_del_pod - one pod ends.
 * world_give_back - the agent returns a block that has no pod.
 */
bool world_add_pod(struct world *w, struct machine *m, uint32_t choice);
void world_del_pod(struct world *w, struct machine *m, uint32_t choice);
void world_give_back(struct machine *m, uint32_t choice);
/* world_show - a watch shows a block. */
void world_show(struct world *w, struct machine *m, uint32_t choice);
/* world_step_taker - a taker goes on. world_notice_off - the machine is said to be off. */
void world_step_taker(struct world *w, struct taker *t, uint32_t choice);
void world_notice_off(struct world *w, struct machine *m);

#endif

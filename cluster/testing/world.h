/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h: a simulated cluster: a store, machines with agents and pods, takers, a slow network.
 *
 * Nothing happens by itself. A schedule is a list of steps; each is a number that chooses what
 * happens next and with what. The same schedule gives the same run, and a schedule without some of
 * its steps is a schedule, too: that is how a failure is made small.
 */
#ifndef RAILHEAD_CLUSTER_TESTING_WORLD_H
#define RAILHEAD_CLUSTER_TESTING_WORLD_H

#include "cluster/protocol/agent.h"
#include "cluster/protocol/reclaim.h"

struct world_settings {
	unsigned nodes, blocks, bits; /* machines; blocks of the pool; 2^bits addresses a block */
	bool strict;                  /* fence, of the nodes */
	bool strict_pool;             /* fence, of the pool */
	bool idle;                    /* blocks without pods are returned after a while */
	bool restores;                /* the store may go back to an older state of itself */
	bool lies;     /* evidence that a machine is off may be wrong: pods may share an address */
	bool pools;    /* the pool may be deleted and made again */
	bool disks;    /* a machine may boot with an empty disk, or lose its store as it runs */
	bool clones;   /* all machines have one name */
	bool ranges;   /* as etcd: lists of a few blocks are cheap, a creation tells more */
	unsigned pods; /* a pool whose addresses move with so many pods; 0: it is not */
	bool migrates; /* some pods start beside their source */
	bool loosens;  /* in the end, addresses do not move with pods any more */
	bool wants;    /* pods request certain addresses */
	bool recalls;  /* the pool lends no more at times, as one that leaves */
	bool calm;     /* few faults: pods live, and the pool is full most of the time */
	unsigned cooldown; /* for so long an address of a pod that ended is not given back */
	bool quiet;        /* no ADD between two calls of an agent's operations */
	bool trace;        /* print each step */
	/* Mistakes of the protocol that the model must find; 0: none. */
	enum {
		RIGHT,
		NO_EPOCH,      /* the transaction of an ADD does not compare the epoch */
		LOOK_ONLY,     /* a block is confirmed without a new version */
		BEAT_FIRST,    /* a taker reads the block after the heartbeat */
		SHORT_HOLD,    /* a taker waits for less than half of nodeHold */
		KEEP_USED,     /* a block is returned although a pod has an address */
		BLIND_REMOVE,  /* the store removes whatever has the name */
		DEAF,          /* strays are not seen */
		DROP_USED,     /* a record is deleted although a pod has an address */
		LOSE_PROBE,    /* the store forgets which blocks are to be probed */
		NO_VALUE,      /* only the version is compared */
		OLD_EVIDENCE,  /* evidence holds although the heartbeat moved since */
		STALE_LIST,    /* a list shows an older state */
		LOSE_IDENTITY, /* the store forgets whose a block is that no node has */
		VOUCH_ALWAYS,  /* the source of a migration says that it probed its address */
		LOSE_MIGRATES, /* the owner does not know that its asker has the address, too */
		GIVE_LENT,     /* the owner assigns an address that it lends */
		LOSE_LOANS,    /* an agent that does not know loans writes a block */
	} wrong;
};

/* How often things happened, so that a test can tell that they did. */
struct world_counts {
	unsigned gives, grants, confirms, returns, handed_over, strays, takes, taken_free, late,
		full, restores, contests, lost, needs[5], wants[5], judged_again, pools_gone, disks,
		parks, moves, expired, evicted, returned, shared, unshared, followed, asks_back,
		vouched, lends, borrowed, given_back, recalls;
};

struct world;

/* world_new - all machines run, and nothing has happened. world_free - the end of all. */
struct world *world_new(const struct world_settings *settings);
void world_free(struct world *w);

/* world_add_counts - add what happened in w to *sum. */
void world_add_counts(const struct world *w, struct world_counts *sum);

/* world_step - one step of a schedule. Returns NULL, or what was violated. */
const char *world_step(struct world *w, uint32_t choice);

/*
 * world_heal - everything runs and everything arrives. Then what must be true in the end is
 * compared: each block has an owner who knows it, and pods get every address of the pool.
 */
const char *world_heal(struct world *w);

/* ---- steps that a test takes by itself ---- */

struct machine;

/* world_restore - the store goes back to its snapshot, at first an empty store. */
void world_restore(struct world *w);
/* world_settle - everything arrives, until nothing happens any more. */
void world_settle(struct world *w);

/*
 * Begin and end an agent; begin and end a machine, whose pods end with it. world_new_disk - the
 * machine boots with an empty store. world_lose_store - the agent begins with an empty store, and
 * the pods live.
 */
void world_start_agent(struct world *w, struct machine *m);
void world_stop_agent(struct machine *m);
void world_boot(struct world *w, struct machine *m);
void world_power_off(struct world *w, struct machine *m);
void world_new_disk(struct world *w, struct machine *m);
void world_lose_store(struct world *w, struct machine *m);
/*
 * world_add_pod - false: the machine has no address to assign now. world_del_pod - one pod ends.
 * world_give_back - the agent returns a block that has no pod.
 */
bool world_add_pod(struct world *w, struct machine *m, uint32_t choice);
void world_del_pod(struct world *w, struct machine *m, uint32_t choice);
/*
 * world_want - a pod of the machine requests this address, and its agent may ask for the block. A
 * tick of the agent ends that.
 */
void world_want(struct world *w, struct machine *m, unsigned ip);
void world_give_back(struct machine *m, uint32_t choice);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* world_pods.h: pods whose addresses move, takers of blocks, and what must hold. */
#ifndef RAILHEAD_CLUSTER_TESTING_WORLD_PODS_H
#define RAILHEAD_CLUSTER_TESTING_WORLD_PODS_H

#include "cluster/testing/world_priv.h"

/*
 * world_give_pod - one of the pods that start here gets its address. world_start_pod - pod n starts
 * here; target: of a migration. world_may_share - what runs of pod n on m and elsewhere is one
 * machine that migrates. world_pod_told - what became of its need. world_judge_identity - a block
 * is written (to) or removed (NULL): no address ends that waits for its pod. world_judge_moves - at
 * the end: pods get all addresses, and move with them.
 */
bool world_give_pod(struct world *w, struct machine *m, uint32_t choice);
bool world_start_pod(struct world *w, struct machine *m, unsigned n, bool target);
void world_pod_told(struct world *w, struct machine *m, const char *identity,
		    enum need_result result);
void world_judge_identity(struct world *w, const struct object *o, const struct block *to);
void world_judge_moves(struct world *w);
/* world_is_target - m shares the block of another machine. */
bool world_is_target(const struct object *o, const struct machine *m);
/* world_judge_full - pods get each address of the pool, and one more is told that it is full. */
void world_judge_full(struct world *w);
/* world_pod_of - the number of a pod; PODS: it is none. */
unsigned world_pod_of(const char *identity);
bool world_may_share(const struct world *w, const struct machine *m, unsigned n);
bool world_may_give(const struct machine *m, const struct block_record *r);

/* ---- takers ---- */

/* world_step_taker - a taker goes on. world_notice_off - the machine is said to be off. */
void world_step_taker(struct world *w, struct world_taker *t, uint32_t choice);
void world_notice_off(struct world *w, struct machine *m);

/* ---- judging ---- */

/* world_judge_give - an assignment. world_judge_again - is the store's restore over? */
void world_judge_give(struct world *w, const struct machine *m, const struct block_record *r,
		      unsigned ip);
void world_judge_again(struct world *w);
/*
 * At the end. world_end_lent_pods - pods with addresses of other nodes end, and the pool lends no
 * more: world_judge_recalled - no loan is left then. world_judge_records - the store and the
 * machines agree. world_judge_doubles - pods of two machines with one address are named;
 * world_end_lost_pods - such pods end. world_judge_wants - each requested address comes, or its
 * owner is named. world_judge_full - pods get all addresses.
 */
void world_end_lent_pods(struct world *w);
void world_judge_recalled(struct world *w);
void world_judge_records(struct world *w);
void world_judge_doubles(struct world *w);
void world_end_lost_pods(struct world *w);
void world_judge_wants(struct world *w);
void world_judge_full(struct world *w);

#endif

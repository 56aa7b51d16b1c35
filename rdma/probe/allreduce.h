/* SPDX-License-Identifier: Apache-2.0 */
/* allreduce.h: one rank of a ring allreduce over RDMA writes. */
#ifndef RAILHEAD_RDMA_PROBE_ALLREDUCE_H
#define RAILHEAD_RDMA_PROBE_ALLREDUCE_H

#include "rdma/probe/ring.h"
#include "rdma/probe/session.h"

struct allreduce {
	unsigned rank;
	struct peers peers; /* all ranks in their order */
	struct ring_data data;
	struct wire_hello hello; /* for the next rank */
	struct run next, before; /* the connections to the neighbours */
	struct tcp next_tcp, before_tcp;
	uint64_t step;       /* counts over all rounds */
	uint64_t checked;    /* number of right sums */
	struct wire_hop hop; /* of this rank */
};

/* allreduce_join - connect to both neighbours. The caller has set rank, peers, data and hello. */
int allreduce_join(struct allreduce *a, const struct conf *c, struct err *e) must_check;

/* allreduce_round - one allreduce, with all sums checked. ERR_STATE: a sum is wrong. */
int allreduce_round(struct allreduce *a, struct err *e) must_check;

/* allreduce_gather - collect the figures of all ranks in hops, an array with one for each rank. */
int allreduce_gather(struct allreduce *a, struct wire_hop *hops, struct err *e) must_check;

/*
 * allreduce_report - tell both neighbours the error that ends this rank. allreduce_close - close
 * both connections.
 */
void allreduce_report(struct allreduce *a, const struct err *why);

void allreduce_close(struct allreduce *a);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* allreduce.h: one rank of a ring allreduce over RDMA writes. */
#ifndef RAILHEAD_RDMA_PROBE_RUN_ALLREDUCE_H
#define RAILHEAD_RDMA_PROBE_RUN_ALLREDUCE_H

#include "rdma/probe/data/ring.h"
#include "rdma/probe/run/session.h"

struct allreduce {
	unsigned rank;
	struct peers peers; /* all ranks in their order */
	struct ring_data data;
	struct wire_hello hello; /* for the next rank */
	struct run next, before; /* the connections to the neighbours */
	struct tcp next_tcp, before_tcp;
	uint64_t step;       /* over all rounds */
	uint64_t checked;    /* sums found right */
	struct wire_hop hop; /* of this rank */
};

/* allreduce_join - connect to both neighbours; rank, peers, data and hello are the caller's. */
int allreduce_join(struct allreduce *a, const struct conf *c, struct err *e) must_check;

/* allreduce_round - once; ERR_STATE when a sum is wrong. */
int allreduce_round(struct allreduce *a, struct err *e) must_check;

/* allreduce_gather - the figures of all ranks into hops[ranks]. */
int allreduce_gather(struct allreduce *a, struct wire_hop *hops, struct err *e) must_check;

/* allreduce_report - both neighbours why it ends here; they tell theirs. */
void allreduce_report(struct allreduce *a, const struct err *why);

void allreduce_close(struct allreduce *a);

#endif

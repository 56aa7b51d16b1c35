/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h: what a client and a server do with each other once they are connected.
 *
 * First messages go to and fro by send and receive, for the latency. Then each end in turn sends
 * as fast as it can, by send and by RDMA write. It does so in bursts: the sender's clock runs while
 * a burst is on its way and stops when the other device has acknowledged all of it; between bursts
 * the receiver looks at every byte and the sender makes new ones. So checking costs no bandwidth.
 */
#ifndef RAILHEAD_RDMA_PROBE_RUN_MEASURE_H
#define RAILHEAD_RDMA_PROBE_RUN_MEASURE_H

#include "rdma/probe/verbs/verbs.h"

struct run {
	struct wire_hello hello;
	struct tcp *tcp; /* borrowed */
	struct verbs_conn *conn;
	struct wire_path own, peer; /* the two ends */
	bool client;
	uint32_t met;     /* how often both ends said READY */
	unsigned signals; /* sends whose end verbs_reap() will tell */
	unsigned mtu;     /* of the path, in bytes */
	struct wire_result result;
};

/* run_is_local - both ends are on one card: what was measured passed no network. */
bool run_is_local(const struct run *r);

/* What verbs_plan needs for it: the same at both ends. */
#define MEASURE_DEPTH 512u
size_t measure_memory(const struct wire_hello *h);

/*
 * measure - all of it. At a client result has both ends' figures. ERR_STATE: data came out wrong,
 * and what of it.
 */
int measure(struct run *r, struct err *e) must_check;

/* measure_barrier - wait for the peer to be as far: everything before was right at both ends. */
int measure_barrier(struct run *r, struct err *e) must_check;

#endif

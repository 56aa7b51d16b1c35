/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h: the measurement between a client and a server that are connected.
 *
 * First, messages go back and forth by send and receive, for the latency. Then each end in turn
 * sends as fast as it can, by send and by RDMA write, in bursts. The clock of the sender runs until
 * the other device has acknowledged the whole burst. Between bursts the receiver checks each byte
 * and the sender makes new ones, so the check does not reduce the bandwidth.
 */
#ifndef RAILHEAD_RDMA_PROBE_MEASURE_H
#define RAILHEAD_RDMA_PROBE_MEASURE_H

#include "rdma/probe/verbs.h"

struct run {
	struct wire_hello hello;
	struct tcp *tcp; /* borrowed */
	struct verbs_conn *conn;
	struct wire_path own, peer; /* the two ends */
	bool client;
	int tc;           /* traffic class of this end; -1: that of the system */
	uint32_t met;     /* number of READY messages from both ends */
	unsigned signals; /* sends whose completion verbs_reap() will report */
	unsigned mtu;     /* of the path, in bytes */
	struct wire_result result;
};

/* run_is_local - true if both ends are on one card, so that no data passed a network. */
bool run_is_local(const struct run *r);

/* For verbs_plan, equal at both ends: the depth. measure_memory - bytes of memory, in and out. */
#define MEASURE_DEPTH 512u
size_t measure_memory(const struct wire_hello *h);

/*
 * measure - the whole measurement. On a client, r->result has the figures of both ends. ERR_STATE:
 * received data are wrong; the text says which.
 */
int measure(struct run *r, struct err *e) must_check;

#endif

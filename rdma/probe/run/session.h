/* SPDX-License-Identifier: Apache-2.0 */
/* session.h: from a TCP connection to a queue pair that is connected. */
#ifndef RAILHEAD_RDMA_PROBE_RUN_SESSION_H
#define RAILHEAD_RDMA_PROBE_RUN_SESSION_H

#include "rdma/probe/run/conf.h"
#include "rdma/probe/run/measure.h"

struct memory_plan {
	size_t out, in;
	unsigned depth;
};

/*
 * session_client - sends HELLO (r->hello, set by the caller) and connects; session_server - after
 * HELLO came. Both fill r->conn, own and peer; r->tcp and r->client are the caller's. Close conn
 * with verbs_close().
 */
int session_client(struct run *r, const struct conf *c, const struct memory_plan *memory,
		   struct err *e) must_check;
int session_server(struct run *r, const struct conf *c, const struct memory_plan *memory,
		   struct err *e) must_check;

/* session_hello - what the options ask for; the seed is made where none was given. */
int session_hello(const struct conf *c, enum wire_purpose purpose, struct wire_hello *out,
		  struct err *e) must_check;

/* session_measure - a client's whole visit to peer: connect, measure, close. r->tcp is gone then.
 */
int session_measure(const struct conf *c, const struct wire_hello *h, const struct peer *peer,
		    struct run *r, struct err *e) must_check;

#endif

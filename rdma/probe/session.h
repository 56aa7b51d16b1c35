/* SPDX-License-Identifier: Apache-2.0 */
/* session.h: from a TCP connection to a connected queue pair. */
#ifndef RAILHEAD_RDMA_PROBE_SESSION_H
#define RAILHEAD_RDMA_PROBE_SESSION_H

#include "rdma/probe/conf.h"
#include "rdma/probe/measure.h"

/*
 * session_client - send HELLO (r->hello) and connect. session_server - connect after HELLO came.
 * The caller has set r->tcp, r->client and, for a client, r->hello. Both set r->conn, own and peer;
 * verbs_close() closes r->conn.
 */
int session_client(struct run *r, const struct conf *c, struct err *e) must_check;
int session_server(struct run *r, const struct conf *c, struct err *e) must_check;

/* session_hello - the HELLO for the options; without --seed the seed is random. */
int session_hello(const struct conf *c, struct wire_hello *out, struct err *e) must_check;

/*
 * session_measure - a client's whole measurement with peer: connect, measure, close. r->tcp is NULL
 * afterwards.
 */
int session_measure(const struct conf *c, const struct wire_hello *h, const struct peer *peer,
		    struct run *r, struct err *e) must_check;

#endif

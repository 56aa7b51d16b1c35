/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h: verbs.h without a device: connections between threads of one test, whose wires
 * can be made to fail. What is on the wire goes through real memory, queues and completions.
 */
#ifndef RAILHEAD_RDMA_PROBE_TESTING_VERBS_H
#define RAILHEAD_RDMA_PROBE_TESTING_VERBS_H

#include "rdma/probe/verbs/verbs.h"

enum spoil {
	SPOIL_NOTHING,
	SPOIL_BIT,       /* one bit of a byte */
	SPOIL_LENGTH,    /* the last byte does not come */
	SPOIL_LOST,      /* acknowledged and never put in place */
	SPOIL_ELSEWHERE, /* a write lands 64 bytes further */
	SPOIL_STALE,     /* a write tells with the wrong mark */
	SPOIL_ERROR,     /* posting fails */
	SPOIL_TWICE,     /* a send arrives twice */
};

/* The n-th work request, from 0, of all clients' connections together; byte for SPOIL_BIT. */
void testing_verbs_spoil(enum spoil how, unsigned n, size_t byte);

/* testing_verbs_depth - what devices have from here on; 0: as much as is asked for. */
void testing_verbs_depth(unsigned depth);

/* testing_verbs_refuse - verbs_open() fails at clients, or at servers. */
void testing_verbs_refuse(bool client, bool server);

/* testing_verbs_misused - a send found no receive, or a queue was too full, ever. */
bool testing_verbs_misused(void);

#endif

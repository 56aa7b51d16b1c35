/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h: verbs/verbs.h without a device: connections between threads of one test, with errors on
 * request. Data go through real memory, queues and completions.
 */
#ifndef RAILHEAD_RDMA_PROBE_TESTING_VERBS_H
#define RAILHEAD_RDMA_PROBE_TESTING_VERBS_H

#include "rdma/probe/verbs.h"

enum spoil {
	SPOIL_NOTHING,
	SPOIL_BIT,       /* one bit of a byte */
	SPOIL_LENGTH,    /* the last byte is missing */
	SPOIL_LOST,      /* acknowledged, but not written */
	SPOIL_ELSEWHERE, /* written 64 bytes too far */
	SPOIL_STALE,     /* a write with the wrong mark */
	SPOIL_ERROR,     /* posting fails */
	SPOIL_TWICE,     /* a send arrives twice */
};

/* testing_verbs_spoil - spoil the n-th request, from 0, of all clients. byte: for SPOIL_BIT. */
void testing_verbs_spoil(enum spoil how, unsigned n, size_t byte);

/* testing_verbs_depth - the depth of devices from now on; 0: as much as requested. */
void testing_verbs_depth(unsigned depth);

/* testing_verbs_refuse - let verbs_open() fail for clients, or for servers. */
void testing_verbs_refuse(bool client, bool server);

/* testing_verbs_picked - what the last verbs_open() of a client, or of a server, was asked for. */
struct verbs_pick testing_verbs_picked(bool server);

/* testing_verbs_misused - true if a send ever had no receive, or a queue was too full. */
bool testing_verbs_misused(void);

#endif

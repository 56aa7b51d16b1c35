/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h: what an error of etcd means for the call. Pure.
 */
#ifndef RAILHEAD_CLUSTER_ETCD_FAULT_H
#define RAILHEAD_CLUSTER_ETCD_FAULT_H

#include "cluster/etcd/answer.h"

enum etcd_remedy {
	ETCD_REPORT,    /* report the outcome */
	ETCD_NEW_TOKEN, /* the token is no longer valid: get one, then ask again; not executed */
	ETCD_NO_TOKEN,  /* etcd knows no users: ask without a token; not executed */
	ETCD_ELSEWHERE, /* a read may ask another endpoint; a write reports the outcome */
};

struct etcd_fault {
	enum etcd_remedy remedy;
	enum cluster_outcome outcome;
	unsigned retry_ms;
};

/* The request, for the text of an error. */
struct etcd_asked {
	const char *verb; /* "read", "write", "watch", "authenticate" */
	const char *key;
	const char *user; /* NULL: none */
};

/*
 * etcd_fault - judge a code of gRPC with its text; e says what was asked and what to do about it.
 * Only an error that etcd raises before it executes a write has another outcome than CLUSTER_AWAY.
 */
struct etcd_fault etcd_fault(const struct etcd_problem *p, const struct etcd_asked *asked,
			     struct err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h: what etcd's JSON gateway answers, 3.4 to 3.6. Pure.
 *
 * int64 are strings, and what is zero is absent: succeeded when false, kvs and count when there are
 * none, the type of an event when it is a put. Trees are borrowed by what is read from them. All
 * errors are ERR_DECODE.
 */
#ifndef RAILHEAD_CLUSTER_ETCD_ANSWER_H
#define RAILHEAD_CLUSTER_ETCD_ANSWER_H

#include "cluster/etcd/value.h"

/* etcd_kv_read - one element of kvs. Cleared with etcd_kv_clear(). */
int etcd_kv_read(const struct json *kv, struct etcd_kv *out, struct err *e) must_check;

struct etcd_range {
	int64_t revision; /* of the store when it answered */
	bool more;        /* the limit cut it */
	const struct json *kvs;
};
int etcd_range_read(const struct json *answer, struct etcd_range *out, struct err *e) must_check;

struct etcd_txn {
	int64_t revision; /* of the writes, if it succeeded */
	bool succeeded;
	const struct json *kvs; /* the last response, if it is a range; empty: absent */
	bool more;              /* the limit cut it */
	int64_t before, all;    /* counts of the last two responses */
};
int etcd_txn_read(const struct json *answer, struct etcd_txn *out, struct err *e) must_check;

/*
 * etcd_look_read - the revisions of n keys that a transaction read one by one; 0: there is no such
 * key.
 */
int etcd_look_read(const struct json *answer, int64_t *revisions, size_t n,
		   struct err *e) must_check;

/* One line of a watch. */
struct etcd_watch {
	int64_t revision; /* of the store; 0: the line does not say */
	bool created, canceled;
	int64_t compacted;  /* canceled: the oldest revision there is; 0: that is not why */
	const char *reason; /* canceled or failed: why; "" */
	int code;           /* of gRPC, if it failed or the reason names one; 0: neither */
	bool fragment;      /* more of the same revision follows */
	const struct json *events;
};
int etcd_watch_read(const struct json *line, struct etcd_watch *out, struct err *e) must_check;

/* An event. kv: of a deletion key and revision only. was: before the change; key NULL: unknown. */
struct etcd_event {
	bool deleted;
	struct etcd_kv kv, was;
};
int etcd_event_read(const struct json *event, struct etcd_event *out, struct err *e) must_check;

void etcd_event_clear(struct etcd_event *ev);

/* etcd_token_read - of /v3/auth/authenticate; NULL: there is none. */
const char *etcd_token_read(const struct json *answer);

/* etcd_problem_read - the body of an answer with an error status. text is "" if there is none. */
struct etcd_problem {
	int code; /* gRPC; 2, unknown, if the answer has none */
	const char *text;
};
struct etcd_problem etcd_problem_read(const struct json *answer);

#endif

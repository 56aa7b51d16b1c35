/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_priv.h: what the files verbs*.c share. */
#ifndef RAILHEAD_RDMA_PROBE_VERBS_VERBS_PRIV_H
#define RAILHEAD_RDMA_PROBE_VERBS_VERBS_PRIV_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "rdma/probe/verbs/verbs.h"

struct memory {
	void *p;
	size_t len;
	struct ibv_mr *mr;
};

#define VERBS_BATCH 16
/* 7 would be for ever: where a receive lacks, and with rxe also where packets are lost. */
#define VERBS_TRIES 6

struct verbs_conn {
	struct verbs_plan plan;
	struct ibv_context *ctx; /* opened here, or the CM's */
	struct rdma_event_channel *events;
	struct rdma_cm_id *listening, *id;

	unsigned port, gid_index, depth;
	union ibv_gid gid;
	struct ibv_port_attr attr;
	uint32_t psn;

	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct memory out, in;

	struct wire_path peer; /* once joined */
	unsigned mtu;
	struct tcp *control;
	struct ibv_wc done[VERBS_BATCH]; /* reaped and not yet handed out */
	int n_done, at_done;
};

/* verbs_device.c */
int verbs_open_device(const char *name, struct ibv_context **out, struct err *e) must_check;
/* verbs_open_error - why a device cannot be opened. Returns -1. */
int verbs_open_error(struct ibv_device *device, int errnum, struct err *e);

struct verbs_gid_table {
	struct ibv_gid_entry *entry;
	size_t n;
};
int verbs_gid_table(struct ibv_context *ctx, struct verbs_gid_table *out, struct err *e) must_check;
const char *verbs_gid_type(uint32_t type);
void verbs_gid_of(struct ip ip, uint8_t raw[16]);
/* verbs_gid_is_here - an interface of this network namespace has the address. */
bool verbs_gid_is_here(const uint8_t raw[16]);

/* verbs_pick.c: fills ctx, port, gid_index, gid and attr of c. */
int verbs_choose(struct verbs_conn *c, struct err *e) must_check;
/* verbs_judge_index - the GID of the index that was asked for exists and is one of ours. */
int verbs_judge_index(const struct verbs_conn *c, const struct verbs_gid_table *t,
		      struct err *e) must_check;
/* verbs_port_ready - reads attr; the port must be up. */
int verbs_port_ready(struct verbs_conn *c, struct err *e) must_check;

/* verbs_cm.c */
int verbs_cm_open(struct verbs_conn *c, const struct wire_path *peer, struct err *e) must_check;
int verbs_cm_join(struct verbs_conn *c, struct err *e) must_check;
void verbs_cm_close(struct verbs_conn *c);

/* verbs_plain.c */
int verbs_plain_join(struct verbs_conn *c, struct err *e) must_check;

/* verbs_conn.c */
struct ibv_qp_init_attr verbs_qp_attr(const struct verbs_conn *c);

/* verbs_data.c: until fd can be read, the time is over, or the peer is gone (control). */
int verbs_await(struct verbs_conn *c, int fd, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_priv.h: a connection, and the functions that the files of this room share. */
#ifndef RAILHEAD_RDMA_PROBE_VERBS_PRIV_H
#define RAILHEAD_RDMA_PROBE_VERBS_PRIV_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "lib/base/guid.h"
#include "rdma/probe/verbs.h"

struct memory {
	void *p;
	size_t len;
	struct ibv_mr *mr;
	bool mapped; /* by this process */
};

#define VERBS_BATCH 16
/* 7 means to retry forever: if a receive is missing, and with rxe also if packets are lost. */
#define VERBS_TRIES 6

struct verbs_conn {
	struct verbs_plan plan;
	struct ibv_context *ctx; /* opened here, or the CM's */
	struct rdma_event_channel *events;
	struct rdma_cm_id *listening, *id;

	unsigned port, gid_index, depth;
	uint16_t pkey_index;
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
	struct ibv_wc done[VERBS_BATCH]; /* polled, and not yet returned by verbs_reap() */
	int n_done, at_done;
};

/* verbs_device.c: verbs_open_device - open it by name; ibv_close_device() closes it. */
int verbs_open_device(const char *name, struct ibv_context **out, struct err *e) must_check;
/* verbs_open_error - the error for a device that cannot be opened. Returns -1. */
int verbs_open_error(struct ibv_device *device, int errnum, struct err *e);

/* The calls of libmlx5 that NCCL asks, too. path: 0, or an error number; the path is below /sys. */
struct verbs_mlx5 {
	bool (*is_supported)(struct ibv_device *device);             /* NULL: there is no libmlx5 */
	int (*path)(struct ibv_context *ctx, char *buf, size_t len); /* NULL: it is too old */
};
/* verbs_direct.c: verbs_mlx5_load - find them in libmlx5, which libibverbs loads for an mlx5
 * device. verbs_ask_direct - whether an open device has Data Direct, by these calls. */
void verbs_mlx5_load(struct verbs_mlx5 *out);
void verbs_ask_direct(const struct verbs_mlx5 *mlx5, struct ibv_context *ctx,
		      struct verbs_direct *out);

struct verbs_gid_table {
	struct ibv_gid_entry *entry;
	size_t n;
};
/*
 * verbs_gid_table - read all GIDs of a device; the caller frees out->entry. verbs_gid_type - "RoCE
 * v2" for the number of libibverbs. verbs_gid_of - the GID of an address.
 */
int verbs_gid_table(struct ibv_context *ctx, struct verbs_gid_table *out, struct err *e) must_check;
const char *verbs_gid_type(uint32_t type);
void verbs_gid_of(struct ip ip, uint8_t raw[16]);
/* verbs_gid_is_here - true if an interface of this network namespace has the address. */
bool verbs_gid_is_here(const uint8_t raw[16]);
/* verbs_guid_of - the port GUID in the address of the IPoIB interface that has ip. False: ip is not
 * on such an interface. */
bool verbs_guid_of(struct ip ip, struct guid *out);

/* verbs_pick.c: verbs_choose - set ctx, port, gid_index, gid and attr of c by c->plan.pick. */
int verbs_choose(struct verbs_conn *c, struct err *e) must_check;
/* verbs_judge_index - an error unless the GID at the wanted index exists and is of this namespace.
 */
int verbs_judge_index(const struct verbs_conn *c, const struct verbs_gid_table *t,
		      struct err *e) must_check;
/* verbs_port_ready - read c->attr; an error if the port is not up. */
int verbs_port_ready(struct verbs_conn *c, struct err *e) must_check;

/*
 * verbs_cm.c: connections by RDMA CM. verbs_cm_open - find the device by address, and listen or
 * resolve the route. verbs_cm_join - connect. verbs_cm_close - free what belongs to the CM.
 */
int verbs_cm_open(struct verbs_conn *c, const struct wire_path *peer, struct err *e) must_check;
int verbs_cm_join(struct verbs_conn *c, struct err *e) must_check;
void verbs_cm_close(struct verbs_conn *c);

/* verbs_plain.c: verbs_plain_join - connect with the data in c->peer, without RDMA CM. */
int verbs_plain_join(struct verbs_conn *c, struct err *e) must_check;

/* verbs_conn.c: verbs_qp_attr - the attributes of the queue pair. */
struct ibv_qp_init_attr verbs_qp_attr(const struct verbs_conn *c);

/* verbs_data.c: verbs_await - wait until fd is readable. An error on timeout, or if the peer ends.
 */
int verbs_await(struct verbs_conn *c, int fd, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * wire.h: queue pairs, and the messages between them.
 */
#ifndef WIRE_H
#define WIRE_H

#include "conformance/vm/fabric/fabric.h"

struct fab_cq {
	struct ib_cq ib;
	struct list_head done;
	bool armed;
};

struct fab_qp {
	struct ib_qp ib;
	struct list_head all, recvs, groups;
	bool user, signal_all;
	enum ib_qp_state state;
	u32 qkey, dest_qp;
	u16 pkey_index, dest_lid;
};

struct fab_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;
};

/* A message on its way. From the sender's post to its delivery. */
struct fab_packet {
	struct list_head list;
	struct fab_function *from;
	u32 src_qp, dest_qp, qkey, length;
	u16 dlid, pkey;
	u8 sl;
	bool grh, reliable, with_imm;
	__be32 imm;
	union ib_gid dgid;
	u8 data[];
};

/* queues.c: the objects of verbs. */
extern const struct ib_device_ops fab_queue_ops;
/* Under fab_lock: complete work, or the oldest receive of a queue pair with the content of a
 * packet. */
void fab_complete(struct ib_cq *cq, const struct ib_wc *wc);
void fab_receive(struct fab_qp *qp, const struct fab_packet *p, u16 slid);

/* switch.c: messages between queue pairs. */
int fab_switch_init(void);
void fab_switch_exit(void);
struct fab_packet *fab_packet_new(struct fab_function *from, u32 length);
void fab_send(struct fab_packet *p); /* from any context; takes it */
void fab_qp_list(struct fab_qp *qp);
void fab_qp_unlist(struct fab_qp *qp);
int fab_attach(struct ib_qp *qp, union ib_gid *gid, u16 lid);
int fab_detach(struct ib_qp *qp, union ib_gid *gid, u16 lid);

/* subnet.c: the subnet administrator's answer, NULL for none. The caller delivers it to the
 * sender's queue pair 1. */
struct fab_packet *fab_sa_answer(const struct fab_packet *request);

#endif

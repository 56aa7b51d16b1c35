/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h: a change in progress, and its steps in the files qos_set*.c. */
#ifndef RAILHEAD_RDMA_QOS_PRIV_H
#define RAILHEAD_RDMA_QOS_PRIV_H

#include "lib/base/undo.h"
#include "rdma/qos/qos.h"

struct qos_change {
	const struct qos_work *w;
	const struct qos_profile *want;
	struct qos_state was;
	struct qos_cnp_raw cnp_was;
	unsigned changed; /* QOS_BIT of each setting that was different before */
	bool wrote_buffers;
};

/* qos_no_effect - ERR_STATE: the driver accepted s and does not use it. Returns -1. */
int qos_no_effect(const struct qos_change *t, enum qos_setting s, struct err *e) must_check;

/*
 * set_dcb.c: the steps through netlink and ethtool. A step does nothing if the card is set so
 * already. Else it pushes its inverse, sets, and reads again: a driver may accept a value and not
 * use it, which is ERR_STATE. qos_keep_buffers - push the inverse of qos_set_buffers(). It does
 * nothing if that wrote none, because what is written is not fitted to PFC any more.
 */
int qos_set_rules(struct qos_change *t, struct undo *u, struct err *e) must_check;
int qos_set_queues(struct qos_change *t, struct undo *u, struct err *e) must_check;
int qos_keep_buffers(struct qos_change *t, struct undo *u, struct err *e) must_check;
int qos_set_buffers(struct qos_change *t, struct undo *u, struct err *e) must_check;
int qos_set_pfc(struct qos_change *t, struct undo *u, struct err *e) must_check;
int qos_set_storm(struct qos_change *t, struct undo *u, struct err *e) must_check;

#endif

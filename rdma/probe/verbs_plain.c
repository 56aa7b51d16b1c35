/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_plain.c: a queue pair connected from what the two ends told each other over TCP. */
#include <errno.h>
#include <string.h>

#include "rdma/probe/ib.h"
#include "rdma/probe/verbs_priv.h"

#define HOPS 64
#define ACK_TIMEOUT                                                                                \
	14           /* 4.096 us * 2^14 = 67 ms, and 7 tries: half a second until a path is dead */
#define RNR_TIMER 12 /* 0.64 ms */

static int to_init(struct verbs_conn *c)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
				    .pkey_index = c->pkey_index,
				    .port_num = (uint8_t)c->port,
				    .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	return ibv_modify_qp(c->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int to_receive(struct verbs_conn *c)
{
	bool ethernet = c->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	const struct ib_path path = { .own = c->gid.raw,
				      .peer = c->peer.gid,
				      .required = c->attr.flags & IBV_QPF_GRH_REQUIRED,
				      .asked = c->plan.pick.gid_index >= 0 };
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = c->peer.mtu < c->attr.active_mtu ? (enum ibv_mtu)c->peer.mtu
							     : c->attr.active_mtu,
		.dest_qp_num = c->peer.qpn,
		.rq_psn = c->peer.psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = RNR_TIMER,
		.ah_attr = { .dlid = c->peer.lid,
			     .port_num = (uint8_t)c->port,
			     .sl = c->plan.pick.sl,
			     .is_global = ethernet || ib_needs_grh(&path),
			     .grh = { .flow_label = c->plan.pick.label,
				      .sgid_index = (uint8_t)c->gid_index,
				      .hop_limit = HOPS,
				      .traffic_class = c->plan.pick.tc } },
	};

	memcpy(attr.ah_attr.grh.dgid.raw, c->peer.gid, sizeof(c->peer.gid));
	c->mtu = 128u << attr.path_mtu;
	return ibv_modify_qp(c->qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

static int to_send(struct verbs_conn *c)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
				    .timeout =
					    c->plan.ack_timeout ? c->plan.ack_timeout : ACK_TIMEOUT,
				    .retry_cnt = VERBS_TRIES,
				    .rnr_retry = VERBS_TRIES,
				    .sq_psn = c->psn,
				    .max_rd_atomic = 1 };

	return ibv_modify_qp(c->qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int no_path(const struct verbs_conn *c, int errnum, struct err *e)
{
	char from[IP_STR_LEN], to[IP_STR_LEN];

	if (c->peer.lid) {
		err_set(e, ERR_KERNEL, errnum,
			"%s: cannot connect the queue pair from LID %u to LID %u",
			ibv_get_device_name(c->ctx->device), c->attr.lid, c->peer.lid);
		return err_hint(e, "are both ports in one subnet, with one subnet manager? "
				   "\"railctl rdma check\" looks at each end");
	}
	err_set(e, ERR_KERNEL, errnum, "%s: cannot connect the queue pair from GID %u, %s, to %s",
		ibv_get_device_name(c->ctx->device), c->gid_index,
		verbs_gid_format(c->gid.raw, from), verbs_gid_format(c->peer.gid, to));
	if (errnum == EINVAL)
		return err_hint(
			e,
			"the two GIDs must be of one kind: both IPv4 or both IPv6, both RoCE v2");
	return err_hint(
		e, "the kernel found no way there: does a ping from the one address to the other "
		   "pass?");
}

/* A port of RoCE has no LID. */
static int check_layer(const struct verbs_conn *c, struct err *e)
{
	bool own = c->attr.link_layer == IBV_LINK_LAYER_INFINIBAND, peer = c->peer.lid != 0;

	if (own == peer)
		return 0;
	err_set(e, ERR_UNAVAILABLE, 0, "port %u of %s is %s, and port %u of %s at the peer is %s",
		c->port, ibv_get_device_name(c->ctx->device), own ? "InfiniBand" : "Ethernet",
		c->peer.device_port, c->peer.device, peer ? "InfiniBand" : "Ethernet");
	return err_hint(e, "choose ports of one link layer with --device at both ends");
}

int verbs_plain_join(struct verbs_conn *c, struct err *e)
{
	if (check_layer(c, e))
		return -1;
	if (to_init(c))
		return err_set(e, ERR_KERNEL, errno, "%s: preparing the queue pair",
			       ibv_get_device_name(c->ctx->device));
	if (to_receive(c) || to_send(c))
		return no_path(c, errno, e);
	return 0;
}

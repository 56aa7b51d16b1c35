/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_cm.c: a queue pair connected by RDMA CM. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>

#include "lib/base/ctx.h"
#include "lib/base/retry.h"
#include "rdma/probe/verbs_priv.h"

static void to_sockaddr(struct ip ip, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in *four = (struct sockaddr_in *)out;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
	uint8_t bytes[16];

	memset(out, 0, sizeof(*out));
	(void)ip_to_bytes(ip, bytes);
	if (ip.family == IP_V4) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		memcpy(&four->sin_addr, bytes, 4);
	} else {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(port);
		memcpy(&six->sin6_addr, bytes, 16);
	}
}

static int cm_error(int errnum, const char *what, struct err *e)
{
	err_set(e, ERR_KERNEL, errnum, "RDMA CM: %s", what);
	return err_hint(e, "connect --no-cm does without RDMA CM");
}

static int get_channel(struct verbs_conn *c, struct err *e)
{
	c->events = rdma_create_event_channel();
	if (!c->events) {
		err_set(e, ERR_UNAVAILABLE, errno, "RDMA CM is not to be had");
		return err_hint(
			e,
			"it needs /dev/infiniband/rdma_cm, which the module rdma_ucm makes and a "
			"container must be given; connect --no-cm does without");
	}
	int flags = fcntl(c->events->fd, F_GETFL);
	if (flags < 0 || fcntl(c->events->fd, F_SETFL, flags | O_NONBLOCK))
		return cm_error(errno, "its event channel", e);
	return 0;
}

/* ---- events ---- */

static int next_event(struct verbs_conn *c, struct rdma_cm_event **out, struct err *e)
{
	unsigned tries = 0;

	while (rdma_get_cm_event(c->events, out)) {
		if (errno != EAGAIN && !retry_interrupted(&tries))
			return cm_error(errno, "waiting for an event", e);
		if (verbs_await(c, c->events->fd, e))
			return -1;
	}
	return 0;
}

static int refuse_event(const struct rdma_cm_event *event, struct err *e)
{
	/* Status is a negative errno, or for a rejection the reason of the CM protocol. */
	int errnum = event->status < 0 ? -event->status : 0;

	switch ((int)event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return cm_error(errnum, "the peer's address cannot be resolved from this device",
				e);
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return cm_error(errnum, "there is no route to the peer", e);
	case RDMA_CM_EVENT_UNREACHABLE:
		cm_error(errnum, "the peer did not answer", e);
		return err_hint(e, "RoCE v2 is UDP to port 4791: does a filter drop it?");
	case RDMA_CM_EVENT_REJECTED:
		return cm_error(0, "the peer rejected the connection", e);
	default:
		return cm_error(errnum, rdma_event_str(event->event), e);
	}
}

static int await_event(struct verbs_conn *c, enum rdma_cm_event_type want, struct err *e)
{
	struct rdma_cm_event *event;

	if (next_event(c, &event, e))
		return -1;
	int rc = event->event == want ? 0 : refuse_event(event, e);
	(void)rdma_ack_cm_event(event);
	return rc;
}

/* ---- opening ---- */

static int wrong_device(const struct verbs_conn *c, const char *ip, struct err *e)
{
	err_set(e, ERR_UNAVAILABLE, 0, "%s belongs to port %u of RDMA device %s, not to %s", ip,
		c->port, ibv_get_device_name(c->ctx->device), c->plan.pick.device);
	return err_hint(
		e, "RDMA CM goes by the address: --bind takes another one, --no-cm obeys --device");
}

/* RDMA CM takes the GID of the address. Its index is only in the table. */
static int take_gid(struct verbs_conn *c, const struct rdma_cm_id *id, struct err *e)
{
	const struct verbs_pick *pick = &c->plan.pick;
	struct verbs_gid_table table = { 0 };
	char ip[IP_STR_LEN];

	if (verbs_gid_table(c->ctx, &table, e))
		return -1;
	auto_free struct ibv_gid_entry *entry = table.entry;
	if (c->attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		verbs_gid_of(pick->local, c->gid.raw);
	else
		c->gid = id->route.addr.addr.ibaddr.sgid;
	for (size_t i = 0; i < table.n; i++) {
		if (entry[i].port_num == c->port && entry[i].gid_type != IBV_GID_TYPE_ROCE_V1 &&
		    memcmp(entry[i].gid.raw, c->gid.raw, sizeof(c->gid.raw)) == 0)
			c->gid_index = entry[i].gid_index;
	}
	if (pick->gid_index < 0)
		return 0;
	if (verbs_judge_index(c, &table, e))
		return -1;
	if ((unsigned)pick->gid_index == c->gid_index)
		return 0;
	err_set(e, ERR_UNAVAILABLE, 0, "RDMA CM takes GID %u, that of %s, and not GID %d",
		c->gid_index, ip_format(pick->local, ip), pick->gid_index);
	return err_hint(e, "--bind takes another address, --no-cm obeys --gid-index");
}

/* Check that the CM found the wanted device for the address, and set its GID. */
static int verbs_cm_take_device(struct verbs_conn *c, struct rdma_cm_id *id, struct err *e)
{
	const struct verbs_pick *pick = &c->plan.pick;
	char ip[IP_STR_LEN];

	ip_format(pick->local, ip);
	if (!id->verbs) {
		err_set(e, ERR_UNAVAILABLE, 0, "no RDMA device has a GID for %s", ip);
		return err_hint(e,
				"\"rdma-probe list\" shows the GIDs; --bind takes another address");
	}
	c->ctx = id->verbs;
	c->port = id->port_num;
	if (pick->device && (strcmp(pick->device, ibv_get_device_name(id->verbs->device)) != 0 ||
			     (pick->port && pick->port != c->port)))
		return wrong_device(c, ip, e);
	return verbs_port_ready(c, e) || take_gid(c, id, e) ? -1 : 0;
}

static int bind_error(const struct verbs_conn *c, int errnum, struct err *e)
{
	char ip[IP_STR_LEN];

	ip_format(c->plan.pick.local, ip);
	if (errnum != ENODEV)
		return cm_error(errnum, "taking the address", e);
	err_set(e, ERR_UNAVAILABLE, errnum, "no RDMA device has a GID for %s", ip);
	return err_hint(e, "\"rdma-probe list\" shows the GIDs; --bind takes another address");
}

/*
 * RDMA CM calls it type of service (rdma_set_option(3)). Without one, default_roce_tos counts. On
 * InfiniBand it would be the QoS class of the path that the subnet manager is asked for
 * (cma_query_ib_route() in drivers/infiniband/core/cma.c of Linux 6.12): NCCL asks for none.
 */
static int set_class(const struct verbs_conn *c, struct rdma_cm_id *id, struct err *e)
{
	const struct verbs_pick *pick = &c->plan.pick;
	uint8_t tc = pick->tc;

	if (!pick->has_tc || (pick->tc_of_nccl && c->attr.link_layer == IBV_LINK_LAYER_INFINIBAND))
		return 0;
	return rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tc, sizeof(tc))
		       ? cm_error(errno, "setting the traffic class", e)
		       : 0;
}

static int open_server(struct verbs_conn *c, struct err *e)
{
	struct sockaddr_storage own;

	to_sockaddr(c->plan.pick.local, 0, &own);
	if (rdma_create_id(c->events, &c->listening, c, RDMA_PS_TCP))
		return cm_error(errno, "an identifier", e);
	if (rdma_bind_addr(c->listening, (struct sockaddr *)&own))
		return bind_error(c, errno, e);
	if (verbs_cm_take_device(c, c->listening, e) || set_class(c, c->listening, e))
		return -1;
	return rdma_listen(c->listening, 4) ? cm_error(errno, "listening", e) : 0;
}

static int open_client(struct verbs_conn *c, const struct wire_path *peer, struct err *e)
{
	struct sockaddr_storage own, other;

	if (!peer->cm_port)
		return err_set(e, ERR_DECODE, 0, "the peer names no port of its RDMA CM");
	to_sockaddr(c->plan.pick.local, 0, &own);
	to_sockaddr(c->control->peer, peer->cm_port, &other);
	if (rdma_create_id(c->events, &c->id, c, RDMA_PS_TCP))
		return cm_error(errno, "an identifier", e);
	if (rdma_resolve_addr(c->id, (struct sockaddr *)&own, (struct sockaddr *)&other,
			      c->control->timeout_ms))
		return bind_error(c, errno, e);
	if (await_event(c, RDMA_CM_EVENT_ADDR_RESOLVED, e) || verbs_cm_take_device(c, c->id, e) ||
	    set_class(c, c->id, e))
		return -1;
	if (rdma_resolve_route(c->id, c->control->timeout_ms))
		return cm_error(errno, "finding a route", e);
	return await_event(c, RDMA_CM_EVENT_ROUTE_RESOLVED, e);
}

int verbs_cm_open(struct verbs_conn *c, const struct wire_path *peer, struct err *e)
{
	if (get_channel(c, e))
		return -1;
	return c->plan.server ? open_server(c, e) : open_client(c, peer, e);
}

/* ---- joining ---- */

/* Wait for the request with the number that the peer sent over TCP. Other requests are rejected. */
static int await_request(struct verbs_conn *c, struct err *e)
{
	int64_t end = ctx_mono_ms() + c->control->timeout_ms;
	struct rdma_cm_event *event;

	while (!c->id) {
		if (ctx_mono_ms() > end)
			return cm_error(ETIMEDOUT, "no request of the peer came", e);
		if (next_event(c, &event, e))
			return -1;
		bool request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
		uint32_t number = 0;
		if (request && event->param.conn.private_data_len >= sizeof(number))
			memcpy(&number, event->param.conn.private_data, sizeof(number));
		struct rdma_cm_id *id = event->id;
		(void)rdma_ack_cm_event(event);
		if (request && number == htonl(c->peer.psn) && id->verbs == c->ctx)
			c->id = id;
		else if (request && (rdma_reject(id, NULL, 0) || rdma_destroy_id(id)))
			return cm_error(errno, "rejecting a stranger", e);
	}
	return 0;
}

static int get_mtu(struct verbs_conn *c, struct err *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(c->qp, &attr, IBV_QP_PATH_MTU, &init))
		return cm_error(errno, "asking for the path's MTU", e);
	c->mtu = 128u << attr.path_mtu;
	return 0;
}

static int not_sent(const struct verbs_conn *c, int errnum, struct err *e)
{
	(void)cm_error(errnum, c->plan.server ? "accepting" : "connecting", e);
	if (errnum != EINVAL)
		return -1;
	return err_hint(
		e, "the kernel can send nothing from this port: look for \"Couldn't create ib_mad "
		   "QP1\" in dmesg; an rxe device is so once it was moved to another network "
		   "namespace");
}

int verbs_cm_join(struct verbs_conn *c, struct err *e)
{
	uint32_t number = htonl(c->psn);
	struct rdma_conn_param param = { .private_data = &number,
					 .private_data_len = sizeof(number),
					 .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = VERBS_TRIES,
					 .rnr_retry_count = VERBS_TRIES };

	if (c->plan.server && await_request(c, e))
		return -1;
	struct ibv_qp_init_attr attr = verbs_qp_attr(c);
	if (rdma_create_qp(c->id, c->pd, &attr))
		return cm_error(errno, "making the queue pair", e);
	c->qp = c->id->qp;
	if (c->plan.server ? rdma_accept(c->id, &param) : rdma_connect(c->id, &param))
		return not_sent(c, errno, e);
	return await_event(c, RDMA_CM_EVENT_ESTABLISHED, e) || get_mtu(c, e) ? -1 : 0;
}

void verbs_cm_close(struct verbs_conn *c)
{
	if (c->id)
		(void)rdma_destroy_id(c->id);
	if (c->listening)
		(void)rdma_destroy_id(c->listening);
	if (c->events)
		rdma_destroy_event_channel(c->events);
}

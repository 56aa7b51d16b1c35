/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_data.c: posts sends, writes and receives, and waits for their completions. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>

#include "lib/base/retry.h"
#include "rdma/probe/verbs_priv.h"

#define SPIN_NS                                                                                    \
	50000 /* ns to poll before sleeping: a fabric answers sooner than a process wakes up */
/* IPv4, UDP, BTH, RETH, immediate data and ICRC are 64 bytes; ping adds 28 to its size. */
#define ICMP_SIZE 36
#define WORDS_MS  300 /* to wait for an error from the peer */

static int refuse_silent(const struct verbs_conn *c, struct err *e)
{
	err_set(e, ERR_AGAIN, 0, "nothing came over RDMA for %d ms, while TCP to the peer stands",
		c->control->timeout_ms);
	return err_hint(e, "RoCE v2 is UDP to port 4791: does a filter drop it on the way?");
}

int verbs_await(struct verbs_conn *c, int fd, struct err *e)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = c->control->fd, .events = POLLIN } };
	unsigned tries = 0;

	for (;;) {
		int n = poll(p, ARRAY_SIZE(p), c->control->timeout_ms);
		if (n < 0 && !retry_interrupted(&tries))
			return err_set(e, ERR_IO, errno, "waiting for the device");
		if (n == 0)
			return refuse_silent(c, e);
		if (p[0].revents)
			return 0;
		if (p[1].revents && tcp_alive(c->control, e))
			return -1;
		/* The peer is one step ahead: its message is read later. */
		if (p[1].revents)
			p[1].fd = -1;
	}
}

/* ---- posting ---- */

int verbs_receive(struct verbs_conn *c, size_t at, size_t len, struct err *e)
{
	struct ibv_sge piece = { .addr = (uintptr_t)c->in.p + at,
				 .length = (uint32_t)len,
				 .lkey = c->in.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = at, .sg_list = &piece, .num_sge = len ? 1 : 0 }, *bad;
	int errnum = ibv_post_recv(c->qp, &wr, &bad);

	return errnum ? err_set(e, ERR_KERNEL, errnum, "posting a receive") : 0;
}

int verbs_post(struct verbs_conn *c, const struct verbs_send *s, struct err *e)
{
	static const enum ibv_wr_opcode codes[] = {
		[VERBS_SEND] = IBV_WR_SEND,
		[VERBS_WRITE] = IBV_WR_RDMA_WRITE,
		[VERBS_WRITE_TELL] = IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct ibv_sge piece = { .addr = (uintptr_t)c->out.p + s->from,
				 .length = (uint32_t)s->len,
				 .lkey = c->out.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = s->from,
				  .sg_list = &piece,
				  .num_sge = s->len ? 1 : 0,
				  .opcode = codes[s->op],
				  .send_flags = s->signal ? IBV_SEND_SIGNALED : 0,
				  .imm_data = htonl(s->mark) },
			   *bad;

	if (s->op != VERBS_SEND && (s->to > c->peer.length || s->len > c->peer.length - s->to))
		return err_set(e, ERR_STATE, 0, "the peer offers only %llu bytes of memory",
			       (unsigned long long)c->peer.length);
	wr.wr.rdma.remote_addr = c->peer.address + s->to;
	wr.wr.rdma.rkey = c->peer.rkey;
	int errnum = ibv_post_send(c->qp, &wr, &bad);
	return errnum ? err_set(e, ERR_KERNEL, errnum, "posting a send") : 0;
}

/* ---- what is done ---- */

static int refuse_lost(const struct verbs_conn *c, struct err *e)
{
	err_set(e, ERR_IO, 0, "the peer's device stopped acknowledging what was sent");
	err_hint(e, "packets are lost, or another host gets the answers: GIDs of the right address "
		    "and VLAN? UDP port 4791 open? pauses (PFC) or ECN set alike everywhere?");
	return err_hint(e,
			"the path's MTU is %u bytes and headers: does \"ping -M do -s %u\" pass?",
			c->mtu, c->mtu + ICMP_SIZE);
}

/* A broken queue pair flushes its requests, sometimes before the failed one is reported. */
static struct ibv_wc first_failure(struct verbs_conn *c, struct ibv_wc wc)
{
	struct ibv_wc next;

	while (wc.status == IBV_WC_WR_FLUSH_ERR) {
		if (c->at_done < c->n_done)
			next = c->done[c->at_done++];
		else if (ibv_poll_cq(c->cq, 1, &next) != 1)
			break;
		wc = next;
	}
	return wc;
}

static int refuse_broken(struct verbs_conn *c, const struct ibv_wc *first, struct err *e)
{
	struct pollfd p = { .fd = c->control->fd, .events = POLLIN };

	/* An error from the peer explains more than the state of the queue pair. */
	if (poll(&p, 1, WORDS_MS) > 0 && tcp_alive(c->control, e))
		return -1;
	struct ibv_wc wc = first_failure(c, *first);
	switch ((int)wc.status) {
	case IBV_WC_RETRY_EXC_ERR:
		return refuse_lost(c, e);
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return err_set(e, ERR_IO, 0, "the peer posted no receive for what was sent");
	case IBV_WC_REM_ACCESS_ERR:
		return err_set(e, ERR_IO, 0, "the peer's device refused access to its memory");
	default:
		return err_set(e, ERR_IO, 0, "the transfer failed: %s",
			       ibv_wc_status_str(wc.status));
	}
}

static int hand_out(struct verbs_conn *c, struct verbs_done *out, struct err *e)
{
	const struct ibv_wc *wc = &c->done[c->at_done++];
	struct verbs_done done = { .at = wc->wr_id };

	if (wc->status != IBV_WC_SUCCESS)
		return refuse_broken(c, wc, e);
	done.received = wc->opcode & IBV_WC_RECV;
	done.has_mark = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
	if (done.received)
		done.len = wc->byte_len;
	if (done.has_mark)
		done.mark = ntohl(wc->imm_data);
	*out = done;
	return 0;
}

/* Returns 1 if there are completions, else 0, or -1 on error. */
static int poll_cq(struct verbs_conn *c, struct err *e)
{
	c->at_done = 0;
	c->n_done = ibv_poll_cq(c->cq, VERBS_BATCH, c->done);
	if (c->n_done < 0)
		return err_set(e, ERR_KERNEL, errno, "reading the completion queue");
	return c->n_done > 0;
}

static int sleep_until_done(struct verbs_conn *c, struct err *e)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_req_notify_cq(c->cq, 0))
		return err_set(e, ERR_KERNEL, errno, "request a notification of completions");
	/* A completion may have come before the request. */
	int n = poll_cq(c, e);
	if (n)
		return n < 0 ? -1 : 0;
	if (verbs_await(c, c->channel->fd, e))
		return -1;
	if (ibv_get_cq_event(c->channel, &cq, &context))
		return err_set(e, ERR_KERNEL, errno, "being told of completions");
	ibv_ack_cq_events(cq, 1);
	return 0;
}

int verbs_reap(struct verbs_conn *c, struct verbs_done *out, struct err *e)
{
	uint64_t start = 0;

	while (c->at_done == c->n_done) {
		int n = poll_cq(c, e);
		if (n < 0)
			return -1;
		if (n)
			break;
		if (!start)
			start = verbs_now_ns();
		else if (verbs_now_ns() - start > SPIN_NS && sleep_until_done(c, e))
			return -1;
	}
	return hand_out(c, out, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* session.c: exchanges HELLO and PATH over TCP and connects the queue pair. */
#include "rdma/probe/session.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "rdma/probe/run.h"

/* The options of the client count at both ends; where they say nothing, NCCL's variables here. */
static struct verbs_pick make_pick(struct run *r, const struct conf *c)
{
	const struct wire_hello *h = &r->hello;
	bool nccl_gid = c->gid_index < 0 && c->nccl.gid_index >= 0;

	r->tc = h->has_tc ? h->tc : c->nccl.tc;
	return (struct verbs_pick){
		.device = *c->device ? c->device : NULL,
		.port = c->device_port,
		.gid_index = nccl_gid ? c->nccl.gid_index : c->gid_index,
		.gid_of_nccl = nccl_gid,
		.pkey = h->pkey,
		.sl = !h->sl && c->nccl.sl > 0 ? (uint8_t)c->nccl.sl : h->sl,
		.has_tc = r->tc >= 0,
		.tc_of_nccl = !h->has_tc,
		.tc = r->tc < 0 ? 0 : (uint8_t)r->tc,
		.local = r->tcp->local,
	};
}

static struct verbs_plan session_make_plan(struct run *r, const struct conf *c)
{
	const size_t bytes = measure_memory(&r->hello);

	return (struct verbs_plan){
		.pick = make_pick(r, c),
		.cm = r->hello.cm,
		.server = !r->client,
		.out = bytes,
		.in = bytes,
		.depth = MEASURE_DEPTH,
	};
}

static int send_path(struct run *r, struct err *e)
{
	struct wire_msg m = { .type = WIRE_PATH };

	verbs_path(r->conn, &r->own);
	m.path = r->own;
	return tcp_send(r->tcp, &m, e);
}

static int receive_path(struct run *r, struct err *e)
{
	struct wire_msg m;

	if (tcp_receive(r->tcp, WIRE_PATH, &m, e))
		return -1;
	r->peer = m.path;
	return 0;
}

static int first_answer(struct run *r, struct err *e)
{
	if (receive_path(r, e) == 0)
		return 0;
	return e->code == ERR_AGAIN
		       ? err_hint(
				 e,
				 "a server has one client at a time: another one may be there, and "
				 "--timeout waits for it")
		       : -1;
}

static int join_peer(struct run *r, struct err *e)
{
	if (verbs_join(r->conn, &r->peer, e))
		return -1;
	r->mtu = verbs_mtu(r->conn);
	return 0;
}

int session_client(struct run *r, const struct conf *c, struct err *e)
{
	struct wire_msg m = { .type = WIRE_HELLO, .hello = r->hello };
	struct verbs_plan p = session_make_plan(r, c);

	if (tcp_send(r->tcp, &m, e) || first_answer(r, e) ||
	    verbs_open(&p, &r->peer, r->tcp, &r->conn, e) || send_path(r, e))
		return -1;
	return join_peer(r, e);
}

int session_server(struct run *r, const struct conf *c, struct err *e)
{
	struct verbs_plan p = session_make_plan(r, c);

	if (verbs_open(&p, NULL, r->tcp, &r->conn, e) || send_path(r, e) || receive_path(r, e))
		return -1;
	return join_peer(r, e);
}

int session_hello(const struct conf *c, struct wire_hello *out, struct err *e)
{
	struct wire_hello h = { .cm = c->cm,
				.size = c->size,
				.iterations = c->iterations,
				.seed = c->seed,
				.pkey = c->pkey,
				.sl = c->sl,
				.has_tc = c->has_tc,
				.tc = c->tc };

	if (!c->seeded && getrandom(&h.seed, sizeof(h.seed), 0) != sizeof(h.seed))
		return err_set(e, ERR_IO, errno, "getting a random number");
	*out = h;
	return 0;
}

int session_measure(const struct conf *c, const struct wire_hello *h, const struct peer *peer,
		    struct run *r, struct err *e)
{
	struct tcp_to to = { .peer = *peer, .from = c->bind, .timeout_ms = c->timeout_ms };
	auto_tcp struct tcp tcp = TCP_NONE;

	if (tcp_connect(&to, &tcp, e))
		return -1;
	*r = (struct run){ .hello = *h, .tcp = &tcp, .client = true };
	int rc = session_client(r, c, e) || measure(r, e) ? -1 : 0;
	if (rc)
		tcp_send_fault(&tcp, e);
	verbs_close(&r->conn);
	r->tcp = NULL;
	return rc;
}

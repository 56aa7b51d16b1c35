/* SPDX-License-Identifier: Apache-2.0 */
/* allreduce.c: one rank of an allreduce: joins the ring, sends and adds chunks, and checks sums. */
#include "rdma/probe/allreduce.h"

#include <string.h>

#define SLACK   4    /* work requests beside those of the ring */
#define TELL_MS 1000 /* milliseconds until the next rank must have connected, to get an error */

static unsigned allreduce_next_of(const struct allreduce *a)
{
	return (a->rank + 1) % a->data.ranks;
}

static size_t slot_size(const struct allreduce *a)
{
	/* No chunk is longer than the first. */
	return ring_chunk(a->data.elements, a->data.ranks, 0).count * RING_ELEMENT;
}

/* ---- the ring of connections ---- */

static int join_next(struct allreduce *a, const struct conf *c, struct err *e)
{
	struct tcp_to to = { .peer = a->peers.list[allreduce_next_of(a)],
			     .from = a->peers.list[a->rank].addr,
			     .timeout_ms = c->timeout_ms,
			     .patient = true,
			     .server = "rdma-probe allreduce" };
	struct memory_plan memory = { a->data.elements * RING_ELEMENT, 0, a->data.ranks + SLACK };

	a->next.client = true;
	a->next.tcp = &a->next_tcp;
	a->next.hello = a->hello;
	a->next.hello.rank = (uint16_t)a->rank;
	if (tcp_connect(&to, &a->next_tcp, e) || session_client(&a->next, c, &memory, e) ||
	    measure_barrier(&a->next, e))
		return err_wrap(e, "the next rank, %u", allreduce_next_of(a));
	a->hop.one_card = run_is_local(&a->next);
	return 0;
}

static unsigned before_of(const struct allreduce *a)
{
	return (a->rank + a->data.ranks - 1) % a->data.ranks;
}

static const char *type_word(unsigned type)
{
	return type == RING_F32 ? "f32" : "u32";
}

/* The first option in which the rank before differs from this one. */
static int allreduce_check_options(const struct allreduce *a, const struct wire_hello *h,
				   struct err *e)
{
	const struct wire_hello *own = &a->hello;
	unsigned before = before_of(a);

	if (h->size != own->size)
		err_set(e, ERR_CONFIG, 0, "rank %u was started with --size %u, rank %u with %u",
			before, h->size, a->rank, own->size);
	else if (h->iterations != own->iterations)
		err_set(e, ERR_CONFIG, 0,
			"rank %u was started with --iterations %u, rank %u with %u", before,
			h->iterations, a->rank, own->iterations);
	else if (h->ring_type != own->ring_type)
		err_set(e, ERR_CONFIG, 0, "rank %u was started with --type %s, rank %u with %s",
			before, type_word(h->ring_type), a->rank, type_word(own->ring_type));
	else if (h->cm != own->cm)
		err_set(e, ERR_CONFIG, 0, "rank %u was started with --no-cm, and rank %u without",
			h->cm ? a->rank : before, h->cm ? before : a->rank);
	else if (h->pkey != own->pkey)
		err_set(e, ERR_CONFIG, 0,
			"rank %u was started with --pkey 0x%04x, rank %u with "
			"0x%04x",
			before, h->pkey, a->rank, own->pkey);
	else if (h->sl != own->sl)
		err_set(e, ERR_CONFIG, 0, "rank %u was started with --sl %u, rank %u with %u",
			before, h->sl, a->rank, own->sl);
	else if (h->has_tc != own->has_tc)
		err_set(e, ERR_CONFIG, 0,
			"rank %u has a traffic class (--tc or NCCL_IB_TC), and rank %u has none",
			h->has_tc ? before : a->rank, h->has_tc ? a->rank : before);
	else if (h->tc != own->tc)
		err_set(e, ERR_CONFIG, 0,
			"rank %u has traffic class %u (--tc or NCCL_IB_TC), rank %u has %u", before,
			h->tc, a->rank, own->tc);
	else
		return 0;
	return err_hint(e, "start all ranks with the same options and variables");
}

/* All ranks must have the same options. The seed of rank 0 goes around the ring. */
static int check_hello(struct allreduce *a, const struct wire_hello *h, struct err *e)
{
	unsigned before = before_of(a);

	if (h->purpose != WIRE_RING)
		return err_set(e, ERR_CONFIG, 0,
			       "the program that connected is not a rank of a ring");
	if (h->rank != before || h->ranks != a->data.ranks)
		return err_set(
			e, ERR_CONFIG, 0,
			"rank %u of %u connected where rank %u of %u was due: have all ranks the "
			"same file of peers?",
			h->rank, h->ranks, before, a->data.ranks);
	if (allreduce_check_options(a, h, e))
		return -1;
	if (a->rank != 0)
		a->hello.seed = a->data.seed = h->seed;
	else if (h->seed != a->hello.seed)
		return err_set(e, ERR_CONFIG, 0, "rank %u is of another ring", before);
	return 0;
}

/* Rank 0 is connected to the next rank already, and learns of any error from it. */
static int accept_before(struct allreduce *a, const struct conf *c, int listening, struct err *e)
{
	const struct tcp_wait wait = { .listening = listening,
				       .wait_ms = c->timeout_ms,
				       .timeout_ms = c->timeout_ms,
				       .beside = a->next_tcp.fd < 0 ? NULL : &a->next_tcp };
	struct err why;

	if (tcp_accept(&wait, &a->before_tcp, &why) == 0)
		return 0;
	*e = why;
	if (why.code != ERR_AGAIN)
		return err_wrap(e, "the next rank, %u", allreduce_next_of(a));
	(void)err_wrap(e, "waiting for rank %u, the one before", before_of(a));
	return err_hint(e, "is \"rdma-probe allreduce\" running there? All ranks are started with "
			   "the same file within --timeout of each other; one that has ended says "
			   "why");
}

static int join_before(struct allreduce *a, const struct conf *c, int listening, struct err *e)
{
	struct memory_plan memory = { 0, a->data.ranks * slot_size(a), a->data.ranks + SLACK };
	struct wire_msg m;

	if (accept_before(a, c, listening, e))
		return -1;
	a->before.tcp = &a->before_tcp;
	if (tcp_receive(&a->before_tcp, WIRE_HELLO, &m, e) || check_hello(a, &m.hello, e))
		return -1;
	a->before.hello = m.hello;
	if (session_server(&a->before, c, &memory, e))
		return -1;
	if (verbs_depth(a->before.conn) < a->data.ranks)
		return err_set(e, ERR_UNAVAILABLE, 0,
			       "the device takes %u receives at a time, and %u are needed",
			       verbs_depth(a->before.conn), a->data.ranks);
	for (unsigned i = 0; i < a->data.ranks; i++) {
		if (verbs_receive(a->before.conn, 0, 0, e))
			return -1;
	}
	return measure_barrier(&a->before, e);
}

/* Rank 0 connects first; the others wait for the rank before, so that no circle waits. */
int allreduce_join(struct allreduce *a, const struct conf *c, struct err *e)
{
	auto_fd int listening =
		tcp_listen(a->peers.list[a->rank].addr, a->peers.list[a->rank].port, e);

	if (listening < 0)
		return -1;
	if (a->rank == 0)
		return join_next(a, c, e) || join_before(a, c, listening, e) ? -1 : 0;
	return join_before(a, c, listening, e) || join_next(a, c, e) ? -1 : 0;
}

/* ---- one allreduce ---- */

static int pass_token(struct allreduce *a, bool send, struct err *e)
{
	struct wire_msg m = { .type = WIRE_READY, .ready.n = a->data.round };

	if (send)
		return tcp_send(&a->next_tcp, &m, e);
	return tcp_receive(&a->before_tcp, WIRE_READY, &m, e);
}

/* The token goes around twice. In its second round all ranks have had it once. */
static int barrier(struct allreduce *a, struct err *e)
{
	for (int i = 0; i < 2; i++) {
		bool first = a->rank == 0;
		if (pass_token(a, first, e) || pass_token(a, !first, e))
			return -1;
	}
	return 0;
}

static int send_chunk(struct allreduce *a, unsigned chunk, struct err *e)
{
	struct ring_chunk c = ring_chunk(a->data.elements, a->data.ranks, chunk);
	struct verbs_send s = { .op = VERBS_WRITE_TELL,
				.from = c.at * RING_ELEMENT,
				.to = ring_slot(a->step, a->data.ranks) * slot_size(a),
				.len = c.count * RING_ELEMENT,
				.mark = (uint32_t)a->step,
				.signal = true };
	struct verbs_done done;
	uint64_t start = verbs_now_ns();

	if (verbs_post(a->next.conn, &s, e) || verbs_reap(a->next.conn, &done, e))
		return -1;
	a->hop.ns += verbs_now_ns() - start;
	a->hop.bytes += s.len;
	return 0;
}

static int receive_chunk(struct allreduce *a, const struct ring_step *s, struct err *e)
{
	struct ring_chunk c = ring_chunk(a->data.elements, a->data.ranks, s->receive);
	const uint8_t *from = (const uint8_t *)verbs_in(a->before.conn) +
			      ring_slot(a->step, a->data.ranks) * slot_size(a);
	uint8_t *to = (uint8_t *)verbs_out(a->next.conn) + c.at * RING_ELEMENT;
	struct verbs_done done;

	if (verbs_reap(a->before.conn, &done, e))
		return -1;
	if (!done.has_mark || done.mark != (uint32_t)a->step)
		return err_set(e, ERR_STATE, 0,
			       "data came out wrong: chunk of step %u came in step %u", done.mark,
			       (uint32_t)a->step);
	if (verbs_receive(a->before.conn, 0, 0, e))
		return -1;
	if (s->add)
		ring_add(to, from, c.count, a->data.type);
	else
		memcpy(to, from, c.count * RING_ELEMENT);
	return 0;
}

static int check_sums(struct allreduce *a, struct err *e)
{
	struct ring_fault f;

	if (ring_check(&a->data, verbs_out(a->next.conn), &f)) {
		a->checked += a->data.elements;
		return 0;
	}
	return err_set(
		e, ERR_STATE, 0,
		"data came out wrong: %zu of %zu sums in round %u; the first is element %zu: %.0f "
		"where it should be %.0f",
		f.wrong, a->data.elements, a->data.round, f.element, f.got, f.want);
}

int allreduce_round(struct allreduce *a, struct err *e)
{
	unsigned ranks = a->data.ranks;

	ring_fill(&a->data, a->rank, verbs_out(a->next.conn));
	if (barrier(a, e))
		return -1;
	uint64_t start = verbs_now_ns();
	for (unsigned i = 0; i < ring_steps(ranks); i++) {
		struct ring_step s = ring_step(a->rank, ranks, i);
		if (send_chunk(a, s.send, e) || receive_chunk(a, &s, e))
			return -1;
		a->step++;
	}
	a->hop.total_ns += verbs_now_ns() - start;
	if (check_sums(a, e))
		return -1;
	a->data.round++;
	return 0;
}

/* ---- what came of it ---- */

/* The figures of each rank go around the ring once. */
int allreduce_gather(struct allreduce *a, struct wire_hop *hops, struct err *e)
{
	struct wire_msg m = { .type = WIRE_HOP, .hop = a->hop };

	hops[a->rank] = a->hop;
	for (unsigned i = 1; i < a->data.ranks; i++) {
		if (tcp_send(&a->next_tcp, &m, e) || tcp_receive(&a->before_tcp, WIRE_HOP, &m, e))
			return -1;
		unsigned want = (a->rank + a->data.ranks - i) % a->data.ranks;
		if (m.hop.rank != want)
			return err_set(e, ERR_DECODE, 0,
				       "figures of rank %u came where rank %u's were due",
				       m.hop.rank, want);
		hops[want] = m.hop;
	}
	return 0;
}

/* The next rank may still wait for this one, and would not see an error that came before. */
static void tell_next(struct allreduce *a, const struct err *why)
{
	const struct tcp_to to = { .peer = a->peers.list[allreduce_next_of(a)],
				   .from = a->peers.list[a->rank].addr,
				   .timeout_ms = TELL_MS };
	struct err ignored = { 0 };

	if (a->next_tcp.fd >= 0 || tcp_connect(&to, &a->next_tcp, &ignored) == 0)
		tcp_send_fault(&a->next_tcp, why);
}

void allreduce_report(struct allreduce *a, const struct err *why)
{
	tell_next(a, why);
	if (a->before_tcp.fd >= 0)
		tcp_send_fault(&a->before_tcp, why);
}

void allreduce_close(struct allreduce *a)
{
	verbs_close(&a->next.conn);
	verbs_close(&a->before.conn);
	tcp_close(&a->next_tcp);
	tcp_close(&a->before_tcp);
}

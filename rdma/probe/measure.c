/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c: latency by ping-pong, then bandwidth in bursts; each received byte is checked. */
#include "rdma/probe/measure.h"

#include "rdma/probe/card.h"
#include "rdma/probe/pattern.h"
#include "rdma/job/stats.h"

#define MEMORY      (16u << 20) /* bytes for each direction; one message if that is longer */
#define ALIGN       64u
#define SMALL       64u    /* bytes of a message that measures latency */
#define SMALL_SLOTS 4u     /* a slow end is at most two messages behind */
#define SIGNAL      16u    /* one of so many sends requests a completion */
#define TRIPS       10000u /* enough samples for a 99th percentile */

bool run_is_local(const struct run *r)
{
	return card_is_one(r->own.card, r->peer.card);
}

static size_t slot_stride(const struct wire_hello *h)
{
	return (h->size + (size_t)ALIGN - 1) / ALIGN * ALIGN;
}

/* The number of messages in a burst. */
static size_t burst_slots(const struct wire_hello *h, size_t depth)
{
	size_t n = MEMORY / slot_stride(h);

	n = n < depth ? n : depth;
	n = n < h->iterations ? n : h->iterations;
	return n ? n : 1;
}

size_t measure_memory(const struct wire_hello *h)
{
	size_t size = burst_slots(h, MEASURE_DEPTH) * slot_stride(h);

	return size > SMALL_SLOTS * SMALL ? size : SMALL_SLOTS * SMALL;
}

/* Wait until the peer is at the same point. All data before were right. */
static int measure_barrier(struct run *r, struct err *e)
{
	struct wire_msg m = { .type = WIRE_READY, .ready.n = ++r->met };

	if (tcp_send(r->tcp, &m, e) || tcp_receive(r->tcp, WIRE_READY, &m, e))
		return -1;
	if (m.ready.n != r->met)
		return err_set(e, ERR_DECODE, 0, "the peer is at step %u, this end at %u",
			       m.ready.n, r->met);
	return 0;
}

/* ---- the data ---- */

/* A stream is a kind of transfer from one end. */
static uint64_t measure_key_of(const struct run *r, unsigned kind, bool from_client, uint64_t n)
{
	return pattern_key(r->hello.seed, 2 * kind + from_client, n);
}
#define KIND_TRIP WAYS

struct checked {
	size_t at, len;
	unsigned kind;
	uint64_t n; /* of the message */
};

static int check_message(struct run *r, const struct checked *m, struct err *e)
{
	static const char *const names[] = { "send", "RDMA write", "round trip" };
	struct pattern_fault f;
	const uint8_t *p = verbs_in(r->conn);

	if (pattern_check(p + m->at, m->len, measure_key_of(r, m->kind, !r->client, m->n), &f)) {
		r->result.checked += m->len;
		r->result.messages++;
		return 0;
	}
	return err_set(
		e, ERR_STATE, 0,
		"data came out wrong: message %llu (%s) has %zu wrong bytes of %zu; the first is "
		"byte %zu: 0x%02x where 0x%02x was sent",
		(unsigned long long)m->n, names[m->kind], f.wrong, m->len, f.offset, f.got, f.want);
}

static int wrong_length(size_t got, size_t want, struct err *e)
{
	return err_set(e, ERR_STATE, 0, "data came out wrong: a message of %zu bytes came as %zu",
		       want, got);
}

/* ---- posting and reaping ---- */

static int post_send(struct run *r, const struct verbs_send *s, struct err *e)
{
	if (verbs_post(r->conn, s, e))
		return -1;
	r->signals += s->signal;
	return 0;
}

/* The next message received. */
static int reap_message(struct run *r, struct verbs_done *done, struct err *e)
{
	do {
		if (verbs_reap(r->conn, done, e))
			return -1;
		r->signals -= !done->received;
	} while (!done->received);
	return 0;
}

/* Wait until at most `left` sends are not complete. No message arrives meanwhile. */
static int drain_sends(struct run *r, unsigned left, struct err *e)
{
	struct verbs_done done;

	while (r->signals > left) {
		if (verbs_reap(r->conn, &done, e))
			return -1;
		if (done.received)
			return err_set(e, ERR_STATE, 0, "the peer sent when it was not its turn");
		r->signals--;
	}
	return 0;
}

/* ---- latency ---- */

static uint32_t round_trips(const struct run *r)
{
	return r->hello.iterations < TRIPS ? r->hello.iterations : TRIPS;
}

static size_t small_size(const struct run *r)
{
	return r->hello.size < SMALL ? r->hello.size : SMALL;
}

static size_t small_slot(uint64_t n)
{
	return n % SMALL_SLOTS * SMALL;
}

static int send_small(struct run *r, uint64_t n, struct err *e)
{
	struct verbs_send s = { .op = VERBS_SEND,
				.from = small_slot(n),
				.len = small_size(r),
				.signal = n % SIGNAL == SIGNAL - 1 || n + 1 == round_trips(r) };

	return post_send(r, &s, e);
}

/* Check the n-th message, and post its slot again. */
static int check_small(struct run *r, const struct verbs_done *done, uint64_t n, struct err *e)
{
	struct checked m = { done->at, small_size(r), KIND_TRIP, n };

	if (done->len != small_size(r))
		return wrong_length(done->len, small_size(r), e);
	if (check_message(r, &m, e))
		return -1;
	return n + SMALL_SLOTS < round_trips(r) ? verbs_receive(r->conn, done->at, small_size(r), e)
						: 0;
}

/* A client's round trip lasts from its send to the answer. The check is not part of it. */
static int round_trip(struct run *r, uint64_t n, uint64_t *sample, struct err *e)
{
	struct verbs_done done;

	pattern_fill((uint8_t *)verbs_out(r->conn) + small_slot(n), small_size(r),
		     measure_key_of(r, KIND_TRIP, r->client, n));
	uint64_t start = verbs_now_ns();
	if (r->client && send_small(r, n, e))
		return -1;
	if (reap_message(r, &done, e))
		return -1;
	if (!r->client && send_small(r, n, e))
		return -1;
	*sample = (verbs_now_ns() - start) / 2;
	return check_small(r, &done, n, e);
}

static int measure_latency(struct run *r, struct err *e)
{
	auto_free uint64_t *samples = calloc(round_trips(r), sizeof(*samples));

	if (!samples)
		return err_nomem(e);
	for (uint64_t n = 0; n < SMALL_SLOTS && n < round_trips(r); n++) {
		if (verbs_receive(r->conn, small_slot(n), small_size(r), e))
			return -1;
	}
	if (measure_barrier(r, e))
		return -1;
	for (uint64_t n = 0; n < round_trips(r); n++) {
		if (round_trip(r, n, &samples[n], e))
			return -1;
	}
	if (drain_sends(r, 0, e))
		return -1;
	struct latency l = stats_latency(samples, round_trips(r));
	r->result.lat_count = round_trips(r);
	r->result.lat_min = l.min;
	r->result.lat_p50 = l.p50;
	r->result.lat_p99 = l.p99;
	r->result.lat_max = l.max;
	return 0;
}

/* ---- bandwidth ---- */

struct burst {
	enum wire_way way;
	uint64_t first; /* message */
	size_t count;
};

static int measure_send_one(struct run *r, const struct burst *b, size_t i, struct err *e)
{
	bool last = i + 1 == b->count;
	struct verbs_send s = { .op = VERBS_SEND,
				.from = i * slot_stride(&r->hello),
				.to = i * slot_stride(&r->hello),
				.len = r->hello.size,
				.mark = (uint32_t)b->first,
				.signal = last || i % SIGNAL == SIGNAL - 1 };

	if (b->way == WAY_WRITE)
		s.op = last ? VERBS_WRITE_TELL : VERBS_WRITE;
	return post_send(r, &s, e);
}

static int burst_out(struct run *r, const struct burst *b, struct err *e)
{
	/* So many sends in the queue leave space for a new one. */
	unsigned most = verbs_depth(r->conn) / SIGNAL;
	uint8_t *out = verbs_out(r->conn);

	for (size_t i = 0; i < b->count; i++)
		pattern_fill(out + i * slot_stride(&r->hello), r->hello.size,
			     measure_key_of(r, b->way, r->client, b->first + i));
	if (measure_barrier(r, e))
		return -1;
	uint64_t start = verbs_now_ns();
	for (size_t i = 0; i < b->count; i++) {
		if (measure_send_one(r, b, i, e) || drain_sends(r, most > 1 ? most - 1 : 0, e))
			return -1;
	}
	if (drain_sends(r, 0, e))
		return -1;
	r->result.out[b->way].ns += verbs_now_ns() - start;
	r->result.out[b->way].bytes += b->count * (uint64_t)r->hello.size;
	return 0;
}

static int receive_sends(struct run *r, const struct burst *b, struct err *e)
{
	struct verbs_done done;

	for (size_t i = 0; i < b->count; i++) {
		if (reap_message(r, &done, e))
			return -1;
		if (done.len != r->hello.size || done.at != i * slot_stride(&r->hello))
			return wrong_length(done.len, r->hello.size, e);
	}
	return 0;
}

/* When the last write of a burst completes, all writes before it are there. */
static int receive_writes(struct run *r, const struct burst *b, struct err *e)
{
	struct verbs_done done;

	if (reap_message(r, &done, e))
		return -1;
	if (!done.has_mark || done.mark != (uint32_t)b->first)
		return err_set(e, ERR_STATE, 0,
			       "data came out wrong: write carried message %u, expected %u",
			       done.mark, (uint32_t)b->first);
	return 0;
}

static int burst_in(struct run *r, const struct burst *b, struct err *e)
{
	size_t receives = b->way == WAY_SEND ? b->count : 1;

	for (size_t i = 0; i < receives; i++) {
		size_t len = b->way == WAY_SEND ? r->hello.size : 0;
		if (verbs_receive(r->conn, i * slot_stride(&r->hello), len, e))
			return -1;
	}
	if (measure_barrier(r, e))
		return -1;
	if (b->way == WAY_SEND ? receive_sends(r, b, e) : receive_writes(r, b, e))
		return -1;
	for (size_t i = 0; i < b->count; i++) {
		struct checked m = { i * slot_stride(&r->hello), r->hello.size, b->way,
				     b->first + i };
		if (check_message(r, &m, e))
			return -1;
	}
	return 0;
}

static int one_way(struct run *r, enum wire_way way, bool out, struct err *e)
{
	size_t most = burst_slots(&r->hello, verbs_depth(r->conn));

	for (uint64_t n = 0; n < r->hello.iterations;) {
		size_t left = r->hello.iterations - n;
		struct burst b = { way, n, left < most ? left : most };
		if (out ? burst_out(r, &b, e) : burst_in(r, &b, e))
			return -1;
		n += b.count;
	}
	return 0;
}

/* ---- all of it ---- */

static int swap_results(struct run *r, struct err *e)
{
	struct wire_msg m = { .type = WIRE_RESULT, .result = r->result };

	if (tcp_send(r->tcp, &m, e) || tcp_receive(r->tcp, WIRE_RESULT, &m, e))
		return -1;
	for (size_t i = 0; i < WAYS; i++)
		r->result.in[i] = m.result.out[i];
	r->result.checked += m.result.checked;
	r->result.messages += m.result.messages;
	return 0;
}

int measure(struct run *r, struct err *e)
{
	if (measure_latency(r, e))
		return -1;
	for (enum wire_way way = WAY_SEND; way < WAYS; way++) {
		if (one_way(r, way, r->client, e) || one_way(r, way, !r->client, e))
			return -1;
	}
	return swap_results(r, e);
}

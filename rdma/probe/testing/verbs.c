/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.c: devices in memory: each connection copies between the memories of two threads. */
#include "rdma/probe/testing/verbs.h"

#include <pthread.h>
#include <string.h>

#include "rdma/probe/wire.h"

#define QUEUE 2048

/* A test is a process with a few threads; one lock for everything. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct {
	enum spoil how;
	unsigned n, posted, depth;
	size_t byte;
	bool refuse_client, refuse_server, misused;
	struct verbs_conn *all;
	struct verbs_pick picked[2]; /* of clients, of servers */
} device;

struct verbs_conn {
	struct verbs_conn *older;
	struct verbs_plan plan;
	unsigned depth;
	uint8_t *out, *in;
	struct verbs_conn *peer;
	struct tcp *control;
	bool closed;
	struct {
		size_t at, len;
	} receives[QUEUE];
	struct verbs_done done[QUEUE];
	size_t n_receives, n_done;
	size_t queued, untold; /* sends without a completion; of these, those after the last
				  signalled one */
};

void testing_verbs_spoil(enum spoil how, unsigned n, size_t byte)
{
	device.how = how;
	device.n = n;
	device.byte = byte;
	device.posted = 0;
}

void testing_verbs_depth(unsigned depth)
{
	device.depth = depth;
}

void testing_verbs_refuse(bool client, bool server)
{
	device.refuse_client = client;
	device.refuse_server = server;
}

struct verbs_pick testing_verbs_picked(bool server)
{
	return device.picked[server];
}

bool testing_verbs_misused(void)
{
	return device.misused;
}

/* ---- connections ---- */

int verbs_open(const struct verbs_plan *plan, const struct wire_path *peer, struct tcp *control,
	       struct verbs_conn **out, struct err *e)
{
	struct verbs_conn *c = calloc(1, sizeof(*c));

	(void)peer;
	if (plan->server ? device.refuse_server : device.refuse_client) {
		free(c);
		return err_set(e, ERR_UNAVAILABLE, 0, "this device is refused");
	}
	if (!c)
		return err_nomem(e);
	*c = (struct verbs_conn){ .plan = *plan,
				  .depth = device.depth ? device.depth : plan->depth,
				  .control = control,
				  .out = calloc(1, plan->out + 1),
				  .in = calloc(1, plan->in + 1) };
	if (!c->out || !c->in)
		return err_nomem(e);
	(void)pthread_mutex_lock(&lock);
	c->older = device.all;
	device.all = c;
	device.picked[plan->server] = plan->pick;
	(void)pthread_mutex_unlock(&lock);
	*out = c;
	return 0;
}

/* The peer may still use the memory, so only the end of the process frees it. */
void verbs_close(struct verbs_conn **c)
{
	if (!*c)
		return;
	(void)pthread_mutex_lock(&lock);
	(*c)->closed = true;
	(void)pthread_cond_broadcast(&changed);
	(void)pthread_mutex_unlock(&lock);
	*c = NULL;
}

void verbs_path(const struct verbs_conn *c, struct wire_path *out)
{
	*out = (struct wire_path){ .device = "testing",
				   .mtu = 5,
				   .depth = c->depth,
				   .address = (uintptr_t)c,
				   .length = c->plan.in };
}

int verbs_join(struct verbs_conn *c, const struct wire_path *peer, struct err *e)
{
	(void)e;
	c->peer = (struct verbs_conn *)(uintptr_t)peer->address;
	if (peer->depth < c->depth)
		c->depth = peer->depth;
	return 0;
}

unsigned verbs_depth(const struct verbs_conn *c)
{
	return c->depth;
}

unsigned verbs_mtu(const struct verbs_conn *c)
{
	(void)c;
	return 4096;
}

void *verbs_out(const struct verbs_conn *c)
{
	return c->out;
}

void *verbs_in(const struct verbs_conn *c)
{
	return c->in;
}

/* ---- the wire ---- */

static void finish(struct verbs_conn *c, struct verbs_done done)
{
	if (c->n_done == QUEUE)
		device.misused = true;
	else
		c->done[c->n_done++] = done;
	(void)pthread_cond_broadcast(&changed);
}

int verbs_receive(struct verbs_conn *c, size_t at, size_t len, struct err *e)
{
	(void)pthread_mutex_lock(&lock);
	bool full = c->n_receives >= c->depth || c->n_receives == QUEUE;
	if (full || at + len > c->plan.in) {
		device.misused = true;
	} else {
		c->receives[c->n_receives].at = at;
		c->receives[c->n_receives++].len = len;
	}
	(void)pthread_mutex_unlock(&lock);
	return full ? err_set(e, ERR_KERNEL, 0, "the receive queue is full") : 0;
}

/* Complete a receive of the peer with len bytes; told: by a write with a mark. */
static void arrive(struct verbs_conn *c, const struct verbs_send *s, const uint8_t *data,
		   size_t len)
{
	struct verbs_conn *peer = c->peer;
	struct verbs_done done = { .received = true, .len = len };

	if (!peer->n_receives || (s->op == VERBS_SEND && len > peer->receives[0].len)) {
		device.misused = true;
		return;
	}
	done.at = peer->receives[0].at;
	done.has_mark = s->op == VERBS_WRITE_TELL;
	done.mark = s->mark;
	if (s->op == VERBS_SEND)
		memcpy(peer->in + done.at, data, len);
	memmove(peer->receives, peer->receives + 1, --peer->n_receives * sizeof(*peer->receives));
	finish(peer, done);
}

static void deliver(struct verbs_conn *c, struct verbs_send s, enum spoil how)
{
	uint8_t *data = c->out + s.from;
	size_t len = s.len - (how == SPOIL_LENGTH && s.len);

	if (s.from + s.len > c->plan.out || c->closed)
		device.misused = true;
	if (how == SPOIL_BIT)
		data[device.byte] ^= 0x40;
	if (how == SPOIL_ELSEWHERE)
		s.to = s.to + s.len + 64 <= c->peer->plan.in ? s.to + 64 : 0;
	if (how == SPOIL_STALE)
		s.mark += 7;
	if (s.op != VERBS_SEND && s.to + len > c->peer->plan.in)
		device.misused = true;
	else if (s.op != VERBS_SEND && how != SPOIL_LOST)
		memcpy(c->peer->in + s.to, data, len);
	if (s.op != VERBS_WRITE && !(s.op == VERBS_SEND && how == SPOIL_LOST))
		arrive(c, &s, data, len);
	if (how == SPOIL_TWICE)
		arrive(c, &s, data, len);
}

int verbs_post(struct verbs_conn *c, const struct verbs_send *s, struct err *e)
{
	enum spoil how = SPOIL_NOTHING;

	(void)pthread_mutex_lock(&lock);
	if (!c->plan.server && device.posted++ == device.n)
		how = device.how;
	if (how != SPOIL_ERROR)
		deliver(c, *s, how);
	/* Sends without a completion stay in the queue. */
	if (++c->queued > c->depth)
		device.misused = true;
	c->untold++;
	if (s->signal) {
		finish(c, (struct verbs_done){ .at = s->from, .len = c->untold });
		c->untold = 0;
	}
	(void)pthread_mutex_unlock(&lock);
	return how == SPOIL_ERROR ? err_set(e, ERR_KERNEL, 0, "posting is spoilt") : 0;
}

int verbs_reap(struct verbs_conn *c, struct verbs_done *out, struct err *e)
{
	int rc = 0;

	(void)pthread_mutex_lock(&lock);
	while (!c->n_done && !c->peer->closed)
		(void)pthread_cond_wait(&changed, &lock);
	if (c->n_done) {
		*out = c->done[0];
		memmove(c->done, c->done + 1, --c->n_done * sizeof(*c->done));
		if (!out->received)
			c->queued -= out->len;
	} else {
		rc = -1;
	}
	(void)pthread_mutex_unlock(&lock);
	if (!rc)
		return 0;
	return tcp_alive(c->control, e) ? -1
					: err_set(e, ERR_IO, 0, "the peer's queue pair is gone");
}

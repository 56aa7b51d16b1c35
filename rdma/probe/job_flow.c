/* SPDX-License-Identifier: Apache-2.0 */
/* job_flow.c: one test of a rank, in a process of its own: reach, or rates for some time. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "lib/base/base64.h"
#include "rdma/probe/job.h"
#include "rdma/probe/pattern.h"

#define SMALL 8u
#define LARGE 16384u /* bytes: several full packets, whatever the MTU */
/* 4.096 us * 2^18 is 1 s until a packet is repeated: a loaded link is not a dead one. */
#define PATIENT   18
#define INFLIGHT  4u /* writes of a queue pair */
#define REACH_MS  3000
#define LOAD_MS   8000
#define START_MS  20000 /* until rank 0 has both ends ready */
#define GAP_NS    UINT64_C(50000000)
#define LINGER_NS UINT64_C(200000000) /* the other end may write a little longer */
#define MS_NS     UINT64_C(1000000)

struct flow {
	const struct job_msg *prepare;
	int fd;
	struct tcp control; /* only its timeout, and whether the rank still lives */
	struct verbs_conn *conns[JOB_QPS];
	size_t n, piece; /* piece: bytes of a write */
	struct job_msg msg, result;
};

/* ---- with the process of the rank ---- */

static int tell(struct flow *f, enum job_type type, struct err *e)
{
	f->msg.type = type;
	f->msg.id = f->prepare->id;
	return send(f->fd, &f->msg, sizeof(f->msg), MSG_NOSIGNAL) == (ssize_t)sizeof(f->msg)
		       ? 0
		       : err_set(e, ERR_IO, errno, "the process of the rank ended");
}

static int await_go(struct flow *f, struct err *e)
{
	struct pollfd p = { .fd = f->fd, .events = POLLIN };

	if (poll(&p, 1, START_MS) <= 0)
		return err_set(e, ERR_AGAIN, 0, "the other end was not ready in time");
	if (recv(f->fd, &f->msg, sizeof(f->msg), 0) != (ssize_t)sizeof(f->msg) ||
	    f->msg.type != JOB_GO)
		return err_set(e, ERR_IO, 0, "the test was stopped");
	return 0;
}

/* ---- queue pairs ---- */

static int open_conns(struct flow *f, const struct conf *c, const struct job_own_rail *rail,
		      struct err *e)
{
	bool reach = f->prepare->kind == JUDGE_REACH;
	size_t bytes = reach ? LARGE : c->size;
	int tc = c->has_tc ? c->tc : c->nccl.tc;
	struct verbs_plan plan = {
		.pick = { .device = *rail->device ? rail->device : NULL,
			  .port = rail->port,
			  .gid_index = rail->address.family == IP_NONE ? 0 : -1,
			  .sl = c->nccl.sl > 0 ? (uint8_t)c->nccl.sl : c->sl,
			  .has_tc = tc >= 0,
			  .tc_of_nccl = !c->has_tc,
			  .tc = tc < 0 ? 0 : (uint8_t)tc,
			  .label = f->prepare->label,
			  .local = rail->address },
		.out = bytes,
		.in = bytes,
		.depth = 2 * INFLIGHT,
		.ack_timeout = reach ? 0 : PATIENT,
	};

	f->n = reach ? 1 : JOB_QPS;
	f->piece = c->size;
	for (size_t i = 0; i < f->n; i++) {
		/* The bytes of a test of reach are compared, which the host cannot do in a GPU. */
		if (!reach)
			plan.gpu = rail->gpu;
		plan.gpu.at = i * 2 * verbs_stride(bytes);
		if (verbs_open(&plan, NULL, &f->control, &f->conns[i], e))
			return -1;
	}
	return 0;
}

static int send_paths(struct flow *f, struct err *e)
{
	memset(&f->msg, 0, sizeof(f->msg));
	f->msg.n_paths = f->n;
	for (size_t i = 0; i < f->n; i++) {
		struct wire_msg m = { .type = WIRE_PATH };
		uint8_t frame[WIRE_FRAME];
		verbs_path(f->conns[i], &m.path);
		size_t len = wire_encode(&m, frame);
		if (BASE64_CHARS(len) >= JOB_PATH)
			return err_set(e, ERR_STATE, 0, "a PATH of %zu bytes", len);
		base64_encode(frame, len, f->msg.paths[i].text);
	}
	return tell(f, JOB_READY, e);
}

static int join(struct flow *f, struct err *e)
{
	if (f->msg.n_paths != f->n)
		return err_set(e, ERR_DECODE, 0, "%zu paths came, not %zu", f->msg.n_paths, f->n);
	for (size_t i = 0; i < f->n; i++) {
		uint8_t frame[BASE64_BYTES(JOB_PATH)];
		struct wire_msg m;
		const char *text = f->msg.paths[i].text;
		ssize_t len = base64_decode(text, strlen(text), frame);
		if (len < 0 || wire_decode(frame, (size_t)len, &m, e))
			return err_set(e, ERR_DECODE, 0, "a path is not one of rdma-probe");
		if (m.type != WIRE_PATH)
			return err_set(e, ERR_DECODE, 0, "a path is another message");
		if (verbs_join(f->conns[i], &m.path, e))
			return -1;
	}
	if (f->prepare->kind == JUDGE_REACH && verbs_receive(f->conns[0], 0, LARGE, e))
		return -1;
	memset(&f->msg, 0, sizeof(f->msg));
	return tell(f, JOB_READY, e);
}

/* ---- reach ---- */

/* Both ends know the bytes that the other one sends: by the number of the test, and who is first.
 */
static uint64_t key_of(const struct flow *f, bool first)
{
	return pattern_key(f->prepare->id, first, 0);
}

static int reach(struct flow *f, struct err *e)
{
	struct verbs_conn *c = f->conns[0];
	const struct verbs_send small = { .op = VERBS_WRITE, .len = SMALL, .signal = true };
	const struct verbs_send large = { .op = VERBS_WRITE_TELL, .len = LARGE, .signal = true };
	struct verbs_done done;
	struct pattern_fault fault;
	bool sent = false, received = false;

	f->result.outcome = JUDGE_NO_SMALL;
	if (verbs_post(c, &small, e))
		return -1;
	while (!sent) {
		if (verbs_reap(c, &done, e))
			return -1;
		sent |= !done.received;
		received |= done.received;
	}
	f->result.outcome = JUDGE_NO_LARGE;
	pattern_fill(verbs_out(c), LARGE, key_of(f, f->prepare->first));
	if (verbs_post(c, &large, e))
		return -1;
	for (sent = false; !sent || !received;) {
		if (verbs_reap(c, &done, e))
			return -1;
		sent |= !done.received;
		received |= done.received;
	}
	f->result.outcome = JUDGE_DONE;
	if (pattern_check(verbs_in(c), LARGE, key_of(f, !f->prepare->first), &fault))
		return 0;
	f->result.outcome = JUDGE_A_FAILED;
	return err_set(e, ERR_STATE, 0, "received data are wrong: %zu bytes, the first at %zu",
		       fault.wrong, fault.offset);
}

/* ---- rates ---- */

static void sleep_until(uint64_t ns)
{
	const struct timespec t = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static int post(struct flow *f, size_t i, struct err *e)
{
	const struct verbs_send s = { .op = VERBS_WRITE, .len = f->piece, .signal = true };

	return verbs_post(f->conns[i], &s, e);
}

/*
 * Write from start on; the bytes count that were acknowledged after the warm-up. The queue pairs
 * take turns, as those of NCCL do, which shares each message among them: the slowest counts.
 */
static int pump(struct flow *f, uint64_t start, uint64_t *rate, struct err *e)
{
	uint64_t warm = start + f->prepare->warm_ms * MS_NS;
	uint64_t end = warm + f->prepare->run_ms * MS_NS, begun = 0, last = 0, bytes = 0;
	size_t open = 0;

	sleep_until(start);
	for (size_t i = 0; i < f->n * INFLIGHT; i++, open++) {
		if (post(f, i % f->n, e))
			return -1;
	}
	for (size_t i = 0; open; i++) {
		struct verbs_done done;
		if (verbs_reap(f->conns[i % f->n], &done, e))
			return -1;
		open--;
		last = verbs_now_ns();
		if (begun && last < end)
			bytes += f->piece;
		else if (!begun && last >= warm)
			begun = last;
		if (last < end) {
			if (post(f, i % f->n, e))
				return -1;
			open++;
		}
	}
	last = last < end ? last : end;
	*rate = begun && last > begun ? bytes * 1000000000u / (last - begun) : 0;
	return 0;
}

static int load(struct flow *f, struct err *e)
{
	const struct job_msg *p = f->prepare;
	uint64_t slot = (p->warm_ms + p->run_ms) * MS_NS + GAP_NS, start = verbs_now_ns() + GAP_NS;
	uint64_t stopped = job_throttled();

	if (pump(f, start + (p->first ? 0 : slot), &f->result.alone, e) ||
	    pump(f, start + 2 * slot, &f->result.both, e))
		return -1;
	f->result.noisy = job_throttled() != stopped;
	f->result.outcome = JUDGE_DONE;
	sleep_until(start + 3 * slot + LINGER_NS);
	return 0;
}

/* ---- all of it ---- */

/* A transfer that breaks in a test of rates: the way is not good enough for full packets. */
static int run(struct flow *f, const struct conf *c, const struct job_own_rail *rail, struct err *e)
{
	if (open_conns(f, c, rail, e) || send_paths(f, e) || await_go(f, e) || join(f, e) ||
	    await_go(f, e))
		return -1;
	if (f->prepare->kind == JUDGE_REACH)
		return reach(f, e);
	f->result.outcome = JUDGE_NO_LARGE;
	return load(f, e);
}

void job_flow(const struct conf *c, const struct job_own_rail *rail, const struct job_msg *prepare,
	      int fd)
{
	struct flow *f = calloc(1, sizeof(*f));
	struct err e = { 0 }, ignored = { 0 };

	if (!f)
		return;
	f->prepare = prepare;
	f->fd = fd;
	f->control =
		(struct tcp){ .fd = fd,
			      .timeout_ms = prepare->kind == JUDGE_REACH ? REACH_MS : LOAD_MS };
	f->result.outcome = JUDGE_A_FAILED;
	if (run(f, c, rail, &e))
		(void)snprintf(f->result.text, sizeof(f->result.text), "%.*s",
			       (int)sizeof(f->result.text) - 1, e.msg);
	for (size_t i = 0; i < JOB_QPS; i++)
		verbs_close(&f->conns[i]);
	f->msg = f->result;
	if (tell(f, JOB_RESULT, &ignored))
		(void)fprintf(stderr, "rdma-probe: %s\n", ignored.msg);
	free(f);
}

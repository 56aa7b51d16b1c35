/* SPDX-License-Identifier: Apache-2.0 */
/* job_root.c: rank 0 leads: it asks the judge for tests, has the ranks run them, and says the end.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "lib/base/array.h"
#include "rdma/probe/job.h"

#define CASES_MAX  (1u << 20)
#define READY_MS   8000 /* devices to open, queue pairs to connect */
#define REACH_MS   8000
#define SPARE_MS   8000 /* a test of rates may end so much later */
#define WARM_MS    300
#define RUN_MS     1000
#define RUN_MIN_MS 200
#define FIXED_MS   8000 /* of the time for tests: reach, ends that are tested again */

/* ---- one batch ---- */

enum side_state { SIDE_OPENING, SIDE_OPEN, SIDE_JOINED, SIDE_DONE };

struct side {
	enum side_state state;
	struct job_path paths[JOB_QPS];
	size_t n_paths;
	struct job_msg *result; /* owned; NULL: none came */
};

struct batch {
	struct job_root *r;
	struct side (*sides)[2];
	size_t n;
	size_t waiting; /* sides that have not come to this state */
	enum side_state state;
	struct job_msg msg;
};

static struct job_member *member_of(struct batch *b, size_t i, unsigned which)
{
	const struct judge_test *t = &b->r->cases[b->r->at + i].test;

	return &b->r->members[which ? t->b : t->a];
}

static void lose(struct job_member *m, const struct err *why)
{
	m->dead = true;
	(void)snprintf(m->why, sizeof(m->why), "%.255s", why->msg);
	job_link_close(&m->link);
}

/* The rank could not run it: the other end waits in vain. */
static bool has_failed(struct batch *b, size_t i, unsigned which)
{
	const struct side *s = &b->sides[i][which];

	return member_of(b, i, which)->dead || (s->result && s->result->outcome == JUDGE_A_FAILED);
}

static size_t count_waiting(struct batch *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		for (unsigned k = 0; k < 2; k++)
			n += b->sides[i][k].state < b->state && !has_failed(b, i, 0) &&
			     !has_failed(b, i, 1);
	}
	return n;
}

/* The last one counts: it is of all tests until now. */
static void take_counted(const struct job_root *r, struct job_member *from, unsigned rail,
			 const char *counted)
{
	for (size_t i = 0; i < from->n_rails; i++) {
		struct job_rail *x = &from->rails[i];
		if (*counted && strcmp(x->interface, r->names[rail]) == 0)
			(void)snprintf(x->counted, sizeof(x->counted), "%s", counted);
	}
}

static void take_message(struct batch *b, struct job_member *from)
{
	size_t i = b->msg.id - b->r->at;
	unsigned which;
	struct side *s;

	if (b->msg.id < b->r->at || i >= b->n)
		return; /* its test has ended */
	which = member_of(b, i, 0) != from;
	if (member_of(b, i, which) != from)
		return;
	s = &b->sides[i][which];
	if (b->msg.type == JOB_RESULT && !s->result) {
		take_counted(b->r, from, b->r->cases[b->msg.id].test.rail, b->msg.counted);
		s->result = malloc(sizeof(*s->result));
		if (s->result)
			*s->result = b->msg;
		s->state = SIDE_DONE;
	} else if (b->msg.type == JOB_READY && s->state == SIDE_OPENING && b->msg.n_paths) {
		s->n_paths = b->msg.n_paths;
		memcpy(s->paths, b->msg.paths, sizeof(s->paths));
		s->state = SIDE_OPEN;
	} else if (b->msg.type == JOB_READY && s->state == SIDE_OPEN) {
		s->state = SIDE_JOINED;
	}
}

static void read_member(struct batch *b, struct job_member *m)
{
	struct err why = { 0 };
	int rc;

	while ((rc = job_link_read(&m->link, &b->msg, &why)) > 0)
		take_message(b, m);
	if (rc < 0)
		lose(m, &why);
}

static int await_state(struct batch *b, enum side_state state, int wait_ms, struct err *e)
{
	uint32_t ranks = b->r->conf->ranks;
	int64_t end = ctx_mono_ms() + wait_ms, left;
	auto_free struct pollfd *p = calloc(ranks, sizeof(*p));

	if (!p)
		return err_nomem(e);
	b->state = state;
	while (count_waiting(b) && (left = end - ctx_mono_ms()) > 0) {
		for (uint32_t i = 0; i < ranks; i++)
			p[i] = (struct pollfd){ .fd = b->r->members[i].link.fd, .events = POLLIN };
		(void)poll(p, ranks, (int)left);
		for (uint32_t i = 0; i < ranks; i++) {
			if (p[i].revents)
				read_member(b, &b->r->members[i]);
		}
	}
	return 0;
}

static void send_to(struct batch *b, struct job_member *m)
{
	struct err why = { 0 };

	if (!m->dead && m->link.fd >= 0 && job_link_send(&m->link, &b->msg, &why))
		lose(m, &why);
}

static void send_prepare(struct batch *b, size_t i, unsigned which, uint32_t run_ms)
{
	const struct judge_test *t = &b->r->cases[b->r->at + i].test;

	b->msg = (struct job_msg){ .type = JOB_PREPARE,
				   .id = (uint32_t)(b->r->at + i),
				   .kind = t->kind,
				   .first = !which,
				   .warm_ms = run_ms < RUN_MS ? run_ms / 3 : WARM_MS,
				   .run_ms = run_ms,
				   .label = b->r->cases[b->r->at + i].label };
	memcpy(b->msg.interface, b->r->names[t->rail], JOB_NAME);
	send_to(b, member_of(b, i, which));
}

/* To both ends of the tests that are in this state: go on, with the paths of the other end. */
static void send_go(struct batch *b, enum side_state state)
{
	for (size_t i = 0; i < b->n; i++) {
		for (unsigned k = 0; k < 2; k++) {
			const struct side *other = &b->sides[i][!k];
			if (b->sides[i][0].state != state || b->sides[i][1].state != state)
				continue;
			b->msg = (struct job_msg){ .type = JOB_GO, .id = (uint32_t)(b->r->at + i) };
			if (state == SIDE_OPEN) {
				b->msg.n_paths = other->n_paths;
				memcpy(b->msg.paths, other->paths, sizeof(other->paths));
			}
			send_to(b, member_of(b, i, k));
		}
	}
}

/* A test of which one end failed, or did not come so far, ends at the other, too. */
static void send_stop(struct batch *b, enum side_state state)
{
	for (size_t i = 0; i < b->n; i++) {
		for (unsigned k = 0; k < 2; k++) {
			bool lost = b->sides[i][!k].state != state;
			if (b->sides[i][k].state == SIDE_DONE ||
			    (!lost && b->sides[i][k].state == state))
				continue;
			b->msg = (struct job_msg){ .type = JOB_STOP,
						   .id = (uint32_t)(b->r->at + i) };
			send_to(b, member_of(b, i, k));
		}
	}
}

/* ---- results ---- */

/* It failed, or it was silent while the other end did not fail, and was not behind it. */
static bool side_failed(struct batch *b, size_t i, unsigned which)
{
	const struct side *s = &b->sides[i][which], *other = &b->sides[i][!which];

	if (has_failed(b, i, which))
		return true;
	return !s->result && !has_failed(b, i, !which) && other->state >= s->state;
}

/* A rank that did not answer costs its deadline once: it gets no more tests. */
static void lose_silent(struct batch *b)
{
	struct err why = { 0 };

	(void)err_set(&why, ERR_AGAIN, 0, "the rank did not answer in time");
	for (size_t i = 0; i < b->n; i++) {
		for (unsigned k = 0; k < 2; k++) {
			if (b->sides[i][k].state < b->state && !b->sides[i][k].result &&
			    !member_of(b, i, k)->dead && side_failed(b, i, k))
				lose(member_of(b, i, k), &why);
		}
	}
}

static const char *failure(struct batch *b, size_t i, unsigned which)
{
	const struct side *s = &b->sides[i][which];

	return s->result ? s->result->text : member_of(b, i, which)->why;
}

static void combine(struct batch *b, size_t i)
{
	struct job_case *c = &b->r->cases[b->r->at + i];
	const struct job_msg *x[2] = { b->sides[i][0].result, b->sides[i][1].result };
	struct judge_result *r = &c->result;

	*r = (struct judge_result){ .outcome = JUDGE_DONE };
	for (unsigned k = 0; k < 2; k++) {
		if (!side_failed(b, i, k))
			continue;
		r->outcome = k ? JUDGE_B_FAILED : JUDGE_A_FAILED;
		(void)snprintf(c->text, sizeof(c->text), "%.255s", failure(b, i, k));
		return;
	}
	for (unsigned k = 0; k < 2; k++) {
		if (!x[k] || x[k]->outcome == JUDGE_DONE || r->outcome == JUDGE_NO_SMALL)
			continue;
		r->outcome = x[k]->outcome;
		(void)snprintf(c->text, sizeof(c->text), "%.255s", x[k]->text);
	}
	if (!x[0] || !x[1])
		return;
	r->ab = (double)x[0]->alone;
	r->ba = (double)x[1]->alone;
	r->both_ab = (double)x[0]->both;
	r->both_ba = (double)x[1]->both;
	r->noisy = x[0]->noisy || x[1]->noisy;
}

static int run_batch(struct batch *b, uint32_t run_ms, struct err *e)
{
	bool reach = b->n && b->r->cases[b->r->at].test.kind == JUDGE_REACH;
	int wait = reach ? REACH_MS : (int)(3 * (run_ms + WARM_MS)) + SPARE_MS;

	for (size_t i = 0; i < b->n; i++) {
		send_prepare(b, i, 0, run_ms);
		send_prepare(b, i, 1, run_ms);
	}
	if (await_state(b, SIDE_OPEN, READY_MS, e))
		return -1;
	lose_silent(b);
	send_stop(b, SIDE_OPEN);
	send_go(b, SIDE_OPEN);
	if (await_state(b, SIDE_JOINED, READY_MS, e))
		return -1;
	lose_silent(b);
	send_stop(b, SIDE_JOINED);
	send_go(b, SIDE_JOINED);
	if (await_state(b, SIDE_DONE, wait, e))
		return -1;
	send_stop(b, SIDE_DONE);
	lose_silent(b);
	for (size_t i = 0; i < b->n; i++)
		combine(b, i);
	return 0;
}

int job_batch(struct job_root *r, const struct job_batch *of, struct err *e)
{
	auto_free struct batch *b = calloc(1, sizeof(*b));

	if (!b)
		return err_nomem(e);
	if (ARRAY_GROW_BY(r->cases, r->n_cases, of->n, CASES_MAX, "tests", e))
		return -1;
	*b = (struct batch){ .r = r, .n = of->n, .sides = calloc(of->n, sizeof(*b->sides)) };
	if (!b->sides)
		return err_nomem(e);
	r->at = r->n_cases;
	r->n_cases += of->n;
	for (size_t i = 0; i < of->n; i++)
		r->cases[r->at + i] = (struct job_case){ .test = of->tests[i], .label = of->label };
	int rc = run_batch(b, of->run_ms, e);
	for (size_t i = 0; i < of->n; i++) {
		free(b->sides[i][0].result);
		free(b->sides[i][1].result);
	}
	free(b->sides);
	return rc;
}

/* For the judge. */
static int one_batch(struct job_root *r, const struct job_batch *of, struct err *e)
{
	auto_free struct judge_result *results = calloc(of->n, sizeof(*results));

	if (!results)
		return err_nomem(e);
	if (job_batch(r, of, e))
		return -1;
	for (size_t i = 0; i < of->n; i++)
		results[i] = r->cases[r->at + i].result;
	return judge_results(r->judge, results, e);
}

/* ---- all of it ---- */

/* The time is shared by two rounds of each rail, one of all at once, and some for suspects. */
static uint32_t run_time(const struct job_root *r)
{
	int64_t slots = 3 * (2 * (int64_t)r->n_rails + 6), left = r->conf->test_ms - FIXED_MS;
	int64_t ms = left / slots * 3 / 4;

	return ms < RUN_MIN_MS ? RUN_MIN_MS : ms > RUN_MS ? RUN_MS : (uint32_t)ms;
}

static int run_tests(struct job_root *r, struct err *e)
{
	int64_t start = ctx_mono_ms();
	struct job_batch of = { .run_ms = run_time(r) };

	r->in_time = false;
	while (ctx_mono_ms() - start < r->conf->test_ms) {
		if (judge_next(r->judge, &of.tests, &of.n, e))
			return -1;
		if (!of.n) {
			r->in_time = true;
			break;
		}
		if (one_batch(r, &of, e))
			return -1;
	}
	if (r->conf->labels && !r->conf->in_use && job_labels_run(r, e))
		return -1;
	r->seconds = (double)(ctx_mono_ms() - start) / 1000;
	return judge_findings(r->judge, &r->findings, &r->n_findings, e);
}

bool job_fails(const struct job_root *r, const struct judge_finding *f)
{
	bool rate = f->cause == JUDGE_SLOW || f->cause == JUDGE_SLOW_ALL || f->cause == JUDGE_WHOLE;

	return f->fails || (rate && f->measured < r->conf->min_rate);
}

const struct job_member *job_busy(const struct job_root *r)
{
	for (uint32_t i = 0; i < r->conf->ranks && !r->conf->in_use; i++) {
		if (*r->members[i].busy)
			return &r->members[i];
	}
	return NULL;
}

static uint32_t status_of(const struct job_root *r)
{
	uint32_t status = CMD_OK;

	if (r->joined < r->conf->ranks)
		return PROBE_INCOMPLETE;
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct judge_finding *f = &r->findings[i];
		if (job_fails(r, f))
			return PROBE_OUTLIERS;
		if (f->cause == JUDGE_UNTESTED)
			status = PROBE_NOTHING;
	}
	return status;
}

int job_root_run(struct job_root *r, struct err *e)
{
	struct judge_facts facts;

	r->members = calloc(r->conf->ranks, sizeof(*r->members));
	if (!r->members)
		return err_nomem(e);
	for (uint32_t i = 0; i < r->conf->ranks; i++)
		r->members[i].link.fd = -1;
	if (job_gather(r, e) || job_tell_judge(r, e))
		return -1;
	r->status = PROBE_INCOMPLETE;
	if (r->joined < r->conf->ranks)
		return 0;
	r->status = PROBE_NOTHING;
	if (job_busy(r))
		return 0;
	facts = (struct judge_facts){ .n_ranks = r->conf->ranks,
				      .n_rails = r->n_rails,
				      .ranks = r->ranks,
				      .reach_only = r->conf->in_use };
	if (getrandom(&facts.seed, sizeof(facts.seed), 0) != sizeof(facts.seed))
		return err_set(e, ERR_IO, errno, "getting a random number");
	if (judge_new(&facts, &r->judge, e) || run_tests(r, e))
		return -1;
	r->status = status_of(r);
	return 0;
}

void job_root_end(struct job_root *r, const char *text)
{
	struct job_msg m = { .type = JOB_END, .status = r->status };
	struct err ignored;

	(void)snprintf(m.text, sizeof(m.text), "%s", text);
	for (uint32_t i = 0; r->members && i < r->conf->ranks; i++) {
		ignored = (struct err){ 0 };
		if (r->members[i].link.fd >= 0 && job_link_send(&r->members[i].link, &m, &ignored))
			r->members[i].dead = true;
		job_link_close(&r->members[i].link);
	}
}

void job_root_clear(struct job_root *r)
{
	for (uint32_t i = 0; r->members && i < r->conf->ranks; i++) {
		job_link_close(&r->members[i].link);
		free(r->members[i].rails);
	}
	if (r->listening >= 0)
		(void)close(r->listening);
	judge_free(&r->judge);
	free(r->members);
	free(r->ranks);
	free(r->leaves);
	free(r->cases);
}

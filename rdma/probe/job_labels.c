/* SPDX-License-Identifier: Apache-2.0 */
/* job_labels.c: one rail between two leaves, by one flow label after the other. */
#include <string.h>

#include "rdma/probe/job.h"

#define LABEL_MS 200
/* Labels that have different UDP ports: those are the lower 14 bits. Neighbours are far apart. */
#define LABEL_STEP 509u

static uint32_t label_of(uint32_t i)
{
	return 1 + i * LABEL_STEP;
}

static bool can_do(const struct job_root *r, uint32_t rank, unsigned rail)
{
	const struct job_member *m = &r->members[rank];

	for (size_t k = 0; k < m->n_rails; k++) {
		const struct job_rail *x = &m->rails[k];
		if (strcmp(x->interface, r->names[rail]) == 0)
			return !m->dead && !*x->problem && strcmp(x->gid_kind, "InfiniBand") != 0 &&
			       r->ranks[rank].rails[rail].leaf != JUDGE_NONE;
	}
	return false;
}

/* Other ranks for each rail, as far as there are others. False: the rail has one leaf at most. */
static bool find_pair(const struct job_root *r, unsigned rail, struct judge_test *out)
{
	uint32_t ranks = r->conf->ranks, a = ranks;

	for (uint32_t i = 0; i < ranks; i++) {
		uint32_t at = (i + 2 * rail) % ranks;
		if (!can_do(r, at, rail))
			continue;
		if (a == ranks)
			a = at;
		if (r->ranks[at].rails[rail].leaf == r->ranks[a].rails[rail].leaf)
			continue;
		*out = (struct judge_test){ JUDGE_LOAD, (uint16_t)a, (uint16_t)at, (uint8_t)rail };
		return true;
	}
	return false;
}

int job_labels_run(struct job_root *r, struct err *e)
{
	struct judge_test tests[JOB_RAILS];
	struct job_batch of = { .tests = tests, .run_ms = LABEL_MS };

	for (unsigned rail = 0; rail < r->n_rails; rail++)
		of.n += find_pair(r, rail, &tests[of.n]);
	for (uint32_t i = 0; of.n && i < r->conf->labels; i++) {
		of.label = label_of(i);
		if (job_batch(r, &of, e))
			return -1;
	}
	return 0;
}

static int order_rates(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void job_labels_of(const struct job_root *r, unsigned rail, struct job_labels *out)
{
	double rates[JOB_LABELS];

	*out = (struct job_labels){ 0 };
	for (size_t i = 0; i < r->n_cases && out->n + out->failed < JOB_LABELS; i++) {
		const struct job_case *c = &r->cases[i];
		if (!c->label || c->test.rail != rail)
			continue;
		out->a = c->test.a;
		out->b = c->test.b;
		if (c->result.outcome != JUDGE_DONE) {
			out->failed++;
			continue;
		}
		rates[out->n++] = c->result.ab < c->result.ba ? c->result.ab : c->result.ba;
	}
	if (!out->n)
		return;
	qsort(rates, out->n, sizeof(*rates), order_rates);
	out->median = (rates[(out->n - 1) / 2] + rates[out->n / 2]) / 2;
	out->slowest = rates[0];
	out->fastest = rates[out->n - 1];
	for (size_t i = 0; i < out->n; i++)
		out->low += rates[i] < out->median / 2;
}

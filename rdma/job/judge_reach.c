/* SPDX-License-Identifier: Apache-2.0 */
/* judge_reach.c: who reaches whom, and what the ranks said of themselves. */
#include <string.h>

#include "rdma/job/judge_priv.h"

/* ---- what follows from the tests of reach ---- */

struct reach {
	unsigned ok, no_small, no_large, broken;
	bool failed;        /* the last test */
	unsigned good_seen; /* failed with one that reaches others */
	bool near, far; /* failed in its own leaf or where leaves are not known; to other leaves */
	bool several;   /* ... to more than one */
	bool dead;      /* named: its failed tests say nothing of ways */
	uint16_t far_leaf;
	uint16_t partner[JUDGE_ENDS]; /* of failed tests */
	unsigned n_partners;
};

static void count_end(struct reach *r, enum judge_outcome outcome, bool own, uint16_t partner)
{
	switch (outcome) {
	case JUDGE_DONE:
		r->ok++;
		return;
	case JUDGE_NO_SMALL:
	case JUDGE_NO_LARGE:
		r->no_small += outcome == JUDGE_NO_SMALL;
		r->no_large += outcome == JUDGE_NO_LARGE;
		break;
	case JUDGE_A_FAILED:
	case JUDGE_B_FAILED:
		/* It says nothing of the other end. */
		if (!own)
			return;
		r->broken++;
		break;
	}
	for (unsigned i = 0; i < r->n_partners; i++) {
		if (r->partner[i] == partner)
			return;
	}
	if (r->n_partners < JUDGE_ENDS)
		r->partner[r->n_partners++] = partner;
}

static void note_leaf(struct reach *r, uint16_t own, uint16_t other)
{
	if (own == other || own == JUDGE_NONE || other == JUDGE_NONE) {
		r->near = true;
		return;
	}
	r->several |= r->far && r->far_leaf != other;
	r->far = true;
	r->far_leaf = other;
}

static void count_all(const struct judge *j, struct reach *ends)
{
	for (size_t i = 0; i < j->n_samples; i++) {
		const struct judge_test *t = &j->samples[i].t;
		enum judge_outcome o = j->samples[i].r.outcome;

		if (t->kind != JUDGE_REACH && o != JUDGE_A_FAILED && o != JUDGE_B_FAILED)
			continue;
		count_end(&ends[judge_at(j, t->a, t->rail)], o, o == JUDGE_A_FAILED, t->b);
		count_end(&ends[judge_at(j, t->b, t->rail)], o, o == JUDGE_B_FAILED, t->a);
	}
	for (size_t i = 0; i < j->n_samples; i++) {
		const struct judge_test *t = &j->samples[i].t;
		struct reach *a = &ends[judge_at(j, t->a, t->rail)],
			     *b = &ends[judge_at(j, t->b, t->rail)];
		if (t->kind != JUDGE_REACH || j->samples[i].r.outcome == JUDGE_DONE)
			continue;
		uint16_t x = judge_rail_of(j, t->a, t->rail)->leaf,
			 y = judge_rail_of(j, t->b, t->rail)->leaf;
		a->good_seen += b->ok > 0;
		b->good_seen += a->ok > 0;
		note_leaf(a, x, y);
		note_leaf(b, y, x);
	}
}

size_t judge_reach_failed(const struct judge *j, unsigned rail, bool *want)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n_samples; i++) {
		const struct judge_test *t = &j->samples[i].t;
		enum judge_outcome o = j->samples[i].r.outcome;
		if (t->kind != JUDGE_REACH || t->rail != rail)
			continue;
		want[judge_at(j, t->a, rail)] = o != JUDGE_DONE && o != JUDGE_B_FAILED;
		want[judge_at(j, t->b, rail)] = o != JUDGE_DONE && o != JUDGE_A_FAILED;
	}
	for (unsigned i = 0; i < j->n_ranks; i++)
		n += want[judge_at(j, i, rail)];
	return n;
}

/* An end that failed with one other end alone, which reaches no other either: it is one of the two.
 */
static bool is_of_a_pair(const struct reach *r)
{
	return !r->ok && r->n_partners == 1 && !r->good_seen && !r->broken;
}

static int end_finding(struct judge *j, const struct reach *ends, struct judge_end end,
		       struct err *e)
{
	const struct reach *r = &ends[judge_at(j, end.rank, end.rail)];
	enum judge_cause cause = JUDGE_BROKEN;
	bool pair = is_of_a_pair(r) && is_of_a_pair(&ends[judge_at(j, r->partner[0], end.rail)]);
	struct judge_finding *f;

	if (r->no_small + r->no_large && !r->broken)
		cause = r->no_small ? JUDGE_UNREACHED : JUDGE_SMALL_MTU;
	if (pair && r->partner[0] < end.rank)
		return 0;
	f = judge_add_finding(j, cause, !r->ok || r->broken > 1, e);
	if (!f)
		return -1;
	f->ends[f->n_ends++] = end;
	if (pair)
		f->ends[f->n_ends++] =
			(struct judge_end){ r->partner[0], end.rail,
					    judge_rail_of(j, r->partner[0], end.rail)->leaf };
	f->low = r->no_small + r->no_large + r->broken;
	f->tests = f->low + r->ok;
	memcpy(f->partners, r->partner, r->n_partners * sizeof(*r->partner));
	return 0;
}

/*
 * An end that reaches no other. Perhaps it was only tested with one other leaf, where others do
 * well: then the way may be at fault. The end is not loaded in any case.
 */
static bool is_dead(const struct reach *r)
{
	bool one_way = r->far && !r->near && !r->several && r->good_seen;
	unsigned failed = r->no_small + r->no_large;

	/* Most of the time is as good as always, if it was with several. */
	return failed && !one_way && (!r->ok || (r->good_seen > r->ok && r->n_partners > 1));
}

/* Ends that reach no other, or that could not run a test. One failure may pass: a warning. */
static int dead_ends(struct judge *j, struct reach *ends, struct err *e)
{
	for (unsigned i = 0; i < j->n_ranks; i++) {
		for (unsigned rail = 0; rail < j->n_rails; rail++) {
			size_t at = judge_at(j, i, rail);
			struct reach *r = &ends[at];
			const struct judge_end end = { (uint16_t)i, (uint8_t)rail,
						       judge_rail_of(j, i, rail)->leaf };
			j->bad[at] = (!r->ok && r->no_small + r->no_large) || r->broken > 1;
			r->dead = is_dead(r);
			if ((r->dead || r->broken) && end_finding(j, ends, end, e))
				return -1;
		}
	}
	return 0;
}

/* ---- ways between leaves ---- */

struct way_count {
	unsigned failed, passed;
	bool small;
};

static bool joins(const struct judge *j, const struct judge_test *t, uint16_t x, uint16_t y)
{
	uint16_t a = judge_rail_of(j, t->a, t->rail)->leaf,
		 b = judge_rail_of(j, t->b, t->rail)->leaf;

	return (a == x && b == y) || (a == y && b == x);
}

static struct way_count count_way(const struct judge *j, const struct reach *ends, unsigned rail,
				  uint16_t x, uint16_t y)
{
	struct way_count c = { 0 };

	for (size_t i = 0; i < j->n_samples; i++) {
		const struct judge_sample *s = &j->samples[i];
		if (s->t.kind != JUDGE_REACH || s->t.rail != rail || !joins(j, &s->t, x, y) ||
		    ends[judge_at(j, s->t.a, rail)].dead || ends[judge_at(j, s->t.b, rail)].dead)
			continue;
		c.passed += s->r.outcome == JUDGE_DONE;
		c.failed += s->r.outcome == JUDGE_NO_SMALL || s->r.outcome == JUDGE_NO_LARGE;
		c.small |= s->r.outcome == JUDGE_NO_SMALL;
	}
	return c;
}

static bool way_is_known(const struct judge *j, unsigned rail, uint16_t x, uint16_t y)
{
	for (size_t i = 0; i < j->n_findings; i++) {
		const struct judge_finding *f = &j->findings[i];
		if (f->n_ends == 2 && f->ends[0].rail == rail && f->ends[0].rank == JUDGE_NONE &&
		    ((f->ends[0].leaf == x && f->ends[1].leaf == y) ||
		     (f->ends[0].leaf == y && f->ends[1].leaf == x)))
			return true;
	}
	return false;
}

/* A failed test of two ends that both reach others: it is the way between their leaves. */
static int way_finding(struct judge *j, const struct reach *ends, const struct judge_sample *s,
		       struct err *e)
{
	unsigned rail = s->t.rail;
	uint16_t x = judge_rail_of(j, s->t.a, rail)->leaf, y = judge_rail_of(j, s->t.b, rail)->leaf;
	struct way_count c;
	struct judge_finding *f;

	if (x == JUDGE_NONE || y == JUDGE_NONE || x == y || way_is_known(j, rail, x, y))
		return 0;
	c = count_way(j, ends, rail, x, y);
	if (!c.failed)
		return 0;
	/* A way that sometimes works, or was seen once, is a warning. */
	f = judge_add_finding(j, c.small ? JUDGE_UNREACHED : JUDGE_SMALL_MTU,
			      !c.passed && c.failed > 1, e);
	if (!f)
		return -1;
	f->ends[f->n_ends++] = (struct judge_end){ JUDGE_NONE, (uint8_t)rail, x };
	f->ends[f->n_ends++] = (struct judge_end){ JUDGE_NONE, (uint8_t)rail, y };
	f->low = c.failed;
	f->tests = c.failed + c.passed;
	f->partners[0] = s->t.a;
	f->partners[1] = s->t.b;
	return 0;
}

int judge_reach(struct judge *j, struct err *e)
{
	auto_free struct reach *ends = calloc(j->n_ranks * j->n_rails, sizeof(*ends));

	if (!ends)
		return err_nomem(e);
	count_all(j, ends);
	if (dead_ends(j, ends, e))
		return -1;
	for (size_t i = 0; i < j->n_samples; i++) {
		const struct judge_sample *s = &j->samples[i];
		bool failed = s->r.outcome == JUDGE_NO_SMALL || s->r.outcome == JUDGE_NO_LARGE;
		if (s->t.kind == JUDGE_REACH && failed &&
		    !ends[judge_at(j, s->t.a, s->t.rail)].dead &&
		    !ends[judge_at(j, s->t.b, s->t.rail)].dead && way_finding(j, ends, s, e))
			return -1;
	}
	return 0;
}

/* ---- what the ranks said ---- */

static uint64_t fact(const struct judge_rail *r, enum judge_cause cause)
{
	switch ((int)cause) {
	case JUDGE_CLASS:
		return r->tclass;
	case JUDGE_GID:
		return r->gid;
	case JUDGE_MTU:
		return r->mtu;
	case JUDGE_RATE:
		return r->nominal;
	case JUDGE_PCIE:
		return r->pcie_low;
	default:
		return r->present;
	}
}

/* Rates are compared within a model, the presence of a rail within the rail; the rest with all. */
static bool is_compared(const struct judge *j, enum judge_cause cause, struct judge_end x,
			struct judge_end y)
{
	if (!j->ranks[y.rank].here)
		return false;
	if (cause == JUDGE_LACKS)
		return x.rail == y.rail;
	if (!judge_rail_of(j, y.rank, y.rail)->present)
		return false;
	return cause != JUDGE_RATE ||
	       judge_rail_of(j, x.rank, x.rail)->model == judge_rail_of(j, y.rank, y.rail)->model;
}

/* The value that most have; of equally many, that which is first. A majority vote in two passes. */
static uint64_t most_common(const struct judge *j, enum judge_cause cause, struct judge_end x)
{
	uint64_t seen[64], best = 0;
	unsigned count[64], n = 0, most = 0;

	for (unsigned i = 0; i < j->n_ranks; i++) {
		for (unsigned rail = 0; rail < j->n_rails; rail++) {
			unsigned k = 0;
			const struct judge_end y = { (uint16_t)i, (uint8_t)rail, 0 };
			if (!is_compared(j, cause, x, y))
				continue;
			uint64_t v = fact(judge_rail_of(j, i, rail), cause);
			while (k < n && seen[k] != v)
				k++;
			if (k == n && n < 64) {
				seen[n] = v;
				count[n++] = 0;
			}
			if (k < n && ++count[k] > most) {
				most = count[k];
				best = v;
			}
		}
	}
	return best;
}

static bool differs(enum judge_cause cause, uint64_t own, uint64_t common)
{
	if (cause == JUDGE_RATE)
		return own && own < common;
	if (cause == JUDGE_LACKS)
		return own < common;
	return cause == JUDGE_PCIE ? own != 0 : own != common;
}

static int compare_end(struct judge *j, enum judge_cause cause, struct judge_end x, uint64_t common,
		       struct err *e)
{
	const struct judge_rail *r = judge_rail_of(j, x.rank, x.rail);
	struct judge_finding *f;

	if ((cause != JUDGE_LACKS && !r->present) || !differs(cause, fact(r, cause), common))
		return 0;
	f = judge_add_finding(j, cause, cause != JUDGE_RATE && cause != JUDGE_PCIE, e);
	if (!f)
		return -1;
	f->ends[f->n_ends++] = x;
	if (cause == JUDGE_RATE) {
		f->measured = (double)r->nominal;
		f->expected = (double)common;
	}
	return 0;
}

static int compare_cause(struct judge *j, enum judge_cause cause, struct err *e)
{
	uint64_t common = 0;
	const struct judge_rail *last = NULL;

	for (unsigned rail = 0; rail < j->n_rails; rail++) {
		for (unsigned i = 0; i < j->n_ranks; i++) {
			const struct judge_end x = { (uint16_t)i, (uint8_t)rail,
						     judge_rail_of(j, i, rail)->leaf };
			const struct judge_rail *r = judge_rail_of(j, i, rail);
			if (!j->ranks[i].here)
				continue;
			/* The answer is that of the end before, unless it is compared with others.
			 */
			if (!last || (cause == JUDGE_RATE && last->model != r->model) ||
			    (cause == JUDGE_LACKS && !i))
				common = most_common(j, cause, x);
			last = r;
			if (compare_end(j, cause, x, common, e))
				return -1;
		}
	}
	return 0;
}

static int untested_end(struct judge *j, unsigned rank, unsigned rail, enum judge_cause cause,
			struct err *e)
{
	struct judge_finding *f = judge_add_finding(j, cause, cause == JUDGE_BROKEN, e);

	if (!f)
		return -1;
	f->ends[f->n_ends++] = (struct judge_end){ (uint16_t)rank, (uint8_t)rail, JUDGE_NONE };
	return 0;
}

int judge_compare(struct judge *j, struct err *e)
{
	static const enum judge_cause causes[] = { JUDGE_CLASS, JUDGE_GID,  JUDGE_MTU,
						   JUDGE_RATE,  JUDGE_PCIE, JUDGE_LACKS };

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		if (compare_cause(j, causes[i], e))
			return -1;
	}
	for (unsigned i = 0; i < j->n_ranks; i++) {
		if (!j->ranks[i].here && untested_end(j, i, JUDGE_EVERY, JUDGE_UNTESTED, e))
			return -1;
		for (unsigned rail = 0; rail < j->n_rails; rail++) {
			const struct judge_rail *r = judge_rail_of(j, i, rail);
			if (j->ranks[i].here && r->present && r->untestable &&
			    untested_end(j, i, rail, JUDGE_UNTESTED, e))
				return -1;
		}
	}
	return 0;
}

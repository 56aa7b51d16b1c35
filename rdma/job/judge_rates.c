/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge_rates.c: which ends are slow.
 *
 * A result has up to four rates: each direction alone, and both at once. Each is compared with the
 * usual rate of its group: results of one model, inside a leaf or across leaves. The lower one of
 * the two of a direction counts, for the end that sent and for the end that received.
 *
 * Which of the two is slow follows from their other results. The worst end is taken first, and
 * explains its low results; then the next. Its low results must be improbable: the share of low
 * results among ends that are not suspected says how probable one is.
 */
#include <string.h>

#include "lib/base/array.h"
#include "rdma/job/judge_priv.h"
#include "rdma/job/stats.h"

#define FEW_RANKS  4u   /* of a model: below it, none is called slow */
#define FEW_RATES  3u   /* of a group, for a usual rate */
#define PROBABLE   1e-4 /* accepted probability of a false alarm in a whole job */
#define POSSIBLE   0.05 /* below it, a warning that is not sure */
#define NOMINAL    0.75 /* of the nominal rate: a usual rate below it is that of a slow fabric */
#define TESTS_MOST 10u  /* of an end */
#define AGAIN_MOST 24u  /* and with those at the end */

/* ---- baselines ---- */

struct group {
	uint64_t key;
	double rate; /* one result, or the usual one of the group */
	size_t n;
};

struct baselines {
	struct group *list;
	size_t n;
};

struct flow {
	unsigned from, to, rail;
	bool across;
	double rate[2]; /* alone, and with the other direction; 0: not measured */
};

static bool is_across(const struct judge *j, const struct judge_test *t)
{
	uint16_t a = judge_rail_of(j, t->a, t->rail)->leaf,
		 b = judge_rail_of(j, t->b, t->rail)->leaf;

	return a != b || a == JUDGE_NONE;
}

static struct flow flow_of(const struct judge *j, const struct judge_sample *s, bool back)
{
	struct flow f = { .from = back ? s->t.b : s->t.a,
			  .to = back ? s->t.a : s->t.b,
			  .rail = s->t.rail,
			  .across = is_across(j, &s->t) };

	/* Without an outcome a rate says nothing. */
	if (s->r.outcome != JUDGE_DONE)
		return f;
	f.rate[0] = back ? s->r.ba : s->r.ab;
	f.rate[1] = back ? s->r.both_ba : s->r.both_ab;
	return f;
}

#define KEY_ACROSS 2u

/* All rails at once: those of a rank share a slot or a switch, so each rail has its own group. */
static uint64_t key_of(enum judge_kind kind, unsigned model, unsigned rail, bool across, bool both)
{
	return (uint64_t)model << 16 | (kind == JUDGE_ALL ? rail << 8 : 0u) | (across ? 2u : 0u) |
	       (both ? 1u : 0u);
}

static int order_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rate < y->rate ? -1 : x->rate > y->rate;
}

static bool counts(const struct judge_sample *s, enum judge_kind kind)
{
	return s->t.kind == kind && s->r.outcome == JUDGE_DONE && !s->r.noisy;
}

/* Full packets ceased to pass in the middle: a rate of 0. */
static bool broke_off(const struct judge_sample *s, enum judge_kind kind)
{
	return s->t.kind == kind &&
	       (s->r.outcome == JUDGE_NO_SMALL || s->r.outcome == JUDGE_NO_LARGE);
}

static void merge_groups(struct baselines *b)
{
	size_t n = 0;

	qsort(b->list, b->n, sizeof(*b->list), order_groups);
	for (size_t first = 0, end; first < b->n; first = end) {
		for (end = first; end < b->n && b->list[end].key == b->list[first].key;)
			end++;
		size_t at = (end - first - 1) / 2;
		/* Inside a leaf rates differ little, and the upper quartile bears more slow ends.
		 */
		if (!(b->list[first].key & KEY_ACROSS))
			at += (end - first) / 4;
		b->list[n] =
			(struct group){ b->list[first].key, b->list[first + at].rate, end - first };
		n++;
	}
	b->n = n;
}

static int find_baselines(const struct judge *j, enum judge_kind kind, struct baselines *out,
			  struct err *e)
{
	struct baselines b = { .list = calloc(4 * j->n_samples + 1, sizeof(*b.list)), .n = 0 };

	if (!b.list)
		return err_nomem(e);
	for (size_t i = 0; i < 2 * j->n_samples; i++) {
		const struct judge_sample *s = &j->samples[i / 2];
		struct flow f = flow_of(j, s, i % 2);
		unsigned model = judge_rail_of(j, f.from, f.rail)->model;
		if (!counts(s, kind) || model != judge_rail_of(j, f.to, f.rail)->model)
			continue;
		for (unsigned both = 0; both < 2; both++) {
			if (f.rate[both] > 0)
				b.list[b.n++] =
					(struct group){ key_of(kind, model, f.rail, f.across, both),
							f.rate[both], 1 };
		}
	}
	merge_groups(&b);
	*out = b;
	return 0;
}

static double usual_of(const struct baselines *b, uint64_t key)
{
	const struct group *g = b->list + ARRAY_PLACE(i, b->n, b->list[i].key < key);

	return g < b->list + b->n && g->key == key && g->n >= FEW_RATES ? g->rate : 0;
}

/* The rate that is usual for both ends; 0: not known. */
static double expected(const struct judge *j, const struct baselines *b, enum judge_kind kind,
		       const struct flow *f, bool both)
{
	double lower = 0;

	for (unsigned k = 0; k < 2; k++) {
		unsigned model = judge_rail_of(j, k ? f->to : f->from, f->rail)->model;
		double rate = usual_of(b, key_of(kind, model, f->rail, f->across, both));
		if (rate <= 0)
			rate = usual_of(b, key_of(kind, model, f->rail, !f->across, both));
		if (rate <= 0)
			return 0;
		lower = !k || rate < lower ? rate : lower;
	}
	return lower;
}

/* ---- flows, and what the sides have of them ---- */

struct judged {
	size_t out, in; /* sides */
	uint16_t from, to;
	double ratio, rate, expected;
	bool across, explained;
};

struct flows {
	struct judged *list;
	size_t n;
};

static int judge_flows(const struct judge *j, enum judge_kind kind, struct flows *out,
		       struct err *e)
{
	struct baselines b = { 0 };

	if (find_baselines(j, kind, &b, e))
		return -1;
	out->n = 0;
	out->list = calloc(2 * j->n_samples + 1, sizeof(*out->list));
	for (size_t i = 0; out->list && i < 2 * j->n_samples; i++) {
		const struct judge_sample *s = &j->samples[i / 2];
		struct flow f = flow_of(j, s, i % 2);
		struct judged d = { .out = 2 * judge_at(j, f.from, f.rail),
				    .in = 2 * judge_at(j, f.to, f.rail) + 1,
				    .from = (uint16_t)f.from,
				    .to = (uint16_t)f.to,
				    .ratio = 2,
				    .across = f.across };
		if (!counts(s, kind) && !broke_off(s, kind))
			continue;
		for (unsigned both = 0; both < 2; both++) {
			double usual = expected(j, &b, kind, &f, both);
			if (usual <= 0 || f.rate[both] / usual >= d.ratio ||
			    (both && f.rate[1] <= 0 && counts(s, kind)))
				continue;
			d.ratio = f.rate[both] / usual;
			d.rate = f.rate[both];
			d.expected = usual;
		}
		if (d.ratio < 2)
			out->list[out->n++] = d;
	}
	free(b.list);
	return out->list ? 0 : err_nomem(e);
}

/* Rates that collisions take are seldom far below: fewer of those are needed. */
static const double levels[JUDGE_LEVELS] = { JUDGE_LOW, 0.75, 0.6, 0.45, 0.3, 0.15 };

static void add_partner(struct judge_side *s, uint16_t rank)
{
	for (unsigned i = 0; i < s->n_partners; i++) {
		if (s->partner[i] == rank)
			return;
	}
	if (s->n_partners < JUDGE_ENDS)
		s->partner[s->n_partners++] = rank;
}

static void add_flow(struct judge_side *s, const struct judged *d, uint16_t partner)
{
	s->n++;
	for (unsigned k = 0; k < JUDGE_LEVELS; k++)
		s->low[k] += d->ratio < levels[k];
	if (d->ratio >= JUDGE_LOW)
		return;
	add_partner(s, partner);
	if (s->lowest > 0 && s->lowest <= d->ratio)
		return;
	s->lowest = d->ratio;
	s->rate = d->rate;
	s->expected = d->expected;
}

/* The share of low results among sides that were not always low. It is never taken for 0. */
static bool is_always_low(const struct judge_side *s)
{
	return s->n > 1 && s->low[0] == s->n;
}

/* An end that is always low in one direction says nothing of chance in the other: answers go there.
 */
static bool is_suspect(const struct judge *j, size_t side)
{
	size_t out = side - side % 2;

	return is_always_low(&j->sides[out]) || is_always_low(&j->sides[out + 1]);
}

static void share_of_low(const struct judge *j, const struct flows *flows, bool across,
			 double out[JUDGE_LEVELS])
{
	double n = 2;

	for (unsigned k = 0; k < JUDGE_LEVELS; k++)
		out[k] = 1;
	for (size_t i = 0; i < flows->n; i++) {
		const struct judged *d = &flows->list[i];
		if (d->across != across || d->explained || is_suspect(j, d->out) ||
		    is_suspect(j, d->in))
			continue;
		n++;
		for (unsigned k = 0; k < JUDGE_LEVELS; k++)
			out[k] += d->ratio < levels[k];
	}
	for (unsigned k = 0; k < JUDGE_LEVELS; k++)
		out[k] /= n;
}

static void raise_chance(struct judge_side *s, const double chance[JUDGE_LEVELS])
{
	for (unsigned k = 0; k < JUDGE_LEVELS; k++)
		s->chance[k] = chance[k] > s->chance[k] ? chance[k] : s->chance[k];
}

static void find_chance(struct judge *j, const struct flows *flows)
{
	double chance[2][JUDGE_LEVELS];

	share_of_low(j, flows, false, chance[0]);
	share_of_low(j, flows, true, chance[1]);
	for (size_t i = 0; i < flows->n; i++) {
		const struct judged *d = &flows->list[i];
		if (d->explained)
			continue;
		raise_chance(&j->sides[d->out], chance[d->across]);
		raise_chance(&j->sides[d->in], chance[d->across]);
	}
}

static void count_sides(struct judge *j, const struct flows *flows)
{
	memset(j->sides, 0, 2 * j->n_ranks * j->n_rails * sizeof(*j->sides));
	for (size_t i = 0; i < flows->n; i++) {
		const struct judged *d = &flows->list[i];
		if (d->explained)
			continue;
		add_flow(&j->sides[d->out], d, d->to);
		add_flow(&j->sides[d->in], d, d->from);
	}
	find_chance(j, flows);
}

static double power(double x, unsigned n)
{
	double y = 1;

	while (n--)
		y *= x;
	return y;
}

/* The probability of at least low of n, if each has this chance. */
static double at_least(unsigned low, unsigned n, double chance)
{
	double sum = 0, choose = 1;

	for (unsigned k = 0; k <= n; k++) {
		if (k)
			choose = choose * (n - k + 1) / k;
		if (k >= low)
			sum += choose * power(chance, k) * power(1 - chance, n - k);
	}
	return sum;
}

/* The probability that any side of the job has such results by chance, at the level that says most.
 */
static double by_chance(const struct judge *j, const struct judge_side *s)
{
	double least = 1;

	for (unsigned k = 0; k < JUDGE_LEVELS; k++) {
		if (s->low[k] < 2 || 2 * s->low[k] <= s->n)
			break;
		double p = at_least(s->low[k], s->n, s->chance[k]);
		least = p < least ? p : least;
	}
	return least * JUDGE_LEVELS * 2.0 * (double)(j->n_ranks * j->n_rails);
}

static unsigned ranks_of_model(const struct judge *j, size_t end)
{
	unsigned n = 0, rail = (unsigned)(end % j->n_rails),
		 model = judge_rail_of(j, (unsigned)(end / j->n_rails), rail)->model;

	for (unsigned i = 0; i < j->n_ranks; i++)
		n += judge_is_testable(j, i, rail) && judge_rail_of(j, i, rail)->model == model;
	return n;
}

static bool is_slow(const struct judge *j, size_t side)
{
	const struct judge_side *s = &j->sides[side];

	return s->low[0] >= 2 && s->n_partners >= 2 && by_chance(j, s) <= PROBABLE &&
	       ranks_of_model(j, side / 2) >= FEW_RANKS;
}

enum judge_doubt judge_doubt_of(const struct judge *j, size_t end)
{
	const unsigned most = j->stage == STAGE_AGAIN ? AGAIN_MOST : TESTS_MOST;
	enum judge_doubt doubt = DOUBT_NONE;

	for (size_t side = 2 * end; side < 2 * end + 2; side++) {
		const struct judge_side *s = &j->sides[side];
		bool cleared = s->n >= 4 && 3 * s->low[0] <= s->n;
		if (!s->low[0] || s->n >= most || cleared)
			continue;
		if (s->low[0] == s->n)
			return DOUBT_ALWAYS;
		doubt = DOUBT_SOMETIMES;
	}
	return doubt;
}

/* ---- findings ---- */

static size_t worst_side(const struct judge *j)
{
	size_t worst = SIZE_MAX;
	double least = 2, share = 0;

	for (size_t side = 0; side < 2 * j->n_ranks * j->n_rails; side++) {
		const struct judge_side *s = &j->sides[side];
		if (s->low[0] < 2 || !is_slow(j, side))
			continue;
		double p = by_chance(j, s), part = (double)s->low[0] / s->n;
		if (part > share || (part >= share && p < least)) {
			share = part;
			least = p;
			worst = side;
		}
	}
	return worst;
}

static struct judge_finding *known_finding(struct judge *j, enum judge_cause cause,
					   struct judge_end end)
{
	for (size_t i = 0; i < j->n_findings; i++) {
		struct judge_finding *f = &j->findings[i];
		if (f->cause == cause && f->n_ends == 1 && f->ends[0].rank == end.rank &&
		    f->ends[0].rail == end.rail)
			return f;
	}
	return NULL;
}

static int add_side(struct judge *j, enum judge_cause cause, size_t side, struct err *e)
{
	const struct judge_side *s = &j->sides[side];
	unsigned rank = (unsigned)(side / 2 / j->n_rails), rail = (unsigned)(side / 2 % j->n_rails);
	enum judge_way way = side % 2 ? JUDGE_IN : JUDGE_OUT;
	const struct judge_end end = { (uint16_t)rank, (uint8_t)rail,
				       judge_rail_of(j, rank, rail)->leaf };
	struct judge_finding *f = known_finding(j, cause, end);

	if (f) {
		f->way = JUDGE_BOTH;
		if (s->rate * f->expected >= f->measured * s->expected)
			return 0;
	} else {
		f = judge_add_finding(j, cause, false, e);
		if (!f)
			return -1;
		f->way = way;
		f->ends[f->n_ends++] = end;
	}
	f->measured = s->rate;
	f->expected = s->expected;
	f->low = s->low[0];
	f->tests = s->n;
	memcpy(f->partners, s->partner, s->n_partners * sizeof(*s->partner));
	return 0;
}

static bool is_slow_alone(struct judge *j, size_t side)
{
	const struct judge_end end = { (uint16_t)(side / 2 / j->n_rails),
				       (uint8_t)(side / 2 % j->n_rails), 0 };

	return known_finding(j, JUDGE_SLOW, end) || known_finding(j, JUDGE_UNDECIDED, end);
}

static void explain(struct flows *flows, size_t side)
{
	for (size_t i = 0; i < flows->n; i++)
		flows->list[i].explained |= flows->list[i].out == side || flows->list[i].in == side;
}

/* Low more than once and most of the time, but not improbable enough, or always with one partner.
 */
static int undecided(struct judge *j, enum judge_kind kind, struct err *e)
{
	for (size_t side = 0; side < 2 * j->n_ranks * j->n_rails; side++) {
		const struct judge_side *s = &j->sides[side];
		if (s->low[0] < 2 || 3 * s->low[0] <= 2 * s->n || by_chance(j, s) > POSSIBLE ||
		    ranks_of_model(j, side / 2) < FEW_RANKS ||
		    (kind == JUDGE_ALL && is_slow_alone(j, side)))
			continue;
		if (add_side(j, JUDGE_UNDECIDED, side, e))
			return -1;
	}
	return 0;
}

/* Results that slow sides explain leave no doubt about their partners: those are tested again. */
int judge_rates(struct judge *j, enum judge_kind kind, struct err *e)
{
	struct flows flows;
	size_t side;

	if (judge_flows(j, kind, &flows, e))
		return -1;
	for (count_sides(j, &flows); (side = worst_side(j)) != SIZE_MAX; count_sides(j, &flows))
		explain(&flows, side);
	free(flows.list);
	return 0;
}

static int slow_of_kind(struct judge *j, enum judge_kind kind, enum judge_cause cause,
			struct err *e)
{
	struct flows flows;
	size_t side;
	int rc = 0;

	if (judge_flows(j, kind, &flows, e))
		return -1;
	for (count_sides(j, &flows); !rc && (side = worst_side(j)) != SIZE_MAX;
	     count_sides(j, &flows)) {
		if (kind == JUDGE_LOAD || !is_slow_alone(j, side))
			rc = add_side(j, cause, side, e);
		explain(&flows, side);
	}
	if (!rc)
		rc = undecided(j, kind, e);
	free(flows.list);
	return rc;
}

/* A usual rate below what link and slot can do: there is nothing faster to compare with. */
static int whole(struct judge *j, struct err *e)
{
	struct baselines b = { 0 };
	int rc = find_baselines(j, JUDGE_LOAD, &b, e);

	for (unsigned i = 0; !rc && i < j->n_ranks; i++) {
		for (unsigned rail = 0; !rc && rail < j->n_rails; rail++) {
			const struct judge_rail *r = judge_rail_of(j, i, rail);
			double rate =
				usual_of(&b, key_of(JUDGE_LOAD, r->model, rail, false, false));
			bool known = false;
			if (rate <= 0)
				rate = usual_of(&b,
						key_of(JUDGE_LOAD, r->model, rail, true, false));
			if (!judge_is_testable(j, i, rail) || rate <= 0 ||
			    rate >= NOMINAL * (double)r->nominal)
				continue;
			for (size_t k = 0; k < j->n_findings; k++)
				known |= j->findings[k].cause == JUDGE_WHOLE &&
					 j->findings[k].measured >= rate &&
					 j->findings[k].measured <= rate;
			struct judge_finding *f =
				known ? NULL : judge_add_finding(j, JUDGE_WHOLE, false, e);
			if (!f && !known)
				rc = -1;
			if (!f)
				continue;
			f->ends[f->n_ends++] =
				(struct judge_end){ JUDGE_NONE, JUDGE_EVERY, JUDGE_NONE };
			f->measured = rate;
			f->expected = (double)r->nominal;
		}
	}
	free(b.list);
	return rc;
}

/* Ends whose every result came while a rank had too little CPU. */
static int noisy(struct judge *j, struct err *e)
{
	auto_free unsigned *seen = calloc(2 * j->n_ranks * j->n_rails, sizeof(*seen));
	struct judge_finding *f;

	if (!seen)
		return err_nomem(e);
	for (size_t i = 0; i < j->n_samples; i++) {
		const struct judge_sample *s = &j->samples[i];
		if (s->t.kind != JUDGE_LOAD || s->r.outcome != JUDGE_DONE)
			continue;
		seen[2 * judge_at(j, s->t.a, s->t.rail) + s->r.noisy]++;
		seen[2 * judge_at(j, s->t.b, s->t.rail) + s->r.noisy]++;
	}
	for (size_t at = 0; at < j->n_ranks * j->n_rails; at++) {
		if (seen[2 * at] || !seen[2 * at + 1])
			continue;
		unsigned rank = (unsigned)(at / j->n_rails), rail = (unsigned)(at % j->n_rails);
		f = judge_add_finding(j, JUDGE_NOISY, false, e);
		if (!f)
			return -1;
		f->ends[f->n_ends++] = (struct judge_end){ (uint16_t)rank, (uint8_t)rail,
							   judge_rail_of(j, rank, rail)->leaf };
		f->tests = seen[2 * at + 1];
	}
	return 0;
}

int judge_slow(struct judge *j, struct err *e)
{
	if (slow_of_kind(j, JUDGE_LOAD, JUDGE_SLOW, e) ||
	    slow_of_kind(j, JUDGE_ALL, JUDGE_SLOW_ALL, e))
		return -1;
	return whole(j, e) || noisy(j, e) ? -1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_run.c: the rates of tests that run at once, with noise. */
#include "rdma/testing/fabric_priv.h"

#define PAIRS 4u /* queue pairs of a flow */

struct flow {
	const struct judge_test *test;
	bool from_b;
	double rate;
	double *out;
	uint16_t up, down; /* leaves */
	uint32_t uplinks[PAIRS];
};

uint16_t fabric_leaf(const struct fabric *f, size_t rank, size_t rail)
{
	return f->leaf[rank * f->facts.n_rails + rail];
}

bool fabric_touches(const struct fabric *f, const struct judge_end *place, size_t rank, size_t rail)
{
	if (place->rank == JUDGE_NONE)
		return fabric_leaf(f, rank, rail) == place->leaf;
	return place->rank == rank && (place->rail == rail || place->rail == JUDGE_EVERY);
}

bool fabric_is_faulty(const struct fabric *f, size_t rank, size_t rail)
{
	for (size_t i = 0; i < f->truth.n_places; i++) {
		if (fabric_touches(f, &f->truth.places[i], rank, rail))
			return true;
	}
	return false;
}

/* ---- one flow alone ---- */

/* Does the fault take something of a flow from src to dst? Facts and lost packets do not. */
static bool is_hit(const struct fabric *f, const struct judge_test *t, uint16_t src, uint16_t dst)
{
	const struct fabric_truth *truth = &f->truth;
	const struct judge_end *places = truth->places;

	if (truth->loss == 0 || (truth->fault == FABRIC_SWITCH && t->kind != JUDGE_ALL))
		return false;
	if (truth->fault == FABRIC_EVERYTHING)
		return true;
	if (truth->fault == FABRIC_PATH) {
		const uint16_t from = fabric_leaf(f, src, t->rail),
			       to = fabric_leaf(f, dst, t->rail);

		return (from == places[0].leaf && to == places[1].leaf && truth->way & JUDGE_OUT) ||
		       (from == places[1].leaf && to == places[0].leaf && truth->way & JUDGE_IN);
	}
	return (fabric_is_faulty(f, src, t->rail) && truth->way & JUDGE_OUT) ||
	       (fabric_is_faulty(f, dst, t->rail) && truth->way & JUDGE_IN);
}

static double rate_of_end(const struct fabric *f, size_t rank, const struct judge_test *t)
{
	const struct fabric_model *m = &f->models[f->ranks[rank].rails[t->rail].model];
	const double rate = m->nominal * m->efficiency * (t->kind == JUDGE_ALL ? m->all : 1);

	return rate * (f->quiet ? 1 : f->quality[rank * f->facts.n_rails + t->rail]);
}

static double rate_alone(const struct fabric *f, const struct judge_test *t, bool from_b,
			 bool active)
{
	const uint16_t src = from_b ? t->b : t->a, dst = from_b ? t->a : t->b;
	const double a = rate_of_end(f, src, t), b = rate_of_end(f, dst, t);
	const double lost = active && is_hit(f, t, src, dst) ? f->truth.loss / 100.0 : 0;

	return (a < b ? a : b) * (1 - lost);
}

double fabric_rate(const struct fabric *f, const struct judge_test *t, bool from_b)
{
	return rate_alone(f, t, from_b, true);
}

/* ---- flows that share uplinks ---- */

static double uplink_rate(const struct fabric *f, size_t leaf, size_t uplink)
{
	double share = 0;

	for (size_t i = 0; i < f->n_neighbours; i++) {
		const struct fabric_neighbour *n = &f->neighbours[i];

		if (n->leaf != leaf || f->batches < n->from || f->batches >= n->until)
			continue;
		if (f->adaptive)
			share += n->share / 4;
		else if (uplink % 4 == n->quarter)
			share += n->share;
	}
	return share < 0.9 ? f->uplink_rate * (1 - share) : f->uplink_rate * 0.1;
}

static void choose_uplinks(struct fabric *f, struct flow *flow)
{
	const uint64_t path = 2 * (f->tests + (uint64_t)flow->test->a * JUDGE_RANKS) + flow->from_b;

	for (uint64_t q = 0; q < PAIRS; q++) {
		const uint64_t hash = fabric_mix(f->facts.seed + PAIRS * path + q + 1);

		flow->uplinks[q] = (uint32_t)(fabric_mix(hash + flow->test->rail) % f->n_uplinks);
	}
	flow->up = fabric_leaf(f, flow->from_b ? flow->test->b : flow->test->a, flow->test->rail);
	flow->down = fabric_leaf(f, flow->from_b ? flow->test->a : flow->test->b, flow->test->rail);
}

static void load_uplinks(struct fabric *f, const struct flow *flow)
{
	for (size_t q = 0; flow->up != flow->down && q < PAIRS; q++) {
		f->up[flow->up * f->n_uplinks + flow->uplinks[q]] += flow->rate / PAIRS;
		f->down[flow->down * f->n_uplinks + flow->uplinks[q]] += flow->rate / PAIRS;
	}
}

static void clear_uplinks(struct fabric *f, const struct flow *flow)
{
	for (size_t q = 0; q < PAIRS; q++) {
		f->up[flow->up * f->n_uplinks + flow->uplinks[q]] = 0;
		f->down[flow->down * f->n_uplinks + flow->uplinks[q]] = 0;
	}
}

static double share_of(const struct fabric *f, const struct flow *flow)
{
	double sum = 0;

	if (flow->up == flow->down || f->quiet)
		return flow->rate;
	for (size_t q = 0; q < PAIRS; q++) {
		const size_t uplink = flow->uplinks[q];
		const double up =
			uplink_rate(f, flow->up, uplink) / f->up[flow->up * f->n_uplinks + uplink];
		const double down = uplink_rate(f, flow->down, uplink) /
				    f->down[flow->down * f->n_uplinks + uplink];
		const double lower = up < down ? up : down;

		sum += flow->rate / PAIRS * (lower < 1 ? lower : 1);
	}
	return sum;
}

static void run_flows(struct fabric *f, struct flow *flows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		choose_uplinks(f, &flows[i]);
		load_uplinks(f, &flows[i]);
	}
	for (size_t i = 0; i < n; i++)
		*flows[i].out = share_of(f, &flows[i]);
	for (size_t i = 0; i < n; i++)
		clear_uplinks(f, &flows[i]);
}

/* ---- noise ---- */

/* About normal, mean 0 and deviation 1: the sum of twelve. */
static double normal(struct fabric *f)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += fabric_between(f, 0, 1);
	return sum;
}

/* A busy rank has too little CPU in 30 percent of the batches, and knows it in nine of ten. */
static double busy_share(const struct fabric *f, size_t rank, bool *noisy)
{
	for (size_t i = 0; i < f->n_busy; i++) {
		const uint64_t x = fabric_mix(f->facts.seed * 7 + f->batches * 4096 + rank);

		if (f->busy[i] != rank || x % 10 >= 3)
			continue;
		*noisy |= x / 10 % 10 != 0;
		return 0.4 + 0.5 * (double)(x / 100 % 1000) / 1000;
	}
	return 1;
}

static void add_noise(struct fabric *f, const struct judge_test *t, struct judge_result *r)
{
	double *values[] = { &r->ab, &r->both_ab, &r->ba, &r->both_ba };
	const bool tail = fabric_below(f, 200) == 0;
	const uint64_t ways = 1 + fabric_below(f, 3);
	const double left = fabric_between(f, 0.5, 0.85);
	const double busy = busy_share(f, t->a, &r->noisy) * busy_share(f, t->b, &r->noisy);

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		*values[i] *= busy * (1 + f->sigma * normal(f));
		if (tail && ways & (i < 2 ? 1 : 2))
			*values[i] *= left;
	}
}

/* ---- a batch ---- */

static bool fails(const struct fabric *f, size_t rank, size_t rail)
{
	const struct judge_rank *r = &f->ranks[rank];

	if (!r->here || !r->rails[rail].present || r->rails[rail].untestable)
		return true;
	return f->truth.fault == FABRIC_FAILS && f->batches >= f->fails_from &&
	       fabric_is_faulty(f, rank, rail);
}

static enum judge_outcome outcome_of(const struct fabric *f, const struct judge_test *t,
				     bool active)
{
	const bool lost = f->truth.fault == FABRIC_END_MTU || f->truth.fault == FABRIC_LEAF_MTU;

	if (fails(f, t->a, t->rail))
		return JUDGE_A_FAILED;
	if (fails(f, t->b, t->rail))
		return JUDGE_B_FAILED;
	if (active && f->truth.loss == 100 &&
	    (is_hit(f, t, t->a, t->b) || is_hit(f, t, t->b, t->a)))
		return JUDGE_NO_SMALL;
	if (lost && (fabric_is_faulty(f, t->a, t->rail) || fabric_is_faulty(f, t->b, t->rail)))
		return JUDGE_NO_LARGE;
	return JUDGE_DONE;
}

/* Two ends that meet in the first test of both get the same fault. Reachability has its own first
 * test, for dead ends. */
static void plant_partner(struct fabric *f, const struct judge_test *t)
{
	struct fabric_truth *truth = &f->truth;
	bool *tested_a = &f->tested[t->a * f->facts.n_rails + t->rail];
	bool *tested_b = &f->tested[t->b * f->facts.n_rails + t->rail];
	const bool at_a = fabric_is_faulty(f, t->a, t->rail);

	if (truth->fault != FABRIC_TWO_ENDS || truth->n_places == 2 ||
	    (t->kind == JUDGE_REACH && truth->loss < 100))
		return;
	if (!*tested_a && !*tested_b && (at_a || fabric_is_faulty(f, t->b, t->rail)))
		truth->places[truth->n_places++] =
			(struct judge_end){ at_a ? t->b : t->a, t->rail, JUDGE_NONE };
	*tested_a = *tested_b = true;
}

static struct flow flow_of(const struct judge_test *t, bool from_b, double rate, double *out)
{
	return (struct flow){ .test = t, .from_b = from_b, .rate = rate, .out = out };
}

static double both_share(const struct fabric *f, const struct judge_test *t)
{
	const double a = f->models[f->ranks[t->a].rails[t->rail].model].both;
	const double b = f->models[f->ranks[t->b].rails[t->rail].model].both;

	return a < b ? a : b;
}

void fabric_run(struct fabric *f, const struct judge_test *tests, size_t n,
		struct judge_result *results)
{
	struct flow *flows = calloc(4 * n + 1, sizeof(*flows));
	size_t k = 0;

	if (!flows)
		abort();

	struct flow *ba = flows + n, *both = flows + 2 * n;
	for (size_t i = 0; i < n; i++) {
		const struct judge_test *t = &tests[i];
		struct judge_result *r = &results[i];

		plant_partner(f, t);
		const bool active = fabric_below(f, 100) < f->truth.chance;
		*r = (struct judge_result){ .outcome = outcome_of(f, t, active) };
		if (r->outcome != JUDGE_DONE || t->kind == JUDGE_REACH)
			continue;
		const double share = both_share(f, t);

		flows[k] = flow_of(t, false, rate_alone(f, t, false, active), &r->ab);
		ba[k] = flow_of(t, true, rate_alone(f, t, true, active), &r->ba);
		both[2 * k] = flow_of(t, false, flows[k].rate * share, &r->both_ab);
		both[2 * k + 1] = flow_of(t, true, ba[k].rate * share, &r->both_ba);
		k++;
	}
	run_flows(f, flows, k);
	run_flows(f, ba, k);
	if (f->measures_both)
		run_flows(f, both, 2 * k);
	for (size_t i = 0; i < k && !f->quiet; i++) {
		const size_t at = (size_t)(flows[i].test - tests);

		add_noise(f, flows[i].test, &results[at]);
	}
	f->batches++;
	f->tests += n;
	free(flows);
}

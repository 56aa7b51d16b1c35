/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.c: draws a fabric, and plants a fault in it. */
#include <stdio.h>

#include "rdma/testing/fabric.h"
#include "rdma/testing/fabric_priv.h"

#define GBIT 0.125e9

/* splitmix64 */
uint64_t fabric_mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t fabric_below(struct fabric *f, uint64_t n)
{
	f->random += UINT64_C(0x9e3779b97f4a7c15);
	return n > 0 ? fabric_mix(f->random) % n : 0;
}

double fabric_between(struct fabric *f, double low, double high)
{
	return low + (high - low) * (double)fabric_below(f, 1u << 24) / (double)(1u << 24);
}

static bool one_in(struct fabric *f, unsigned n)
{
	return fabric_below(f, n) == 0;
}

static void *get(size_t n, size_t size)
{
	void *p = calloc(n > 0 ? n : 1, size);

	if (!p)
		abort();
	return p;
}

#define CAUSE(cause) (1u << JUDGE_##cause)
#define RATES        (CAUSE(SLOW) | CAUSE(SLOW_ALL))

/* The causes that fit; unreached fits as well where `dead` allows a loss of 100 percent. */
static const struct {
	const char *name;
	bool loses, dead;
	unsigned causes;
} kinds[FABRIC_FAULTS] = {
	[FABRIC_CLEAN] = { "clean", false, false, 0 },
	[FABRIC_END] = { "end", true, true, CAUSE(SLOW) },
	[FABRIC_END_LONE] = { "end, one host a leaf", true, true, CAUSE(SLOW) },
	[FABRIC_END_80] = { "end, in 80% of tests", true, true, RATES },
	[FABRIC_END_50] = { "end, in 50% of tests", true, true, RATES },
	[FABRIC_TWO_ENDS] = { "both ends of a pair", true, true, CAUSE(SLOW) },
	[FABRIC_HOST] = { "host", true, true, CAUSE(SLOW) },
	[FABRIC_LEAF] = { "leaf", true, true, CAUSE(SLOW) },
	[FABRIC_PATH] = { "path of two leaves", true, true, CAUSE(SLOW) },
	[FABRIC_SWITCH] = { "PCIe switch", true, false, CAUSE(SLOW_ALL) },
	[FABRIC_EVERYTHING] = { "everything", true, false, CAUSE(WHOLE) },
	[FABRIC_SLOT] = { "PCIe slot", true, false, CAUSE(PCIE) | CAUSE(RATE) | CAUSE(SLOW) },
	[FABRIC_END_MTU] = { "full packets, end", false, false, CAUSE(SMALL_MTU) },
	[FABRIC_LEAF_MTU] = { "full packets, leaf", false, false, CAUSE(SMALL_MTU) },
	[FABRIC_CLASS] = { "another class", false, false, CAUSE(CLASS) },
	[FABRIC_GID] = { "another GID", false, false, CAUSE(GID) },
	[FABRIC_MTU] = { "another MTU", false, false, CAUSE(MTU) },
	[FABRIC_FAILS] = { "rank fails", false, false, CAUSE(BROKEN) },
	[FABRIC_NO_RANK] = { "no rank", false, false,
			     CAUSE(LACKS) | CAUSE(BROKEN) | CAUSE(UNTESTED) },
	[FABRIC_NO_RAIL] = { "no rail", false, false, CAUSE(LACKS) },
	[FABRIC_UNTESTABLE] = { "untestable card", false, false, CAUSE(UNTESTED) },
};

const char *fabric_name(enum fabric_fault fault)
{
	return kinds[fault].name;
}

bool fabric_can(enum fabric_fault fault, unsigned loss)
{
	if (fault == FABRIC_SLOT && loss != 50 && loss != 75)
		return false;
	return kinds[fault].loses == (loss > 0) && (loss < 100 || kinds[fault].dead);
}

bool fabric_fits(const struct fabric_truth *t, enum judge_cause cause)
{
	const bool now_and_then = t->chance < 100;

	if (t->loss == 100)
		return cause == JUDGE_UNREACHED ||
		       (now_and_then && kinds[t->fault].causes & 1u << cause);
	return kinds[t->fault].causes & 1u << cause;
}

/* ---- size and wiring ---- */

static bool is_of_leaves(const struct fabric *f)
{
	enum fabric_fault fault = f->truth.fault;

	return fault == FABRIC_LEAF || fault == FABRIC_LEAF_MTU || fault == FABRIC_PATH;
}

static size_t rails_a_leaf(const struct fabric *f)
{
	const size_t n = f->facts.n_rails;
	const size_t rails[FABRIC_LAYOUTS] = { 1, n < 2 ? n : 2, n, (n + 1) / 2, n };

	return rails[f->layout] > 0 ? rails[f->layout] : 1;
}

/* A fault of leaves wants three leaves a rail: of two nobody can say which is the slow one. */
static void draw_size(struct fabric *f)
{
	static const size_t rails[] = { 1, 2, 4, 8, 8, 8 };
	const size_t power = (size_t)4 << fabric_below(f, 8);
	size_t n = one_in(f, 8) ? 2 * power : power + fabric_below(f, power);

	if (n > JUDGE_RANKS)
		n = JUDGE_RANKS;
	if (f->truth.fault == FABRIC_TWO_ENDS && n < 6)
		n = 6;
	if (is_of_leaves(f) && n < 8)
		n = 8;
	f->facts.n_ranks = n;
	f->facts.n_rails = rails[fabric_below(f, ARRAY_SIZE(rails))];
	if (f->truth.fault == FABRIC_SWITCH && f->facts.n_rails == 1)
		f->facts.n_rails = 2;
	f->layout = (enum fabric_layout)fabric_below(f, FABRIC_LAYOUTS);
	if (f->truth.fault == FABRIC_END_LONE)
		f->layout = FABRIC_SINGLE;
	if (is_of_leaves(f) && f->layout == FABRIC_SINGLE)
		f->layout = FABRIC_TOR;

	f->hosts_a_leaf = (size_t)2 << fabric_below(f, 5);
	while (f->hosts_a_leaf * rails_a_leaf(f) > 64 ||
	       (is_of_leaves(f) && 3 * f->hosts_a_leaf > n))
		f->hosts_a_leaf /= 2;
	if (f->layout == FABRIC_SINGLE)
		f->hosts_a_leaf = 1;
}

/* The job may have few hosts of a large leaf, so there are 16 uplinks at least. */
static void draw_wiring(struct fabric *f)
{
	const bool planes = f->layout == FABRIC_PLANES;
	const size_t n_rails = f->facts.n_rails, ends = f->facts.n_ranks * n_rails;
	const size_t of_leaf = rails_a_leaf(f), of_group = (n_rails + of_leaf - 1) / of_leaf;
	size_t ports = f->hosts_a_leaf * of_leaf;

	f->leaf = get(ends, sizeof(*f->leaf));
	f->quality = get(ends, sizeof(*f->quality));
	f->tested = get(ends, sizeof(*f->tested));
	for (size_t i = 0; i < ends; i++) {
		const size_t rail = i % n_rails, group = i / n_rails / f->hosts_a_leaf;
		const size_t in_group = planes ? rail % 2 : rail / of_leaf;

		f->leaf[i] = (uint16_t)(group * of_group + in_group);
		f->quality[i] = fabric_between(f, 0.995, 1.005);
		if (f->leaf[i] >= f->n_leaves)
			f->n_leaves = f->leaf[i] + 1u;
	}
	f->oversubscription = one_in(f, 3) ? 2 : 1;
	f->adaptive = one_in(f, 3);
	if (ports < 16)
		ports = 16;

	const size_t n_uplinks = ports / f->oversubscription;
	/* Adaptive routing makes one wide uplink of all. */
	f->n_uplinks = f->adaptive ? 1 : n_uplinks;
	f->uplink_rate = f->models[0].nominal > 200 * GBIT || f->models[1].nominal > 200 * GBIT
				 ? 400 * GBIT
				 : 200 * GBIT;
	if (f->adaptive)
		f->uplink_rate *= (double)n_uplinks;
	f->up = get(f->n_leaves * f->n_uplinks, sizeof(*f->up));
	f->down = get(f->n_leaves * f->n_uplinks, sizeof(*f->down));
}

/* ---- hosts ---- */

/* PCIe 4.0 x16 moves 31.5 GB/s, and 14 percent of that are headers: less than a link of 400G. */
static struct fabric_model draw_model(struct fabric *f, double nominal)
{
	struct fabric_model m = { .nominal = nominal,
				  .efficiency = fabric_between(f, 0.92, 0.98),
				  .both = fabric_between(f, 0.94, 1.0),
				  .all = 1.0 };

	if (nominal > 300 * GBIT && one_in(f, 10)) {
		m.nominal = 31.5e9;
		m.efficiency = 0.86;
	}
	if (f->facts.n_rails > 1 && one_in(f, 3))
		m.all = fabric_between(f, 0.55, 0.9);
	return m;
}

static void draw_models(struct fabric *f)
{
	f->mixed = f->facts.n_ranks >= 24 && !is_of_leaves(f) && one_in(f, 4);
	f->models[0] = draw_model(f, one_in(f, 3) ? 200 * GBIT : 400 * GBIT);
	f->models[1] =
		f->mixed ? draw_model(f, one_in(f, 2) ? 200 * GBIT : 400 * GBIT) : f->models[0];
}

static void draw_ranks(struct fabric *f)
{
	const size_t n = f->facts.n_ranks, first = n / 4 + fabric_below(f, n / 2);
	const bool by_rack = one_in(f, 2);

	f->ranks = get(n, sizeof(*f->ranks));
	f->facts.ranks = f->ranks;
	for (size_t i = 0; i < n; i++) {
		const bool second = f->mixed && (by_rack ? i >= first : i % 3 == 0);

		f->ranks[i].here = true;
		for (size_t rail = 0; rail < f->facts.n_rails; rail++)
			f->ranks[i].rails[rail] = (struct judge_rail){
				.present = true,
				.leaf = f->leaf[i * f->facts.n_rails + rail],
				.model = second,
				.gid = 2,
				.tclass = 106,
				.mtu = 4096,
				.nominal = (uint64_t)f->models[second].nominal,
			};
	}
}

/* Some leaves send no LLDP, and on some hosts nobody listens. */
static void forget_leaves(struct fabric *f)
{
	const bool of_leaf = one_in(f, 4), of_rank = one_in(f, 8);

	f->unknown_leaves = (of_leaf || of_rank) && f->truth.fault != FABRIC_PATH;
	for (size_t i = 0; f->unknown_leaves && i < f->facts.n_ranks * f->facts.n_rails; i++) {
		const size_t rank = i / f->facts.n_rails;

		if ((of_leaf && fabric_mix(f->facts.seed + f->leaf[i]) % 10 < 3) ||
		    (of_rank && fabric_mix(f->facts.seed - rank) % 20 == 0))
			f->ranks[rank].rails[i % f->facts.n_rails].leaf = JUDGE_NONE;
	}
}

/* ---- noise ---- */

static void draw_noise(struct fabric *f)
{
	f->sigma = fabric_between(f, 0.01, 0.02);
	f->measures_both = !one_in(f, 8);
	if (one_in(f, 5))
		f->n_busy = 1 + f->facts.n_ranks / 256;
	for (size_t i = 0; i < f->n_busy; i++)
		f->busy[i] = (uint16_t)fabric_below(f, f->facts.n_ranks);
	if (one_in(f, 3))
		f->n_neighbours = ARRAY_SIZE(f->neighbours);
	for (size_t i = 0; i < f->n_neighbours; i++) {
		const size_t from = fabric_below(f, 20);

		f->neighbours[i] = (struct fabric_neighbour){
			.leaf = fabric_below(f, f->n_leaves),
			.quarter = fabric_below(f, 4),
			.from = from,
			.until = from + 2 + fabric_below(f, 9),
			.share = fabric_between(f, 0.3, 0.8),
		};
	}
}

/* ---- the fault ---- */

static bool is_busy(const struct fabric *f, size_t rank)
{
	for (size_t i = 0; i < f->n_busy; i++) {
		if (f->busy[i] == rank)
			return true;
	}
	return false;
}

static struct judge_end draw_place(struct fabric *f)
{
	struct judge_end p = { .leaf = JUDGE_NONE };

	do
		p.rank = (uint16_t)fabric_below(f, f->facts.n_ranks);
	while (is_busy(f, p.rank) && f->n_busy < f->facts.n_ranks);
	p.rail = (uint8_t)fabric_below(f, f->facts.n_rails);
	return p;
}

/* Two leaves that have the same rail. */
static void plant_leaves(struct fabric *f, struct fabric_truth *t, struct judge_end p)
{
	const uint16_t leaf = f->leaf[p.rank * f->facts.n_rails + p.rail];
	uint16_t other = leaf;

	while (other == leaf)
		other = f->leaf[fabric_below(f, f->facts.n_ranks) * f->facts.n_rails + p.rail];
	t->places[0] = (struct judge_end){ JUDGE_NONE, p.rail, leaf };
	t->places[1] = (struct judge_end){ JUDGE_NONE, p.rail, other };
	t->n_places = t->fault == FABRIC_PATH ? 2 : 1;
}

static void plant_fact(struct fabric *f, struct judge_end p)
{
	const enum fabric_fault fault = f->truth.fault;
	struct judge_rail *rail = &f->ranks[p.rank].rails[p.rail];

	if (fault == FABRIC_SLOT)
		rail->nominal = rail->nominal * (100 - f->truth.loss) / 100;
	rail->pcie_low = fault == FABRIC_SLOT;
	rail->tclass = fault == FABRIC_CLASS ? 0 : rail->tclass;
	rail->gid = fault == FABRIC_GID ? 1 : rail->gid;
	rail->mtu = fault == FABRIC_MTU ? 1024 : rail->mtu;
	rail->present = fault != FABRIC_NO_RAIL;
	rail->untestable = fault == FABRIC_UNTESTABLE;
	f->ranks[p.rank].here = fault != FABRIC_NO_RANK;
}

static void plant(struct fabric *f)
{
	struct fabric_truth *t = &f->truth;
	struct judge_end p = draw_place(f);

	t->chance = t->fault == FABRIC_END_80 ? 80 : t->fault == FABRIC_END_50 ? 50 : 100;
	t->way = (enum judge_way)(1 + fabric_below(f, 3));
	f->fails_from = fabric_below(f, 3);
	t->places[0] = p;
	t->n_places = t->fault != FABRIC_CLEAN && t->fault != FABRIC_EVERYTHING;
	if (is_of_leaves(f))
		plant_leaves(f, t, p);
	if (t->fault == FABRIC_HOST || t->fault == FABRIC_FAILS || t->fault == FABRIC_NO_RANK)
		t->places[0].rail = JUDGE_EVERY;
	if (t->fault == FABRIC_SWITCH) {
		t->places[1] = p;
		t->places[1].rail ^= 1;
		t->n_places = 2;
	}
	if (t->fault == FABRIC_SWITCH || t->fault == FABRIC_SLOT || t->fault == FABRIC_EVERYTHING)
		t->way = JUDGE_BOTH;
	plant_fact(f, p);
}

struct fabric *fabric_new(uint64_t seed, enum fabric_fault fault, unsigned loss)
{
	struct fabric *f = get(1, sizeof(*f));

	f->facts.seed = seed;
	f->truth.fault = fault;
	f->truth.loss = loss;
	f->random = fabric_mix(seed ^ fabric_mix(100 * (uint64_t)fault + loss));
	draw_size(f);
	draw_models(f);
	draw_wiring(f);
	draw_ranks(f);
	forget_leaves(f);
	draw_noise(f);
	plant(f);
	return f;
}

void fabric_free(struct fabric **f)
{
	if (!*f)
		return;
	free((*f)->ranks);
	free((*f)->leaf);
	free((*f)->quality);
	free((*f)->tested);
	free((*f)->up);
	free((*f)->down);
	free(*f);
	*f = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_score.c: compares findings with what was planted. */
#include "rdma/testing/fabric_priv.h"

/* Findings, of which only those with a fitting cause and at most two ends count, or also the
 * others. */
struct findings {
	const struct judge_finding *items;
	size_t n;
	bool named;
};

static bool holds(const struct fabric *f, const struct judge_finding *finding, size_t rank,
		  size_t rail)
{
	for (size_t i = 0; i < finding->n_ends; i++) {
		if (finding->ends[i].rail == rail &&
		    fabric_touches(f, &finding->ends[i], rank, rail))
			return true;
	}
	return false;
}

static bool holds_leaf(const struct judge_finding *finding, uint16_t leaf)
{
	for (size_t i = 0; i < finding->n_ends; i++) {
		if (finding->ends[i].rank == JUDGE_NONE && finding->ends[i].leaf == leaf)
			return true;
	}
	return false;
}

/* A leaf with at most two ranks of the job is as narrow as they are. */
static bool is_narrow(const struct fabric *f, const struct judge_finding *finding)
{
	size_t n = 0;

	for (size_t i = 0; i < f->facts.n_ranks * f->facts.n_rails; i++)
		n += holds(f, finding, i / f->facts.n_rails, i % f->facts.n_rails);
	return n <= 2;
}

static bool counts(const struct fabric *f, const struct findings *all, size_t i)
{
	const bool fitting = fabric_fits(&f->truth, all->items[i].cause);

	if (all->named)
		return fitting && all->items[i].n_ends <= 2;
	return fitting || all->items[i].cause == JUDGE_UNDECIDED;
}

static bool is_end_found(const struct fabric *f, const struct findings *all, size_t rank,
			 size_t rail)
{
	for (size_t i = 0; i < all->n; i++) {
		if (counts(f, all, i) && holds(f, &all->items[i], rank, rail) &&
		    (!all->named || is_narrow(f, &all->items[i])))
			return true;
	}
	return false;
}

/* One finding is enough for a rank that fails or is missing. Else each end wants its own. */
static bool are_ends_found(const struct fabric *f, const struct findings *all,
			   const struct judge_end *place)
{
	const bool one_is_enough =
		f->truth.fault == FABRIC_FAILS || f->truth.fault == FABRIC_NO_RANK || !all->named;

	for (size_t i = 0; i < f->facts.n_ranks * f->facts.n_rails; i++) {
		const size_t rank = i / f->facts.n_rails, rail = i % f->facts.n_rails;

		if (fabric_touches(f, place, rank, rail) &&
		    is_end_found(f, all, rank, rail) == one_is_enough)
			return one_is_enough;
	}
	return !one_is_enough;
}

/* Does it name this leaf of a path? A host that has the leaf for itself stands for it. */
static bool is_side(const struct fabric *f, const struct judge_finding *finding, uint16_t leaf)
{
	for (size_t i = 0; i < finding->n_ends; i++) {
		const struct judge_end *end = &finding->ends[i];

		if (end->rank != JUDGE_NONE && f->hosts_a_leaf == 1 &&
		    fabric_leaf(f, end->rank, end->rail) == leaf)
			return true;
	}
	return holds_leaf(finding, leaf);
}

static bool is_whole_found(const struct fabric *f, const struct findings *all,
			   const struct judge_end *places)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct judge_finding *one = &all->items[i];

		if (!all->named && one->cause == JUDGE_WHOLE && f->truth.loss)
			return true;
		if (!counts(f, all, i))
			continue;
		if (f->truth.fault == FABRIC_EVERYTHING)
			return true;
		if (f->truth.fault == FABRIC_PATH && is_side(f, one, places[0].leaf) &&
		    is_side(f, one, places[1].leaf))
			return true;
		if (f->truth.fault != FABRIC_PATH && places->rank == JUDGE_NONE &&
		    holds_leaf(one, places->leaf))
			return true;
	}
	return false;
}

static bool is_found(const struct fabric *f, const struct findings *all,
		     const struct judge_end *place)
{
	if (is_whole_found(f, all, place))
		return true;
	return f->truth.fault != FABRIC_EVERYTHING && f->truth.fault != FABRIC_PATH &&
	       are_ends_found(f, all, place);
}

/* Do the end of a finding and a place have an end in common? */
static bool meets(const struct fabric *f, const struct judge_end *end,
		  const struct judge_end *place)
{
	if (end->rank != JUDGE_NONE)
		return fabric_touches(f, place, end->rank, end->rail);
	if (place->rank == JUDGE_NONE)
		return place->leaf == end->leaf;
	for (size_t rail = 0; rail < f->facts.n_rails; rail++) {
		if (fabric_leaf(f, place->rank, rail) == end->leaf &&
		    fabric_touches(f, place, place->rank, rail))
			return true;
	}
	return false;
}

static bool holds_faulty(const struct fabric *f, const struct judge_finding *finding)
{
	const struct fabric_truth *t = &f->truth;

	for (size_t p = 0; p < t->n_places; p++) {
		if (t->fault == FABRIC_PATH && is_side(f, finding, t->places[p].leaf))
			return true;
		for (size_t i = 0; i < finding->n_ends && t->fault != FABRIC_PATH; i++) {
			if (meets(f, &finding->ends[i], &t->places[p]))
				return true;
		}
	}
	return t->fault == FABRIC_EVERYTHING;
}

/* In a fabric with fewer uplinks than links the median is below nominal indeed. */
bool fabric_is_alarm(const struct fabric *f, const struct judge_finding *finding, bool *note)
{
	const bool doubt = finding->cause == JUDGE_NOISY || finding->cause == JUDGE_UNDECIDED ||
			   (finding->cause == JUDGE_WHOLE && f->oversubscription > 1);

	*note = false;
	if (holds_faulty(f, finding))
		return false;
	*note = doubt && !finding->fails;
	return !*note;
}

struct fabric_score fabric_score(const struct fabric *f, const struct judge_finding *findings,
				 size_t n)
{
	const struct findings sure = { findings, n, true }, unsure = { findings, n, false };
	const bool one = f->truth.fault == FABRIC_PATH || f->truth.fault == FABRIC_EVERYTHING;
	struct fabric_score s = { 0 };
	bool note;

	for (size_t i = 0; i < (one ? 1 : f->truth.n_places); i++) {
		const struct judge_end *place = &f->truth.places[i];

		if (is_found(f, &sure, place))
			s.named++;
		else if (is_found(f, &unsure, place))
			s.undecided++;
		else
			s.missed++;
	}
	for (size_t i = 0; i < n; i++) {
		s.alarms += fabric_is_alarm(f, &findings[i], &note);
		s.notes += note;
	}
	return s;
}

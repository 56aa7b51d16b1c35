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
		const struct judge_end *end = &finding->ends[i];
		const bool whole_job = end->rank == JUDGE_NONE && end->leaf == JUDGE_NONE;

		if ((end->rail == rail || end->rail == JUDGE_EVERY) &&
		    (whole_job || fabric_touches(f, end, rank, rail)))
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

/* At most two ends, or as many as the place has: "rank 3, every rail" names a host, but no NIC. */
static bool is_narrow(const struct fabric *f, const struct judge_finding *finding,
		      const struct judge_end *place)
{
	size_t n = 0, of_place = 0;

	for (size_t i = 0; i < f->facts.n_ranks * f->facts.n_rails; i++) {
		const size_t rank = i / f->facts.n_rails, rail = i % f->facts.n_rails;

		n += holds(f, finding, rank, rail);
		of_place += fabric_touches(f, place, rank, rail);
	}
	return n <= 2 || n <= of_place;
}

/* Does it blame a direction that is well? Of a set or a path nobody can tell. */
static bool is_other_way(const struct fabric *f, const struct judge_finding *finding)
{
	return finding->n_ends == 1 && f->truth.loss && finding->way &&
	       !(finding->way & f->truth.way);
}

static bool counts(const struct fabric *f, const struct findings *all, size_t i)
{
	const struct judge_finding *one = &all->items[i];
	const bool fitting = fabric_fits(&f->truth, one->cause) && !is_other_way(f, one);

	if (all->named)
		return fitting && one->n_ends <= 2;
	return fitting || one->cause == JUDGE_UNDECIDED;
}

static bool is_end_found(const struct fabric *f, const struct findings *all,
			 const struct judge_end *place, size_t rank, size_t rail)
{
	for (size_t i = 0; i < all->n; i++) {
		if (counts(f, all, i) && holds(f, &all->items[i], rank, rail) &&
		    (!all->named || is_narrow(f, &all->items[i], place)))
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
		    is_end_found(f, all, place, rank, rail) == one_is_enough)
			return one_is_enough;
	}
	return !one_is_enough;
}

/* Does it name this leaf of a path, or all ends of the job that it has? */
static bool is_side(const struct fabric *f, const struct judge_finding *finding,
		    const struct judge_end *place)
{
	if (holds_leaf(finding, place->leaf))
		return true;
	for (size_t rank = 0; rank < f->facts.n_ranks; rank++) {
		if (fabric_leaf(f, rank, place->rail) == place->leaf &&
		    !holds(f, finding, rank, place->rail))
			return false;
	}
	return true;
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
		if (f->truth.fault == FABRIC_PATH && is_side(f, one, &places[0]) &&
		    is_side(f, one, &places[1]))
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

static bool holds_faulty_end(const struct fabric *f, const struct judge_finding *finding)
{
	for (size_t i = 0; i < f->facts.n_ranks * f->facts.n_rails; i++) {
		const size_t rank = i / f->facts.n_rails, rail = i % f->facts.n_rails;

		if (fabric_is_faulty(f, rank, rail) && holds(f, finding, rank, rail))
			return true;
	}
	return false;
}

static bool holds_faulty(const struct fabric *f, const struct judge_finding *finding)
{
	const struct fabric_truth *t = &f->truth;

	if (t->fault == FABRIC_PATH)
		return is_side(f, finding, &t->places[0]) || is_side(f, finding, &t->places[1]);
	return t->fault == FABRIC_EVERYTHING || holds_faulty_end(f, finding);
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

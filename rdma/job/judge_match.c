/* SPDX-License-Identifier: Apache-2.0 */
/* judge_match.c: who measures with whom. Choices are random, and equal for equal seeds. */
#include "lib/base/array.h"
#include "rdma/job/judge_priv.h"

/* SplitMix64. Source: Steele, Lea and Flood 2014. */
static uint64_t draw(struct judge *j)
{
	uint64_t z = j->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void shuffle(struct judge *j, uint16_t *list, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = draw(j) % i;
		uint16_t swap = list[i - 1];
		list[i - 1] = list[k];
		list[k] = swap;
	}
}

/* For what a partner is looked for. */
struct wish {
	enum judge_kind kind;
	unsigned rail;
};

static bool met_before(const struct judge *j, struct wish w, unsigned a, unsigned b)
{
	const struct judge_test t = { w.kind, (uint16_t)a, (uint16_t)b, (uint8_t)w.rail };
	size_t bit = judge_met(j, &t);

	return j->met[bit / 8] >> bit % 8 & 1;
}

/* How well b suits as a partner of a: best in its leaf and of its model. */
static unsigned suits(const struct judge *j, struct wish w, unsigned a, unsigned b)
{
	const struct judge_rail *x = judge_rail_of(j, a, w.rail), *y = judge_rail_of(j, b, w.rail);
	bool leaf = x->leaf == y->leaf && x->leaf != JUDGE_NONE, model = x->model == y->model;

	return 1u + (leaf ? 2u : 0u) + (model ? 1u : 0u);
}

/* The best of list for a; of equal ones the first that a has not met. SIZE_MAX: none. */
static size_t best_partner(const struct judge *j, struct wish w, unsigned a, const uint16_t *list,
			   size_t n)
{
	size_t best = SIZE_MAX;
	unsigned most = 0;

	for (size_t i = 0; i < n; i++) {
		if (list[i] == a || list[i] == JUDGE_NONE)
			continue;
		unsigned points = 2 * suits(j, w, a, list[i]);
		if (points + 1 <= most)
			continue;
		/* A new partner of any kind is worth more than one that it has met. */
		if (!met_before(j, w, a, list[i]))
			points += 2 * 5;
		if (points > most) {
			most = points;
			best = i;
		}
		if (most == 2 * 4 + 2 * 5)
			break;
	}
	return best;
}

static bool is_free(const struct judge *j, unsigned rank, unsigned rail)
{
	if (!judge_is_testable(j, rank, rail) || j->bad[judge_at(j, rank, rail)])
		return false;
	for (size_t i = 0; i < j->n_tests; i++) {
		const struct judge_test *t = &j->tests[i];
		if (t->rail == rail && (t->a == rank || t->b == rank))
			return false;
	}
	return true;
}

/* The ends of the rail that have no test in this round, shuffled. want: those, or NULL: all. */
static uint16_t *free_ends(struct judge *j, unsigned rail, const bool *want, bool wanted, size_t *n)
{
	uint16_t *list = malloc(j->n_ranks * sizeof(*list));

	*n = 0;
	for (unsigned i = 0; list && i < j->n_ranks; i++) {
		if ((want && want[judge_at(j, i, rail)] != wanted) || !is_free(j, i, rail))
			continue;
		list[(*n)++] = (uint16_t)i;
	}
	if (list)
		shuffle(j, list, *n);
	return list;
}

static int pair(struct judge *j, struct wish w, unsigned a, unsigned b, struct err *e)
{
	struct judge_test t = { .kind = w.kind, .rail = (uint8_t)w.rail };

	/* Half of the time the other one sends first. */
	bool turn = draw(j) & 1;
	t.a = (uint16_t)(turn ? b : a);
	t.b = (uint16_t)(turn ? a : b);
	return judge_add_test(j, t, e);
}

/* Pair those of the list that are not JUDGE_NONE, until at most one is left. */
static int pair_among(struct judge *j, struct wish w, uint16_t *list, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == JUDGE_NONE)
			continue;
		size_t k = best_partner(j, w, list[i], list + i + 1, n - i - 1);
		if (k == SIZE_MAX)
			continue;
		if (pair(j, w, list[i], list[i + 1 + k], e))
			return -1;
		list[i] = list[i + 1 + k] = JUDGE_NONE;
	}
	return 0;
}

/* The last of an odd number measures with one that has a partner already. */
static int pair_last(struct judge *j, struct wish w, unsigned last, struct err *e)
{
	auto_free uint16_t *list = malloc(j->n_ranks * sizeof(*list));
	size_t n = 0, k;

	if (!list)
		return err_nomem(e);
	for (unsigned i = 0; i < j->n_ranks; i++) {
		if (i != last && judge_is_testable(j, i, w.rail) && !j->bad[judge_at(j, i, w.rail)])
			list[n++] = (uint16_t)i;
	}
	shuffle(j, list, n);
	k = best_partner(j, w, last, list, n);
	return k == SIZE_MAX ? 0 : pair(j, w, last, list[k], e);
}

int judge_match_all(struct judge *j, enum judge_kind kind, unsigned rail, struct err *e)
{
	const struct wish w = { kind, rail };
	size_t n;
	auto_free uint16_t *list = free_ends(j, rail, NULL, true, &n);

	if (!list)
		return err_nomem(e);
	if (pair_among(j, w, list, n, e))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (list[i] != JUDGE_NONE)
			return pair_last(j, w, list[i], e);
	}
	return 0;
}

int judge_match_some(struct judge *j, enum judge_kind kind, unsigned rail, const bool *want,
		     struct err *e)
{
	const struct wish w = { kind, rail };
	size_t n, n_good;
	auto_free uint16_t *list = free_ends(j, rail, want, true, &n);
	auto_free uint16_t *good = free_ends(j, rail, want, false, &n_good);

	if (!list || !good)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++) {
		size_t k = best_partner(j, w, list[i], good, n_good);
		if (k == SIZE_MAX)
			continue;
		if (pair(j, w, list[i], good[k], e))
			return -1;
		good[k] = list[i] = JUDGE_NONE;
	}
	return pair_among(j, w, list, n, e);
}

/* ---- pairs of leaves ---- */

struct leaves {
	uint16_t *leaf; /* their numbers */
	size_t *first;  /* of each leaf, and behind the last: its ranks in the list below */
	uint16_t *ranks;
	size_t n;
};

static void free_leaves(struct leaves *l)
{
	free(l->leaf);
	free(l->first);
	free(l->ranks);
}

static uint16_t leaf_of(const struct judge *j, unsigned rank, unsigned rail)
{
	return judge_is_testable(j, rank, rail) ? judge_rail_of(j, rank, rail)->leaf : JUDGE_NONE;
}

static int find_leaves(const struct judge *j, unsigned rail, struct leaves *l, struct err *e)
{
	size_t at = 0;

	*l = (struct leaves){ .leaf = malloc(j->n_ranks * sizeof(*l->leaf)),
			      .first = malloc((j->n_ranks + 1) * sizeof(*l->first)),
			      .ranks = malloc(j->n_ranks * sizeof(*l->ranks)) };
	if (!l->leaf || !l->first || !l->ranks)
		return err_nomem(e);
	for (unsigned i = 0; i < j->n_ranks; i++) {
		size_t k = 0;
		while (k < l->n && l->leaf[k] != leaf_of(j, i, rail))
			k++;
		if (k == l->n && leaf_of(j, i, rail) != JUDGE_NONE)
			l->leaf[l->n++] = leaf_of(j, i, rail);
	}
	for (size_t k = 0; k < l->n; k++) {
		l->first[k] = at;
		for (unsigned i = 0; i < j->n_ranks; i++) {
			if (leaf_of(j, i, rail) == l->leaf[k])
				l->ranks[at++] = (uint16_t)i;
		}
	}
	l->first[l->n] = at;
	return 0;
}

/* A rank of the leaf; another one in each turn. */
static unsigned rank_of_leaf(const struct leaves *l, size_t leaf, unsigned turn)
{
	return l->ranks[l->first[leaf] + turn % (l->first[leaf + 1] - l->first[leaf])];
}

/* Round robin: in each turn a leaf is in at most one pair, after all of them each two met once. */
static int pair_leaves(struct judge *j, struct wish w, const struct leaves *l, unsigned turn,
		       struct err *e)
{
	size_t even = l->n + l->n % 2;

	for (size_t k = 0; k < even / 2; k++) {
		size_t a = k ? (turn + k) % (even - 1) : even - 1;
		size_t b = (turn + even - 1 - k) % (even - 1);
		if (a >= l->n || b >= l->n)
			continue;
		if (pair(j, w, rank_of_leaf(l, a, turn), rank_of_leaf(l, b, turn), e))
			return -1;
	}
	return 0;
}

/* A leaf with many ranks is in as many pairs at once, with another rank in each. */
int judge_match_leaves(struct judge *j, unsigned rail, unsigned round, unsigned *rounds,
		       struct err *e)
{
	const struct wish w = { JUDGE_REACH, rail };
	struct leaves l;
	int rc = find_leaves(j, rail, &l, e);
	size_t turns = l.n < 2 ? 0 : l.n + l.n % 2 - 1, at_once = 1 + j->n_ranks / (l.n + 1);
	*rounds = (unsigned)((turns + at_once - 1) / at_once);
	for (size_t i = round * at_once; !rc && i < turns && i < (round + 1) * at_once; i++)
		rc = pair_leaves(j, w, &l, (unsigned)i, e);
	free_leaves(&l);
	return rc;
}

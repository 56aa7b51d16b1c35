// SPDX-License-Identifier: Apache-2.0
/*
 * The rules of docs/affinity.md once more, as tables, against the code: random machines with one
 * known answer. Nothing here calls the code for a distance, or reads what is above a function: an
 * answer comes from the places that the test itself gave.
 */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/core/choose.h"
#include "topo/testing/fixture.h"

#define MACHINES   400
#define DEVICES    24
#define LEVELS     8
#define VENDOR_AMD 0x1002

/* One level of switches as the kernel shows it, and the chip that it belongs to. */
struct level {
	int number, chip;
	bool counts; /* as a chip: the bridge of a GPU's own package does not */
};

/* A GPU or an HCA, with the levels from the root port down to it. */
struct device {
	bool gpu, down;
	enum topo_role role;
	int numa, root, port;
	struct level level[LEVELS];
	int n_levels;
	char name[TOPO_NAME_LEN]; /* of an HCA */
};

struct spec {
	struct fixture fx;
	struct device device[DEVICES];
	int n, levels, chips, ports;
	uint64_t seed;
};

static unsigned int pick(struct spec *s, unsigned int n)
{
	s->seed = s->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(s->seed >> 33) % n;
}

/* ---- machines ---- */

/* Switch chips: how many levels the kernel shows of one, and its ids at each. */
static const struct {
	const struct fixture_ids *upper, *lower; /* lower NULL: one level */
} chips[] = {
	{ &fixture_plain, NULL },
	{ &fixture_gen4, &fixture_gen4 },
	{ &fixture_gen5_upper, &fixture_gen5_lower },
};

static void enter(struct spec *s, struct device *at, int chip, bool counts)
{
	at->level[at->n_levels++] = (struct level){ s->levels++, chip, counts };
}

static void add_device(struct spec *s, const struct device *at, uint32_t below)
{
	struct device *d = &s->device[s->n];

	*d = *at;
	d->gpu = pick(s, 2);
	if (d->gpu && pick(s, 4) == 0) { /* an accelerator of AMD, behind a bridge of its own */
		enter(s, d, s->chips++, false);
		below = fixture_slot(&s->fx, below, &fixture_amd);
		uint32_t gpu = fixture_gpu(&s->fx, below);
		s->fx.m->gpu[gpu].vendor = TOPO_AMD;
		s->fx.m->pci[s->fx.m->gpu[gpu].pci].vendor = VENDOR_AMD;
	} else if (d->gpu) {
		(void)fixture_gpu(&s->fx, below);
	} else {
		(void)snprintf(d->name, sizeof(d->name), "h%d", s->n);
		uint32_t hca = fixture_hca(&s->fx, below, d->name);
		struct topo_hca *h = &s->fx.m->hca[hca];
		d->down = pick(s, 8) == 0;
		d->role = (enum topo_role[]){ TOPO_ROLE_UNKNOWN, TOPO_COMPUTE, TOPO_STORAGE,
					      TOPO_MANAGEMENT }[pick(s, 4)];
		h->port[0].active = d->down ? TOPO_NO : TOPO_YES;
		h->role = d->role;
	}
	s->n++;
}

static void grow(struct spec *s, struct device at, uint32_t below, bool may_be_broadcom);

/* Two levels of Broadcom's directly above another chip of theirs would be ambiguous. */
static void add_chip(struct spec *s, struct device at, uint32_t below, bool may_be_broadcom)
{
	unsigned int kind = may_be_broadcom ? pick(s, 3) : 0;
	int chip = s->chips++;
	uint32_t up = fixture_switch(&s->fx, below, chips[kind].upper);

	enter(s, &at, chip, true);
	for (unsigned int n = 1 + pick(s, 3); n; n--) {
		struct device branch = at;
		uint32_t port = fixture_down(&s->fx, up);

		if (chips[kind].lower && pick(s, 3)) {
			enter(s, &branch, chip, true);
			port = fixture_slot(&s->fx, port, chips[kind].lower);
		}
		grow(s, branch, port, false);
	}
}

static void grow(struct spec *s, struct device at, uint32_t below, bool may_be_broadcom)
{
	bool full = s->n + 1 >= DEVICES || s->fx.bus > 200;

	if (!full && at.n_levels < 4 && pick(s, 3) == 0)
		add_chip(s, at, below, may_be_broadcom);
	else if (!full)
		add_device(s, &at, below);
}

static void make_spec(struct spec *s, struct topo_machine *m, uint64_t seed)
{
	*s = (struct spec){ .fx = { .m = m }, .seed = seed };
	for (unsigned int roots = 1 + pick(s, 4), r = 0; r < roots; r++) {
		struct device at = { .numa = (int)pick(s, 2), .root = (int)r };

		fixture_root(&s->fx, at.numa);
		for (unsigned int n = 1 + pick(s, 3); n; n--) {
			at.port = s->ports++;
			grow(s, at, fixture_port(&s->fx), true);
		}
	}
	fixture_done(&s->fx);
}

/* ---- the documented rules ---- */

struct answer {
	enum topo_class class;
	uint32_t chips;
};

/* The first row whose condition holds. */
enum place { SAME_PORT, SAME_ROOT, SAME_NODE, ANYWHERE };

static bool is_at(const struct device *a, const struct device *b, enum place p)
{
	switch (p) {
	case SAME_PORT:
		return a->port == b->port;
	case SAME_ROOT:
		return a->root == b->root;
	case SAME_NODE:
		return a->numa == b->numa;
	case ANYWHERE:
		break;
	}
	return true;
}

static const struct {
	enum place place;
	enum topo_class one_level, more_levels; /* of switches between the two */
	int rank;
} rows[] = {
	{ SAME_PORT, TOPO_PIX, TOPO_PXB, 1 },
	{ SAME_ROOT, TOPO_PHB, TOPO_PHB, 2 },
	{ SAME_NODE, TOPO_NODE, TOPO_NODE, 3 },
	{ ANYWHERE, TOPO_SYS, TOPO_SYS, 4 },
};

/* Levels of both that are not common, and the lowest common one if the path turns there. */
static int between(const struct device *a, const struct device *b, struct level out[2 * LEVELS])
{
	int common = 0, n = 0;

	if (a->port == b->port) {
		while (common < a->n_levels && common < b->n_levels &&
		       a->level[common].number == b->level[common].number)
			common++;
		out[n++] = a->level[common - 1];
	}
	for (int i = common; i < a->n_levels; i++)
		out[n++] = a->level[i];
	for (int i = common; i < b->n_levels; i++)
		out[n++] = b->level[i];
	return n;
}

static uint32_t count_chips(const struct level *l, int n)
{
	uint32_t count = 0;

	for (int i = 0; i < n; i++) {
		bool seen = !l[i].counts;
		for (int k = 0; k < i; k++)
			seen |= l[k].chip == l[i].chip;
		count += !seen;
	}
	return count;
}

static struct answer documented(const struct device *a, const struct device *b, int *rank)
{
	struct level l[2 * LEVELS];
	int n = between(a, b, l);
	size_t row = 0;

	while (!is_at(a, b, rows[row].place))
		row++;
	*rank = rows[row].rank;
	return (struct answer){ n > 1 ? rows[row].more_levels : rows[row].one_level,
				count_chips(l, n) };
}

/* ---- against the code ---- */

static uint32_t gpu_number(const struct spec *s, const struct device *d)
{
	uint32_t n = 0;

	for (const struct device *x = s->device; x < d; x++)
		n += x->gpu;
	return n;
}

START_TEST(distances_are_as_documented)
{
	unsigned int pairs = 0;

	for (uint64_t seed = 1; seed <= MACHINES; seed++) {
		auto_topo_machine struct topo_machine m = { 0 };
		struct spec s;
		int rank;

		make_spec(&s, &m, seed);
		for (const struct device *g = s.device; g < s.device + s.n; g++) {
			for (const struct device *h = s.device; h < s.device + s.n; h++) {
				struct topo_distance d;

				if (!g->gpu || h->gpu)
					continue;
				struct answer want = documented(g, h, &rank);
				topo_distance_to_hca(&m, gpu_number(&s, g),
						     topo_find_hca(&m, h->name), &d);
				ck_assert_msg(d.class == want.class && d.switches == want.chips,
					      "machine %d, GPU %u, %s: %s %u, documented %s %u",
					      (int)seed, gpu_number(&s, g), h->name,
					      topo_class_name(d.class), d.switches,
					      topo_class_name(want.class), want.chips);
				pairs++;
			}
		}
	}
	ck_assert_uint_gt(pairs, 3000);
}
END_TEST

/* Software devices aside: not down, and no card for storage or management if there are others. */
static bool is_candidate(const struct spec *s, const struct device *h)
{
	bool others = false;

	for (const struct device *x = s->device; x < s->device + s->n; x++)
		others |= !x->gpu && !x->down && x->role != TOPO_STORAGE &&
			  x->role != TOPO_MANAGEMENT;
	return !h->gpu && !h->down &&
	       (!others || (h->role != TOPO_STORAGE && h->role != TOPO_MANAGEMENT));
}

/* " h3 h5": the candidates of the smallest rank, and of these the ones with the fewest chips. */
static void documented_nearest(const struct spec *s, const struct device *g, char out[256])
{
	int rank, best_rank = 9;
	uint32_t best = UINT32_MAX;

	*out = '\0';
	for (const struct device *h = s->device; h < s->device + s->n; h++) {
		if (!is_candidate(s, h))
			continue;
		struct answer a = documented(g, h, &rank);
		if (rank < best_rank || (rank == best_rank && a.chips < best)) {
			best_rank = rank;
			best = a.chips;
			*out = '\0';
		}
		if (rank == best_rank && a.chips == best) {
			testing_append(out, 256, " ");
			testing_append(out, 256, h->name);
		}
	}
}

START_TEST(the_nearest_are_as_documented)
{
	for (uint64_t seed = 1; seed <= MACHINES; seed++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_topo_choice struct topo_choice c = { 0 };
		struct spec s;
		struct err e;

		make_spec(&s, &m, seed);
		ck_assert_int_eq(topo_choose(&m, NULL, &c, &e), 0);
		for (const struct device *g = s.device; g < s.device + s.n; g++) {
			char want[256], got[256] = "";

			if (!g->gpu)
				continue;
			const struct topo_gpu_choice *n = &c.gpu[gpu_number(&s, g)];
			documented_nearest(&s, g, want);
			for (size_t i = 0; i < n->n_nearest; i++) {
				testing_append(got, sizeof(got), " ");
				testing_append(got, sizeof(got), m.hca[n->nearest[i]].name);
			}
			ck_assert_msg(!strcmp(got, want), "machine %d, GPU %u:%s, documented%s",
				      (int)seed, gpu_number(&s, g), got, want);
		}
	}
}
END_TEST

/* ---- which GPU uses which HCA ---- */

static bool is_same_group(const struct topo_gpu_choice *a, const struct topo_gpu_choice *b)
{
	return a->n_nearest == b->n_nearest &&
	       !memcmp(a->nearest, b->nearest, a->n_nearest * sizeof(*a->nearest));
}

static size_t place_of(const struct topo_gpu_choice *g, uint32_t hca)
{
	size_t i = 0;

	while (i < g->n_nearest && g->nearest[i] != hca)
		i++;
	return i;
}

/* Whether no GPU of another group has an HCA of this one. */
static bool is_alone(const struct topo_choice *c, const struct topo_gpu_choice *g)
{
	for (size_t i = 0; i < c->n_gpus; i++) {
		const struct topo_gpu_choice *other = &c->gpu[i];
		for (size_t k = 0; k < other->n_nearest && !is_same_group(g, other); k++)
			if (place_of(g, other->nearest[k]) < g->n_nearest)
				return false;
	}
	return true;
}

/* "In the order of PCI addresses, each GPU gets one card before any gets a second": as many GPUs as
 * cards have one each, in order. More GPUs share a card with their neighbours, evenly. */
static void check_group(const struct topo_choice *c, const struct topo_gpu_choice *g)
{
	size_t load[DEVICES] = { 0 }, n = 0, last = 0;

	for (size_t i = 0; i < c->n_gpus; i++) {
		if (!is_same_group(g, &c->gpu[i]))
			continue;
		size_t at = place_of(g, c->gpu[i].assigned);
		ck_assert_uint_lt(at, g->n_nearest);
		ck_assert(n == 0 || at >= last);
		load[at]++;
		last = at;
		n++;
	}
	for (size_t i = 0; i < g->n_nearest; i++) {
		ck_assert(n != g->n_nearest || load[i] == 1);
		ck_assert(n > g->n_nearest || load[i] <= 1);
		ck_assert(n < g->n_nearest ||
			  (load[i] >= n / g->n_nearest && load[i] <= n / g->n_nearest + 1));
	}
}

START_TEST(cards_are_assigned_as_documented)
{
	unsigned int groups = 0;

	for (uint64_t seed = 1; seed <= MACHINES; seed++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_topo_choice struct topo_choice c = { 0 };
		struct spec s;
		struct err e;

		make_spec(&s, &m, seed);
		ck_assert_int_eq(topo_choose(&m, NULL, &c, &e), 0);
		for (size_t i = 0; i < c.n_gpus; i++) {
			if (!c.gpu[i].n_nearest || !is_alone(&c, &c.gpu[i]))
				continue;
			check_group(&c, &c.gpu[i]);
			groups++;
		}
	}
	ck_assert_uint_gt(groups, 500);
}
END_TEST

TEST_PROGRAM("documented", distances_are_as_documented, the_nearest_are_as_documented,
	     cards_are_assigned_as_documented)

// SPDX-License-Identifier: Apache-2.0
/* Whatever changes on a machine changes only what must change. */
#include <stdio.h>

#include "lib/testing/testing.h"
#include "topo/core/choose.h"
#include "topo/testing/topo.h"
#include "topo/testing/fixture.h"
#include "topo/core/pci_switch.h"

/* All relations of a machine, GPU by GPU. */
struct table {
	struct topo_distance *distance;
	struct topo_choice c;
};

static struct table look(const struct topo_machine *m)
{
	struct table t = { .distance = calloc(m->n_gpus * m->n_hcas + 1, sizeof(*t.distance)) };
	struct err e = { 0 };

	ck_assert_ptr_nonnull(t.distance);
	for (uint32_t g = 0; g < m->n_gpus; g++) {
		for (uint32_t h = 0; h < m->n_hcas; h++)
			topo_distance_to_hca(m, g, h, &t.distance[g * m->n_hcas + h]);
	}
	ck_assert_int_eq(topo_choose(m, NULL, &t.c, &e), 0);
	return t;
}

static void table_clear(struct table *t)
{
	free(t->distance);
	topo_choice_clear(&t->c);
}
#define auto_table auto_clean(table_clear)

static bool is_above(const struct topo_machine *m, uint32_t top, uint32_t at)
{
	while (at != TOPO_NONE && at != top)
		at = m->pci[at].parent;
	return at == top;
}

/* How a function stands to a pair: above one of the two ends (or that itself), above both. */
struct stand {
	bool one, any, lowest; /* lowest: of those above both */
};

static struct stand stand(const struct topo_machine *m, uint32_t pci, uint32_t g, uint32_t h)
{
	const struct topo_hca *hca = &m->hca[h];
	uint32_t other = hca->second == TOPO_NONE ? hca->pci : hca->second;
	bool a = is_above(m, pci, m->gpu[g].pci), b = is_above(m, pci, hca->pci),
	     c = is_above(m, pci, other);
	struct topo_distance r;

	topo_distance_to_hca(m, g, h, &r);
	uint32_t sw = r.ancestor == TOPO_NONE ? TOPO_NONE : topo_switch_of(m, r.ancestor);
	return (struct stand){ a != b || a != c, a || b || c,
			       a && b && (pci == r.ancestor || pci == sw) };
}

static bool same_path(const struct topo_distance *x, const struct topo_distance *y)
{
	return x->class == y->class && x->bridges == y->bridges && x->ancestor == y->ancestor &&
	       x->same_root == y->same_root;
}

static bool same_chips(const struct topo_distance *x, const struct topo_distance *y)
{
	return x->switches == y->switches && x->collapsed == y->collapsed &&
	       x->probable == y->probable && x->own_bridge == y->own_bridge;
}

static bool same_speed(const struct topo_distance *x, const struct topo_distance *y)
{
	return x->max_bw == y->max_bw && x->cur_bw == y->cur_bw;
}

static bool same_list(const uint32_t *x, size_t n, const uint32_t *y, size_t k)
{
	return n == k && (!n || !memcmp(x, y, n * sizeof(*x)));
}

static bool same_choice(const struct topo_machine *m, const struct table *x, const struct table *y)
{
	bool same = x->c.n_rails == y->c.n_rails &&
		    same_list(x->c.rail, x->c.n_hcas, y->c.rail, y->c.n_hcas);

	for (size_t g = 0; g < m->n_gpus; g++) {
		const struct topo_gpu_choice *a = &x->c.gpu[g], *b = &y->c.gpu[g];
		same = same && a->assigned == b->assigned &&
		       same_list(a->nearest, a->n_nearest, b->nearest, b->n_nearest) &&
		       same_list(a->share, a->n_share, b->share, b->n_share);
	}
	return same;
}

/* What a change of function pci did to the pair that it must not do; NULL: nothing. */
typedef const char *(*judge_fn)(const struct stand *s, const struct topo_distance *was,
				const struct topo_distance *is);

static const char *judge_all(const struct topo_machine *m, uint32_t pci, const struct table *was,
			     const struct table *is, judge_fn judge)
{
	const char *bad = NULL;
	struct stand s;

	for (uint32_t g = 0; g < m->n_gpus && !bad; g++) {
		for (uint32_t h = 0; h < m->n_hcas && !bad; h++) {
			s = stand(m, pci, g, h);
			size_t at = g * m->n_hcas + h;
			bad = judge(&s, &was->distance[at], &is->distance[at]);
		}
	}
	return bad;
}

static const char *by_link(const struct stand *s, const struct topo_distance *was,
			   const struct topo_distance *is)
{
	if (!same_path(was, is) || !same_chips(was, is) || was->same_numa != is->same_numa)
		return "a link changed more than bandwidth";
	if (!s->one && !same_speed(was, is))
		return "a link that is not on the path changed its bandwidth";
	return is->max_bw > was->max_bw ? "a slower link made a path faster" : NULL;
}

static const char *by_id(const struct stand *s, const struct topo_distance *was,
			 const struct topo_distance *is)
{
	if (!same_path(was, is) || was->same_numa != is->same_numa)
		return "an id changed the path";
	if (!s->one && !s->lowest && (!same_chips(was, is) || !same_speed(was, is)))
		return "an id that is not on the path changed chips or bandwidth";
	return NULL;
}

static const char *by_numa(const struct stand *s, const struct topo_distance *was,
			   const struct topo_distance *is)
{
	bool shared = was->ancestor != TOPO_NONE || was->same_root;

	if (!same_chips(was, is) || !same_speed(was, is) || was->ancestor != is->ancestor)
		return "a node changed chips or bandwidth";
	if (shared && was->class != is->class)
		return "a node changed the class below one root complex";
	if (!s->any && (was->class != is->class || was->same_numa != is->same_numa))
		return "a node that is not on the path changed a class";
	return NULL;
}

struct counts {
	unsigned links, ids, nodes; /* mutations that changed something */
};

static void mutate_link(struct topo_machine *m, uint32_t i, const struct table *was,
			struct counts *n)
{
	struct topo_pci keep = m->pci[i];

	for (int what = 0; what < 2; what++) {
		if (what)
			m->pci[i].max.speed = m->pci[i].cur.speed = 15;
		else
			m->pci[i].max.width = m->pci[i].cur.width = 1;
		auto_table struct table is = look(m);
		const char *bad = judge_all(m, i, was, &is, by_link);
		ck_assert_msg(!bad, "%s", bad ? bad : "");
		ck_assert(same_choice(m, was, &is));
		for (size_t k = 0; k < m->n_gpus * m->n_hcas; k++)
			n->links += !same_speed(&was->distance[k], &is.distance[k]);
		m->pci[i] = keep;
	}
}

static void mutate_id(struct topo_machine *m, uint32_t i, const struct table *was, struct counts *n)
{
	struct topo_pci keep = m->pci[i];

	m->pci[i].sub_vendor ^= 0x0f00;
	topo_number_chips(m);
	auto_table struct table is = look(m);
	const char *bad = judge_all(m, i, was, &is, by_id);
	ck_assert_msg(!bad, "%s", bad ? bad : "");
	for (size_t k = 0; k < m->n_gpus * m->n_hcas; k++)
		n->ids += !same_chips(&was->distance[k], &is.distance[k]);
	m->pci[i] = keep;
	topo_number_chips(m);
}

static void mutate_node(struct topo_machine *m, uint32_t i, const struct table *was,
			struct counts *n)
{
	static const int nodes[] = { -1, 0, 1, 77 };
	int keep = m->pci[i].numa;

	for (size_t k = 0; k < ARRAY_SIZE(nodes); k++) {
		m->pci[i].numa = nodes[k];
		auto_table struct table is = look(m);
		const char *bad = judge_all(m, i, was, &is, by_numa);
		ck_assert_msg(!bad, "%s", bad ? bad : "");
		for (size_t w = 0; w < m->n_gpus * m->n_hcas; w++)
			n->nodes += was->distance[w].same_numa != is.distance[w].same_numa;
	}
	m->pci[i].numa = keep;
}

static struct counts mutate(struct topo_machine *m)
{
	auto_table struct table was = look(m);
	struct counts n = { 0 };

	for (uint32_t i = 0; i < m->n_pci; i++) {
		mutate_link(m, i, &was, &n);
		mutate_id(m, i, &was, &n);
		mutate_node(m, i, &was, &n);
	}
	auto_table struct table is = look(m);
	ck_assert(same_choice(m, &was, &is));
	return n;
}

START_TEST(mutated_trees_of_sysfs_are_survived)
{
	static void (*const build[])(struct topo_machine * m) = { fixture_dgx_a100,
								  fixture_dgx_h100,
								  fixture_hgx_h200, fixture_pcie4 };

	for (size_t i = 0; i < ARRAY_SIZE(build); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		build[i](&m);
		struct counts n = mutate(&m);
		/* that nothing ever changes would pass too */
		ck_assert(n.links > 0 && n.nodes > 0);
		ck_assert(n.ids > 0 || i >= 2);
	}
}
END_TEST

START_TEST(mutated_topology_files_are_survived)
{
	static const char *const names[] = { "dgx-a100", "oci-bm-gpu-h100", "rccl-topo_8p_950",
					     "synthetic-e_1switch_3gpu_4nic" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		topo_xml(names[i], &m);
		struct counts n = mutate(&m);
		ck_assert(n.links > 0);
		ck_assert(n.ids > 0 || i >= 2);
	}
}
END_TEST

TEST_PROGRAM("mutate", mutated_trees_of_sysfs_are_survived, mutated_topology_files_are_survived)

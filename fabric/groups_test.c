/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups_test.c: right fabrics of each design raise no alarm, and a mistake in one of them is named
 * at its node and its rail, and nowhere else.
 */
#include "fabric/groups.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define NODES    200
#define PORTS    16
#define LEAF_LEN 24

/* A made fabric. Texts live here. */
struct made {
	struct fabric_node node[NODES];
	struct fabric_port port[NODES][PORTS];
	char name[NODES][16], leaf[NODES][PORTS][LEAF_LEN];
	size_t n;
	uint64_t random; /* state */
};

static uint32_t below(struct made *m, uint32_t n)
{
	m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(m->random >> 33) % n;
}

/* Which leaf a rail has, by the design of the fabric. */
enum design { RAIL_LEAVES, TOP_OF_RACK, TWO_RAILS_A_LEAF, TWO_PLANES, LAG, SEVEN_RAILS, DESIGNS };

static void set_leaf(struct made *m, size_t i, size_t k, const char *leaf)
{
	struct fabric_port *x = &m->port[i][k];

	memmove(m->leaf[i][k], leaf, strlen(leaf) + 1);
	x->leaf = x->system = x->leaf_name = m->leaf[i][k];
	x->port = "swp1";
}

static const char *leaf_of(enum design d, unsigned group, unsigned rail, unsigned member,
			   char out[LEAF_LEN])
{
	unsigned leaf = d == TOP_OF_RACK        ? 0
			: d == TWO_RAILS_A_LEAF ? rail / 2
			: d == TWO_PLANES       ? rail * 2 + member
						: rail;

	(void)snprintf(out, LEAF_LEN, "g%u-leaf%u", group, leaf);
	return out;
}

static void add_node(struct made *m, enum design d, unsigned group)
{
	const unsigned members = d == TWO_PLANES || d == LAG ? 2 : 1;
	const unsigned rails = d == SEVEN_RAILS ? 7 : 8;
	struct fabric_node *node = &m->node[m->n];
	char leaf[LEAF_LEN];

	(void)snprintf(m->name[m->n], sizeof(m->name[0]), "n%03zu", m->n);
	*node = (struct fabric_node){ .name = m->name[m->n], .port = m->port[m->n] };
	for (unsigned r = 0; r < rails; r++) {
		for (unsigned k = 0; k < members; k++) {
			m->port[m->n][node->n] = (struct fabric_port){ .rail = r,
								       .member = k,
								       .interface = "eth",
								       .mbps = 400000,
								       .mtu = 9000 };
			set_leaf(m, m->n, node->n++, leaf_of(d, group, r, k, leaf));
		}
	}
	m->n++;
}

/* One to five groups of at least three nodes, one after the other or mixed. */
static struct made *make(uint64_t seed, enum design d)
{
	static struct made m;
	unsigned groups;

	memset(&m, 0, sizeof(m));
	m.random = seed;
	groups = 1 + below(&m, 5);
	for (unsigned i = 0; i < 4 * groups + below(&m, 100); i++)
		add_node(&m, d, i < 4 * groups ? i % groups : below(&m, groups));
	return &m;
}

static void group_and_check(struct made *m, struct fabric_groups *g, struct findings *all)
{
	struct err e = { .msg = "" };

	ck_assert_msg(fabric_group(m->node, m->n, g, &e) == 0, "%s", e.msg);
	ck_assert_msg(fabric_check(m->node, m->n, g, all, &e) == 0, "%s", e.msg);
}

START_TEST(right_fabrics_raise_no_alarm)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct made *m = make(seed, (enum design)(seed % DESIGNS));
		auto_fabric_groups struct fabric_groups g = { .n = 0 };
		auto_findings struct findings all = { .n = 0 };
		size_t unknown = 0;

		/* Some frames have not come yet. */
		for (size_t i = 0; i < m->n && seed % 2; i++) {
			if (below(m, 4) == 0) {
				m->port[i][below(m, 7)].leaf = NULL;
				unknown++;
			}
		}
		group_and_check(m, &g, &all);
		ck_assert_uint_eq(
			findings_count(&all, FINDING_FAIL) + findings_count(&all, FINDING_WARN), 0);
		ck_assert_msg(all.n == unknown, "seed %u: %zu findings, %zu unknown",
			      (unsigned)seed, all.n, unknown);
		for (size_t i = 0; i < m->n; i++)
			ck_assert_uint_ne(m->node[i].group, FABRIC_NO_GROUP);
	}
}
END_TEST

/* ---- mistakes ---- */

static void swap_ports(struct made *m, size_t i, size_t a, size_t b)
{
	char leaf[LEAF_LEN];

	memcpy(leaf, m->leaf[i][a], LEAF_LEN);
	set_leaf(m, i, a, m->leaf[i][b]);
	set_leaf(m, i, b, leaf);
}

/* One mistake at a node. Returns the code of its finding; NULL: it is none in this design. */
static const char *err_at(struct made *m, size_t i)
{
	const size_t n = m->node[i].n, a = below(m, (uint32_t)n), b = below(m, (uint32_t)n);

	switch (below(m, 5)) {
	case 0:
		if (strcmp(m->leaf[i][a], m->leaf[i][b]) == 0)
			return NULL;
		swap_ports(m, i, a, b);
		return "crossed";
	case 1:
		set_leaf(m, i, a, "elsewhere");
		return "leaf";
	case 2:
		m->port[i][a].mbps = 200000;
		return "rate";
	case 3:
		m->port[i][a].mtu = 1500;
		return "mtu";
	default:
		memmove(&m->port[i][a], &m->port[i][a + 1], (n - a - 1) * sizeof(m->port[0][0]));
		m->node[i].n--;
		return "missing";
	}
}

START_TEST(each_mistake_is_named_at_its_node)
{
	size_t mistakes = 0;

	for (uint64_t seed = 1000; mistakes < 200; seed++) {
		struct made *m = make(seed, (enum design)(seed % DESIGNS));
		auto_fabric_groups struct fabric_groups g = { .n = 0 };
		auto_findings struct findings all = { .n = 0 };
		const size_t at = below(m, (uint32_t)m->n);
		const char *code = err_at(m, at);

		if (!code)
			continue;
		mistakes++;
		group_and_check(m, &g, &all);
		ck_assert_msg(all.n == 1, "seed %u: %zu findings", (unsigned)seed, all.n);
		ck_assert_str_eq(all.item[0].code, code);
		ck_assert_ptr_eq(strstr(all.item[0].subject, m->name[at]), all.item[0].subject);
	}
}
END_TEST

/* So many nodes of a group, from the last one back, have another chassis at a rail. Returns them.
 */
static size_t replace_leaf(struct made *m, unsigned rail, const char *system, size_t most)
{
	size_t n = 0;

	for (size_t i = m->n; i-- && n < most;) {
		if (m->node[i].group != 0 || m->node[i].n <= rail)
			continue;
		set_leaf(m, i, rail, "new chassis");
		m->port[i][rail].system = system;
		n++;
	}
	return n;
}

/* Frames of the old leaf and of the new one, in right fabrics of one port a rail. */
START_TEST(a_leaf_that_is_replaced_is_one_finding)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct made *m = make(seed, seed % 2 ? RAIL_LEAVES : SEVEN_RAILS);
		auto_fabric_groups struct fabric_groups g = { .n = 0 }, again = { .n = 0 };
		auto_findings struct findings none = { .n = 0 }, all = { .n = 0 };
		const unsigned rail = below(m, 7);
		const bool same_name = seed % 3 == 0;
		char old[LEAF_LEN];
		size_t n;

		group_and_check(m, &g, &none);
		ck_assert_uint_eq(none.n, 0);
		memcpy(old, g.group[0].place[rail].leaf, LEAF_LEN);
		/* Fewer than half, or the new one is that of the group. */
		n = (g.group[0].n - 1) / 2;
		n = replace_leaf(m, rail, same_name ? old : "new", n);
		group_and_check(m, &again, &all);
		if (n == 0)
			continue;
		ck_assert_uint_eq(again.group[0].n, g.group[0].n);
		if (same_name || n >= FABRIC_GROUP_MIN) {
			ck_assert_msg(all.n == 1, "seed %u: %zu", (unsigned)seed, all.n);
			ck_assert_str_eq(all.item[0].code, "replaced");
			ck_assert_ptr_nonnull(strstr(all.item[0].subject, old));
		} else {
			ck_assert_uint_eq(all.n, n);
			ck_assert_str_eq(all.item[0].code, "leaf");
		}
		ck_assert_uint_eq(findings_count(&all, FINDING_FAIL),
				  same_name || n >= FABRIC_GROUP_MIN ? 0 : n);
	}
}
END_TEST

/* All of it is a fact of chassis: names decide nothing. */
START_TEST(one_name_of_two_leaves_raises_no_alarm)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct made *m = make(seed, (enum design)(seed % DESIGNS));
		auto_fabric_groups struct fabric_groups g = { .n = 0 };
		auto_findings struct findings all = { .n = 0 };

		for (size_t i = 0; i < m->n; i++)
			for (size_t k = 0; k < m->node[i].n; k++)
				m->port[i][k].system = "leaf";
		group_and_check(m, &g, &all);
		ck_assert_uint_eq(all.n, 0);
	}
}
END_TEST

/* ---- what cannot be known ---- */

static void four_rails(struct made *m, unsigned nodes)
{
	memset(m, 0, sizeof(*m));
	for (unsigned i = 0; i < nodes; i++) {
		add_node(m, RAIL_LEAVES, 0);
		m->node[i].n = 4;
	}
}

START_TEST(a_swap_in_a_group_of_two_is_undecidable)
{
	static struct made m;
	auto_fabric_groups struct fabric_groups g = { .n = 0 };
	auto_findings struct findings all = { .n = 0 };

	four_rails(&m, 2);
	swap_ports(&m, 0, 0, 1);
	group_and_check(&m, &g, &all);
	ck_assert_uint_eq(g.n, 0);
	ck_assert_uint_eq(findings_count(&all, FINDING_UNKNOWN), 2);
	ck_assert_str_eq(all.item[0].code, "undecided");
	ck_assert_str_eq(all.item[0].reason, "fewer than 3 nodes are cabled alike");
}
END_TEST

/* Half of the cables of a node are crossed. It agrees with no group, but has the leaves of one. */
START_TEST(a_node_with_the_leaves_of_a_group_is_compared_with_it)
{
	static struct made m;
	auto_fabric_groups struct fabric_groups g = { .n = 0 };
	auto_findings struct findings all = { .n = 0 };

	four_rails(&m, 5);
	swap_ports(&m, 0, 2, 3);
	group_and_check(&m, &g, &all);
	ck_assert_uint_eq(g.n, 1);
	ck_assert_uint_eq(g.group[0].n, 4);
	ck_assert(m.node[0].group == FABRIC_NO_GROUP && m.node[0].near == 0);
	ck_assert_uint_eq(all.n, 1);
	ck_assert_str_eq(all.item[0].subject, "n000 rail 2 (eth)");
	ck_assert_str_eq(all.item[0].value, "g0-leaf3 port swp1, expected g0-leaf2");
	ck_assert_str_eq(all.item[0].reason, "the cables of rails 2 and 3 are crossed");
}
END_TEST

START_TEST(a_node_that_hears_nothing_or_others_is_undecided)
{
	static struct made m;
	auto_fabric_groups struct fabric_groups g = { .n = 0 };
	auto_findings struct findings all = { .n = 0 };

	four_rails(&m, 5);
	for (size_t k = 0; k < 4; k++) {
		m.port[0][k].leaf = NULL;
		set_leaf(&m, 1, k, "other");
	}
	m.port[2][3].contested = true;
	group_and_check(&m, &g, &all);
	ck_assert_uint_eq(all.n, 3);
	ck_assert_str_eq(all.item[0].reason, "none of its leaves is known");
	ck_assert_str_eq(all.item[1].reason, "its leaves are not those of a group");
	ck_assert_str_eq(all.item[2].code, "contested");
}
END_TEST

START_TEST(a_degraded_rail_is_a_finding_in_every_group_and_in_none)
{
	static struct made m;
	auto_fabric_groups struct fabric_groups g = { .n = 0 };
	auto_findings struct findings all = { .n = 0 };

	four_rails(&m, 4);
	for (size_t k = 0; k < 4; k++)
		m.port[0][k].leaf = NULL;
	m.port[0][1].degraded = "rate port";
	m.port[1][2].degraded = "new-check";
	m.port[2][0].degraded = "";
	group_and_check(&m, &g, &all);
	ck_assert_uint_eq(all.n, 3);
	ck_assert_str_eq(all.item[0].code, "degraded");
	ck_assert_str_eq(all.item[0].subject, "n000 rail 1 (eth)");
	ck_assert_str_eq(all.item[0].value, "rate port");
	ck_assert_str_eq(all.item[0].reason, "the port is slower than it was before");
	ck_assert_int_eq(all.item[0].state, FINDING_WARN);
	ck_assert_str_eq(all.item[2].reason, "the agent of the node says so");
}
END_TEST

/* Two nodes with different mistakes come first, so groups begin with them. */
START_TEST(the_order_of_nodes_decides_nothing)
{
	static struct made m;
	auto_fabric_groups struct fabric_groups g = { .n = 0 };
	auto_findings struct findings all = { .n = 0 };

	memset(&m, 0, sizeof(m));
	for (unsigned i = 0; i < 8; i++)
		add_node(&m, RAIL_LEAVES, 0);
	swap_ports(&m, 0, 0, 1);
	swap_ports(&m, 1, 2, 3);
	group_and_check(&m, &g, &all);
	ck_assert_uint_eq(g.n, 1);
	ck_assert_uint_eq(g.group[0].n, 8);
	ck_assert_uint_eq(all.n, 2);
	ck_assert_str_eq(all.item[0].subject, "n000 rail 0 (eth)");
	ck_assert_str_eq(all.item[1].subject, "n001 rail 2 (eth)");
}
END_TEST

static int all_of_them(void *arg, struct err *e)
{
	struct made *m = arg;
	auto_fabric_groups struct fabric_groups g = { .n = 0 };
	auto_findings struct findings all = { .n = 0 };

	return fabric_group(m->node, m->n, &g, e) || fabric_check(m->node, m->n, &g, &all, e) ? -1
											      : 0;
}

START_TEST(allocations_may_fail)
{
	static struct made m;

	four_rails(&m, 5);
	swap_ports(&m, 0, 0, 1);
	ck_assert_str_eq(alloc_fail_each(all_of_them, &m), "ok");
	m.n = FABRIC_NODES_MAX + 1;
	struct err e;

	ck_assert_int_eq(all_of_them(&m, &e), -1);
	ck_assert_str_eq(e.msg, "more than 16384 nodes");
}
END_TEST

TEST_PROGRAM("groups", right_fabrics_raise_no_alarm, each_mistake_is_named_at_its_node,
	     a_leaf_that_is_replaced_is_one_finding, one_name_of_two_leaves_raises_no_alarm,
	     a_swap_in_a_group_of_two_is_undecidable,
	     a_node_with_the_leaves_of_a_group_is_compared_with_it,
	     a_node_that_hears_nothing_or_others_is_undecided,
	     a_degraded_rail_is_a_finding_in_every_group_and_in_none,
	     the_order_of_nodes_decides_nothing, allocations_may_fail)

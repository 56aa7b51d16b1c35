/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c: groups by majority. */
#include "fabric/groups.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"

/* Groups change while nodes move between them; a few rounds are enough, and more end nothing. */
#define ROUNDS 8

void fabric_groups_clear(struct fabric_groups *g)
{
	free(g->group);
	*g = (struct fabric_groups){ .n = 0 };
}

static bool is_at(const struct fabric_place *p, const struct fabric_port *x)
{
	return p->rail == x->rail && p->member == x->member;
}

static const struct fabric_place *find_place(const struct fabric_group *g,
					     const struct fabric_port *x)
{
	for (size_t i = 0; i < g->n_places; i++)
		if (is_at(&g->place[i], x))
			return &g->place[i];
	return NULL;
}

static bool is_leaf(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* ---- does a node agree with a group ---- */

struct agreement {
	size_t known, same; /* places whose leaf both know, and those with the same one */
	size_t ours;        /* known leaves of the node that the group has at any place */
	size_t all;         /* known leaves of the node */
};

static bool has_leaf(const struct fabric_group *g, const char *leaf)
{
	for (size_t i = 0; i < g->n_places; i++)
		if (is_leaf(g->place[i].leaf, leaf))
			return true;
	return false;
}

static struct agreement agreement_of(const struct fabric_group *g, const struct fabric_node *n)
{
	struct agreement a = { 0 };

	for (size_t i = 0; i < n->n; i++) {
		const struct fabric_place *p = find_place(g, &n->port[i]);

		if (!n->port[i].leaf)
			continue;
		a.all++;
		a.ours += has_leaf(g, n->port[i].leaf);
		if (!p || !p->leaf)
			continue;
		a.known++;
		a.same += is_leaf(p->leaf, n->port[i].leaf);
	}
	return a;
}

static bool is_enough(size_t part, size_t of)
{
	return of && part * 100 >= of * FABRIC_ALIKE;
}

/* a is a better group for a node than b: first those that have a majority, then by share. */
struct candidate {
	bool large;
	struct agreement of;
};

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	size_t share = a->of.same * b->of.known, other = b->of.same * a->of.known;

	if (a->large != b->large)
		return a->large;
	return share != other ? share > other : a->of.same > b->of.same;
}

/* The group with which the node agrees most; FABRIC_NO_GROUP: with none. */
static size_t best_group(const struct fabric_groups *g, const struct fabric_node *n)
{
	size_t best = FABRIC_NO_GROUP;
	struct candidate most = { false, { 0 } };

	for (size_t i = 0; i < g->n; i++) {
		const struct candidate c = { g->group[i].n >= FABRIC_GROUP_MIN,
					     agreement_of(&g->group[i], n) };

		if (!is_enough(c.of.same, c.of.known))
			continue;
		if (best == FABRIC_NO_GROUP || is_better(&c, &most)) {
			best = i;
			most = c;
		}
	}
	return best;
}

/* The group that has the leaves of an undecided node, at whatever places. */
static size_t near_group(const struct fabric_groups *g, const struct fabric_node *n)
{
	size_t best = FABRIC_NO_GROUP, most = 0;

	for (size_t i = 0; i < g->n; i++) {
		struct agreement a = agreement_of(&g->group[i], n);

		if (is_enough(a.ours, a.all) && a.ours > most) {
			best = i;
			most = a.ours;
		}
	}
	return best;
}

/* ---- what most nodes have ---- */

/* Values of one place of the nodes of a group. */
struct votes {
	const struct fabric_port **port; /* room for all nodes; borrowed */
	size_t n;
};

static int compare_leaves(const void *a, const void *b)
{
	const struct fabric_port *x = *(const struct fabric_port *const *)a;
	const struct fabric_port *y = *(const struct fabric_port *const *)b;

	if (!x->leaf || !y->leaf)
		return (x->leaf == NULL) - (y->leaf == NULL);
	return strcmp(x->leaf, y->leaf);
}

static int compare_mbps(const void *a, const void *b)
{
	const struct fabric_port *x = *(const struct fabric_port *const *)a;
	const struct fabric_port *y = *(const struct fabric_port *const *)b;

	return (x->mbps < y->mbps) - (x->mbps > y->mbps);
}

static int compare_mtu(const void *a, const void *b)
{
	const struct fabric_port *x = *(const struct fabric_port *const *)a;
	const struct fabric_port *y = *(const struct fabric_port *const *)b;

	return (x->mtu < y->mtu) - (x->mtu > y->mtu);
}

/* The most frequent one of the ports, as compare says that they are equal; the first of several.
 * Ports for which is_known is false do not count. NULL: there is none. */
static const struct fabric_port *elect(struct votes *v, int (*compare)(const void *, const void *),
				       bool (*is_known)(const struct fabric_port *p))
{
	const struct fabric_port *best = NULL;
	size_t most = 0, run = 0;

	if (v->n)
		qsort(v->port, v->n, sizeof(*v->port), compare);
	for (size_t i = 0; i < v->n; i++) {
		run = i && compare(&v->port[i - 1], &v->port[i]) == 0 ? run + 1 : 1;
		if (run > most && is_known(v->port[i])) {
			most = run;
			best = v->port[i];
		}
	}
	return best;
}

static bool knows_leaf(const struct fabric_port *p)
{
	return p->leaf != NULL;
}
static bool knows_mbps(const struct fabric_port *p)
{
	return p->mbps != 0;
}
static bool knows_mtu(const struct fabric_port *p)
{
	return p->mtu != 0;
}

static void elect_place(struct fabric_place *p, struct votes *v)
{
	const struct fabric_port *leaf = elect(v, compare_leaves, knows_leaf);
	const struct fabric_port *mbps = elect(v, compare_mbps, knows_mbps);
	const struct fabric_port *mtu = elect(v, compare_mtu, knows_mtu);

	p->leaf = leaf ? leaf->leaf : NULL;
	p->system = leaf ? leaf->system : NULL;
	p->leaf_name = leaf ? leaf->leaf_name : NULL;
	p->mbps = mbps ? mbps->mbps : 0;
	p->mtu = mtu ? mtu->mtu : 0;
	p->nodes = v->n;
}

/* Places of all ports of a group, in their order. A place beyond the limit is left out. */
static void add_places(struct fabric_group *g, const struct fabric_node *n)
{
	for (size_t i = 0; i < n->n; i++) {
		const struct fabric_port *x = &n->port[i];
		size_t at = g->n_places;

		if (find_place(g, x) || g->n_places == FABRIC_PORTS_MAX)
			continue;
		while (at &&
		       (g->place[at - 1].rail > x->rail || (g->place[at - 1].rail == x->rail &&
							    g->place[at - 1].member > x->member))) {
			g->place[at] = g->place[at - 1];
			at--;
		}
		g->place[at] = (struct fabric_place){ .rail = x->rail, .member = x->member };
		g->n_places++;
	}
}

static void elect_group(struct fabric_group *g, size_t index, const struct fabric_node *node,
			size_t n, struct votes *v)
{
	g->n = g->n_places = 0;
	for (size_t i = 0; i < n; i++) {
		if (node[i].group == index) {
			g->n++;
			add_places(g, &node[i]);
		}
	}
	for (size_t k = 0; k < g->n_places; k++) {
		v->n = 0;
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; node[i].group == index && j < node[i].n; j++)
				if (is_at(&g->place[k], &node[i].port[j]))
					v->port[v->n++] = &node[i].port[j];
		elect_place(&g->place[k], v);
	}
}

/* ---- groups ---- */

/* A group that looks like one node. */
static int seed_group(struct fabric_groups *g, const struct fabric_node *n, struct err *e)
{
	struct fabric_group *to;

	if (ARRAY_GROW(g->group, g->n, FABRIC_NODES_MAX, "groups", e))
		return -1;
	to = &g->group[g->n++];
	*to = (struct fabric_group){ .n = 0 };
	add_places(to, n);
	for (size_t i = 0; i < n->n; i++)
		for (size_t k = 0; k < to->n_places; k++)
			if (is_at(&to->place[k], &n->port[i]))
				to->place[k].leaf = n->port[i].leaf;
	return 0;
}

static bool knows_a_leaf(const struct fabric_node *n)
{
	for (size_t i = 0; i < n->n; i++)
		if (n->port[i].leaf)
			return true;
	return false;
}

/* True if a node has moved. */
static bool move_nodes(const struct fabric_groups *g, struct fabric_node *node, size_t n)
{
	bool moved = false;

	for (size_t i = 0; i < n; i++) {
		size_t best = best_group(g, &node[i]);

		moved |= best != node[i].group;
		node[i].group = best;
	}
	return moved;
}

/* Largest first. The order of equal ones is that of their first nodes. */
static void sort_groups(struct fabric_groups *g, struct fabric_node *node, size_t n)
{
	for (size_t i = 1; i < g->n; i++) {
		for (size_t k = i; k && g->group[k].n > g->group[k - 1].n; k--) {
			struct fabric_group swap = g->group[k];

			g->group[k] = g->group[k - 1];
			g->group[k - 1] = swap;
			for (size_t j = 0; j < n; j++)
				if (node[j].group == k || node[j].group == k - 1)
					node[j].group = node[j].group == k ? k - 1 : k;
		}
	}
	while (g->n && g->group[g->n - 1].n < FABRIC_GROUP_MIN)
		g->n--;
	for (size_t j = 0; j < n; j++)
		if (node[j].group != FABRIC_NO_GROUP && node[j].group >= g->n)
			node[j].group = FABRIC_NO_GROUP;
}

static int group_nodes(struct fabric_node *node, size_t n, struct fabric_groups *g, struct votes *v,
		       struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		node[i].group = best_group(g, &node[i]);
		if (node[i].group != FABRIC_NO_GROUP || !knows_a_leaf(&node[i]))
			continue;
		if (seed_group(g, &node[i], e))
			return -1;
		node[i].group = g->n - 1;
	}
	for (size_t round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < g->n; i++)
			elect_group(&g->group[i], i, node, n, v);
		if (!move_nodes(g, node, n))
			break;
	}
	sort_groups(g, node, n);
	return 0;
}

int fabric_group(struct fabric_node *node, size_t n, struct fabric_groups *out, struct err *e)
{
	auto_fabric_groups struct fabric_groups g = { .n = 0 };
	auto_free const struct fabric_port **port = NULL;

	if (n > FABRIC_NODES_MAX)
		return err_set(e, ERR_CONFIG, 0, "more than %d nodes", FABRIC_NODES_MAX);
	port = calloc(n + 1, sizeof(struct fabric_port *));
	if (!port)
		return err_nomem(e);
	if (group_nodes(node, n, &g, &(struct votes){ port, 0 }, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		node[i].near = node[i].group == FABRIC_NO_GROUP ? near_group(&g, &node[i])
								: FABRIC_NO_GROUP;
	*out = g;
	g = (struct fabric_groups){ .n = 0 };
	return 0;
}

/* ---- findings ---- */

static struct finding *fabric_add(struct findings *all, const char *code, enum finding_state state,
				  const struct fabric_node *n, const struct fabric_port *x)
{
	struct finding *f = findings_add(all, "fabric", state);

	f->code = code;
	if (x)
		finding_set_subject(f, "%s rail %u (%s)", n->name, x->rail, x->interface);
	else
		finding_set_subject(f, "%s", n->name);
	return f;
}

/* The port of the node at the place where the group has that leaf, and which has the leaf that the
 * group has at p: the other end of a swap. */
static const struct fabric_port *find_swapped(const struct fabric_node *n,
					      const struct fabric_group *g,
					      const struct fabric_port *x,
					      const struct fabric_place *p)
{
	for (size_t i = 0; i < n->n; i++) {
		const struct fabric_place *q = find_place(g, &n->port[i]);

		if (&n->port[i] != x && q && is_leaf(q->leaf, x->leaf) &&
		    is_leaf(n->port[i].leaf, p->leaf))
			return &n->port[i];
	}
	return NULL;
}

/* All nodes, while one of them is checked. */
struct fabric_checked {
	const struct fabric_node *node;
	size_t n;
	const struct fabric_groups *g;
	struct findings *out;
};

/* The group that a node is compared with; FABRIC_NO_GROUP: none. */
static size_t group_of(const struct fabric_node *n)
{
	return n->group != FABRIC_NO_GROUP ? n->group : n->near;
}

static bool is_in_a_group(const struct fabric_groups *g, const char *leaf)
{
	for (size_t i = 0; i < g->n; i++)
		if (has_leaf(&g->group[i], leaf))
			return true;
	return false;
}

/*
 * Nodes of one group that have another leaf than most, and the same one: that leaf has come in
 * place of the other, and frames of one of them are old. True: it is so, and one finding says it
 * of all these nodes. A leaf of some group is not new.
 */
static bool check_replaced(const struct fabric_checked *c, const struct fabric_node *n,
			   const struct fabric_port *x, const struct fabric_place *p)
{
	const bool same_name = strcmp(x->system, p->system) == 0;
	const struct fabric_node *first = NULL;
	struct finding *f;
	size_t nodes = 0;

	if (is_in_a_group(c->g, x->leaf))
		return false;
	for (const struct fabric_node *o = c->node; o < c->node + c->n; o++) {
		for (size_t i = 0; group_of(o) == group_of(n) && i < o->n; i++) {
			if (!is_at(p, &o->port[i]) || !is_leaf(o->port[i].leaf, x->leaf))
				continue;
			first = first ? first : o;
			nodes++;
		}
	}
	if (!same_name && nodes < FABRIC_GROUP_MIN)
		return false;
	if (first != n)
		return true;
	f = findings_add(c->out, "fabric", FINDING_WARN);
	f->code = "replaced";
	finding_set_subject(f, "leaf %s", p->leaf_name);
	finding_set_value(f, "rail %u of %zu nodes of %s is on %s", x->rail, nodes, n->name,
			  x->leaf_name);
	if (same_name)
		finding_set_reason(f, "two chassis have its name: the leaf was replaced, or two "
				      "switches have one name");
	else
		finding_set_reason(f, "the leaf was renamed or replaced, or these nodes are on "
				      "another one than their group");
	finding_set_remedy(f,
			   "wait for the next frames; then look at the cables of %s, and of "
			   "its group",
			   n->name);
	return true;
}

static void check_leaf(const struct fabric_checked *c, const struct fabric_node *n,
		       const struct fabric_port *x, const struct fabric_place *p)
{
	const struct fabric_port *y = find_swapped(n, &c->g->group[group_of(n)], x, p);
	struct finding *f;

	/* One finding for both ends. */
	if ((y && y < x) || (!y && check_replaced(c, n, x, p)))
		return;
	f = fabric_add(c->out, y ? "crossed" : "leaf", FINDING_FAIL, n, x);
	finding_set_value(f, "%s port %s, expected %s", x->leaf_name, x->port, p->leaf_name);
	if (y) {
		finding_set_reason(f, "the cables of rails %u and %u are crossed", x->rail,
				   y->rail);
		finding_set_remedy(f, "swap the cables of %s and %s", x->interface, y->interface);
		return;
	}
	finding_set_reason(f, "the other nodes of its group have rail %u on %s", x->rail,
			   p->leaf_name);
	finding_set_remedy(f, "plug the cable of %s into %s", x->interface, p->leaf_name);
}

void fabric_say_unheard(struct finding *f, const struct fabric_port *x)
{
	if (x->guid && *x->guid) {
		finding_set_reason(f, "InfiniBand has no LLDP, and no file has its port %s",
				   x->guid);
		finding_set_remedy(f, "run ibnetdiscover, and give its file to --ibnetdiscover");
		return;
	}
	finding_set_reason(f, "no frame of LLDP came");
	finding_set_remedy(f, "look for carrier, for LLDP of the leaf, and for firmware that keeps "
			      "the frames");
}

static void check_port(const struct fabric_checked *c, const struct fabric_node *n,
		       const struct fabric_port *x)
{
	const struct fabric_place *p = find_place(&c->g->group[group_of(n)], x);
	struct findings *all = c->out;
	struct finding *f;

	if (!p)
		return;
	if (x->leaf && p->leaf && !is_leaf(x->leaf, p->leaf))
		check_leaf(c, n, x, p);
	if (!x->leaf && p->leaf) {
		f = fabric_add(all, "unknown", FINDING_UNKNOWN, n, x);
		finding_set_value(f, "expected %s", p->leaf_name);
		fabric_say_unheard(f, x);
	}
	if (x->mbps && x->mbps < p->mbps) {
		f = fabric_add(all, "rate", FINDING_WARN, n, x);
		finding_set_value(f, "%u Mbit/s, expected %u", x->mbps, p->mbps);
		finding_set_reason(f, "the link is slower than those of the other nodes");
		finding_set_remedy(f, "check the cable, and the rate of port %s of %s",
				   x->leaf ? x->port : "?", x->leaf ? x->leaf_name : "the leaf");
	}
	if (x->mtu && x->mtu < p->mtu) {
		f = fabric_add(all, "mtu", FINDING_WARN, n, x);
		finding_set_value(f, "%u, expected %u", x->mtu, p->mtu);
		finding_set_reason(f, "the MTU is smaller than those of the other nodes");
		finding_set_remedy(f, "set the MTU of %s to %u", x->interface, p->mtu);
	}
}

/* Places that most nodes of the group have, and this one has not. */
static void check_missing(const struct fabric_node *n, const struct fabric_group *g,
			  struct findings *all)
{
	for (const struct fabric_place *p = g->place; p < g->place + g->n_places; p++) {
		bool has = false;

		for (size_t i = 0; i < n->n; i++)
			has = has || is_at(p, &n->port[i]);
		if (has || !is_enough(p->nodes, g->n))
			continue;
		struct finding *f = fabric_add(all, "missing", FINDING_FAIL, n, NULL);

		finding_set_value(f, "no rail %u", p->rail);
		finding_set_reason(f, "the other nodes of its group have rail %u", p->rail);
		finding_set_remedy(f, "look for its card with \"railctl topo\"");
	}
}

static void add_contested(const struct fabric_node *n, const struct fabric_port *x,
			  struct findings *all)
{
	struct finding *f = fabric_add(all, "contested", FINDING_WARN, n, x);

	finding_set_value(f, "%s port %s", x->leaf ? x->leaf_name : "?", x->leaf ? x->port : "?");
	finding_set_reason(f, "another sender was heard, too");
	finding_set_remedy(f, "look for a program or a virtual machine that sends LLDP");
}

/* The names of the checks are those of the agent's watch of rails. A newer agent may have more. */
static void add_degraded(const struct fabric_node *n, const struct fabric_port *x,
			 struct findings *all)
{
	static const char *const reasons[][2] = {
		{ "device", "its card or its RDMA device is not there" },
		{ "port", "the port is not ACTIVE" },
		{ "link", "its PCIe link is slower than both ends can" },
		{ "rate", "the port is slower than it was before" },
		{ "qos", "the card is not set as qos.d of the node says" },
	};
	const size_t len = strcspn(x->degraded, " ");
	struct finding *f = fabric_add(all, "degraded", FINDING_WARN, n, x);

	finding_set_value(f, "%s", x->degraded);
	finding_set_reason(f, "the agent of the node says so");
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (strlen(reasons[i][0]) == len && strncmp(x->degraded, reasons[i][0], len) == 0)
			finding_set_reason(f, "%s", reasons[i][1]);
	finding_set_remedy(f, "look at \"railctl cluster status\" on %s", n->name);
}

static void check_undecided(const struct fabric_node *n, const struct fabric_groups *g,
			    struct findings *all)
{
	const bool known = knows_a_leaf(n);
	struct finding *f = fabric_add(all, "undecided", FINDING_UNKNOWN, n, NULL);

	finding_set_reason(f,
			   !known ? "none of its leaves is known"
			   : g->n ? "its leaves are not those of a group"
				  : "fewer than %d nodes are cabled alike",
			   FABRIC_GROUP_MIN);
	finding_set_remedy(
		f, known ? "compare its cables with the plan of the fabric"
			 : "look for LLDP of its leaves, or for their file of ibnetdiscover");
}

int fabric_check(const struct fabric_node *node, size_t n, const struct fabric_groups *g,
		 struct findings *out, struct err *e)
{
	const struct fabric_checked c = { node, n, g, out };

	for (const struct fabric_node *x = node; x < node + n; x++) {
		const size_t index = group_of(x);

		for (size_t i = 0; i < x->n; i++) {
			if (x->port[i].contested)
				add_contested(x, &x->port[i], out);
			if (x->port[i].degraded && *x->port[i].degraded)
				add_degraded(x, &x->port[i], out);
			if (index != FABRIC_NO_GROUP)
				check_port(&c, x, &x->port[i]);
		}
		if (index == FABRIC_NO_GROUP)
			check_undecided(x, g, out);
		else
			check_missing(x, &g->group[index], out);
	}
	return findings_check(out, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* plan_check.c: what a plan cannot do. A pool that exists never changes, and a node with a label
 * stays where it is: pods have these addresses. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "railctl/cluster/plan.h"

struct finding *plan_add(struct plan *p, const char *code, enum finding_state state)
{
	struct finding *f = findings_add(&p->findings, "plan", state);

	f->code = code;
	return f;
}

/* ---- pools ---- */

const struct json *plan_pool_find(const struct plan *p, const char *name)
{
	json_each (pool, json_get(p->there, "pools"))
		if (strcmp(json_text(pool, "name"), name) == 0)
			return json_get(pool, "definition");
	return NULL;
}

static void check_pool(struct plan *p, const struct json *pool)
{
	static const char *const keys[] = { "subnet", "ranges", "gateway", "blockSize" };
	const char *name = json_text(pool, "name");
	const struct json *there = plan_pool_find(p, name);

	for (size_t i = 0; there && i < ARRAY_SIZE(keys); i++) {
		const struct json *is = json_get(there, keys[i]), *want = json_get(pool, keys[i]);
		auto_free char *a = NULL, *b = NULL;
		struct finding *f;

		if (is && json_same(is, want))
			continue;
		a = is ? json_print(is, false) : NULL;
		b = json_print(want, false);
		f = plan_add(p, "pool", FINDING_FAIL);
		finding_set_subject(f, "pool %s", name);
		finding_set_value(f, "%s is %s, and the plan has %s", keys[i], a ? a : "absent",
				  b ? b : "?");
		finding_set_reason(f, "a pool that pods have addresses of does not change");
		finding_set_remedy(f, "use the numbers and the supernet with which it was made");
		return;
	}
}

/* Pools of the plan's kind that it does not have: it is smaller than before. */
static void check_extra(struct plan *p, const struct json *planned)
{
	json_each (pool, json_get(p->there, "pools")) {
		const char *name = json_text(pool, "name");
		struct finding *f;
		bool found = false;

		json_each (x, planned)
			found = found || strcmp(json_text(x, "name"), name) == 0;
		if (found || cluster_pool_group(pool) == PIN_NONE)
			continue;
		f = plan_add(p, "shrinks", FINDING_FAIL);
		finding_set_subject(f, "pool %s", name);
		finding_set_reason(f,
				   "the cluster has it, and the plan does not: nothing is deleted");
		finding_set_remedy(f, "plan at least as many rails as before, or delete the pool");
	}
}

/* ---- nodes ---- */

struct finding *plan_add_node(struct plan *p, const char *code, enum finding_state state,
			      const struct pin *x)
{
	struct finding *f = plan_add(p, code, state);

	finding_set_subject(f, "node %s", x->node);
	return f;
}

static void check_rails(struct plan *p, const struct pin *x)
{
	const struct fabric_node *n = plan_cables_of(p, x->node);
	uint64_t has = 0;

	for (size_t i = 0; n && i < n->n; i++)
		has |= UINT64_C(1) << (n->port[i].rail & 63);
	for (uint32_t i = 0; has && i < 64; i++) {
		const bool is = has >> i & 1, want = i < p->file.rails;
		struct finding *f;

		if (is == want)
			continue;
		f = plan_add_node(p, want ? "lacks" : "more", FINDING_WARN, x);
		finding_set_value(f, "rail %u", i);
		finding_set_reason(f, want ? "the node lacks the rail: a pod with all rails gets "
					     "fewer"
					   : "the plan has no pool for this rail");
		finding_set_remedy(f, want ? "look for its card with \"railctl topo\""
					   : "set \"rails\" to the rails of the nodes");
	}
}

/* ---- addresses of NICs ---- */

/* The first address of that family that is not in the subnet; false: there is none. */
static bool find_outside(const char *list, struct ip_prefix subnet, struct ip_prefix *out)
{
	while (plan_next_address(&list, out))
		if (out->addr.family == subnet.addr.family &&
		    (!ip_in_prefix(subnet, out->addr) || out->len != subnet.len))
			return true;
	return false;
}

/* The leaf is the gateway of the subnet that a NIC is in: another design is not planned. */
static void check_port(struct plan *p, const struct pin *x, const struct fabric_port *port)
{
	const struct ip_prefix subnet = rail_plan_leaf(&p->made, port->rail, x->group).subnet;
	const bool routing = strcmp(port->by, "routing") == 0;
	char is[PREFIX_STR_LEN], want[PREFIX_STR_LEN];
	struct ip_prefix other;
	struct finding *f;

	if (routing || find_outside(port->addresses, subnet, &other)) {
		f = plan_add_node(p, routing ? "routed" : "elsewhere", FINDING_FAIL, x);
		finding_set_value(
			f, "rail %u (%s) has %s, and the plan %s", port->rail, port->interface,
			routing ? "routes by a routing daemon" : ip_format_prefix(other, is),
			ip_format_prefix(subnet, want));
		finding_set_reason(f, "a plan is for rails whose leaf is the gateway of the "
				      "subnet of the NIC");
		finding_set_remedy(f, "give the NIC an address of the plan, or name the node in "
				      "\"leaveAlone\"");
	} else if (*port->by) {
		f = plan_add_node(p, "managed", FINDING_WARN, x);
		finding_set_value(f, "rail %u (%s) has %s", port->rail, port->interface,
				  *port->addresses ? port->addresses : "no address");
		finding_set_reason(f,
				   "DHCP or router advertisements make its addresses or routes; "
				   "pods get none that the node has, but another node may get it");
		finding_set_remedy(f,
				   "let DHCP give addresses of the first part of the subnet only");
	}
}

static void check_addresses(struct plan *p, const struct pin *x)
{
	const struct fabric_node *n = plan_cables_of(p, x->node);

	for (size_t i = 0; n && x->group != PIN_NONE && i < n->n; i++)
		if (n->port[i].member == 0 && n->port[i].rail < p->file.rails)
			check_port(p, x, &n->port[i]);
}

static void check_place(struct plan *p, const struct pin *x)
{
	const char *label = plan_label_of(p, x->node);
	char is[PIN_NAME_LEN], other[PIN_NAME_LEN];
	struct finding *f;

	if (label && x->label == PIN_NONE) {
		f = plan_add_node(p, "label", FINDING_FAIL, x);
		finding_set_value(f, "%s=%s", PLAN_LABEL, label);
		finding_set_reason(f, "the label is not the name of a group, as in g0");
		finding_set_remedy(f, "remove the label");
	} else if (x->label != PIN_NONE && x->file != PIN_NONE && x->label != x->file) {
		f = plan_add_node(p, "moves", FINDING_FAIL, x);
		finding_set_value(f, "its label has %s, and the file %s", pin_name(x->label, is),
				  pin_name(x->file, other));
		finding_set_reason(f, "a plan does not move a node: its pods have addresses of %s",
				   is);
		finding_set_remedy(f, "drain the node and remove its label, or change \"groups\"");
	} else if (x->group == PIN_NONE) {
		f = plan_add_node(p, "undecided", FINDING_UNKNOWN, x);
		finding_set_reason(f,
				   "neither its label, nor the file, nor its cables say its group");
		finding_set_remedy(f, "name it in \"groups\", or in \"leaveAlone\"");
	} else if (x->seen != PIN_NONE && x->seen != x->group) {
		f = plan_add_node(p, "cables", FINDING_WARN, x);
		finding_set_value(f, "it is in %s, and its cables are those of %s",
				  pin_name(x->group, is), pin_name(x->seen, other));
		finding_set_reason(f, "its pods have addresses of another leaf");
		finding_set_remedy(
			f, "correct the cables: \"railctl cluster fabric\"; or drain the node "
			   "and remove its label");
	}
}

/* A rail is an interface, or all members of its bond; 0: not known. */
static uint64_t rail_mbps(const struct fabric_node *n, uint32_t rail)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n->n; i++) {
		if (n->port[i].rail != rail)
			continue;
		if (!n->port[i].mbps)
			return 0;
		sum += n->port[i].mbps;
	}
	return sum;
}

struct plan_rate {
	uint64_t mbps; /* 0: none */
	const char *node;
	uint32_t rail;
};

/* Nodes of one group have one job; another group may have other machines. */
static void check_rates(struct plan *p, uint32_t group)
{
	struct plan_rate least = { .mbps = 0 }, most = { .mbps = 0 };
	char name[PIN_NAME_LEN];
	struct finding *f;

	for (const struct pin *x = p->pin; x < p->pin + p->n_pins; x++) {
		const struct fabric_node *n;

		if (x->group != group)
			continue;
		n = plan_cables_of(p, x->node);
		for (uint32_t i = 0; n && i < p->file.rails; i++) {
			const struct plan_rate is = { rail_mbps(n, i), x->node, i };

			if (is.mbps && (!least.mbps || is.mbps < least.mbps))
				least = is;
			if (is.mbps > most.mbps)
				most = is;
		}
	}
	if (least.mbps == most.mbps)
		return;
	f = plan_add(p, "mixed", FINDING_WARN);
	finding_set_subject(f, "group %s", pin_name(group, name));
	finding_set_value(f, "%" PRIu64 " Mbit/s: node %s rail %u, %" PRIu64 ": node %s rail %u",
			  least.mbps, least.node, least.rail, most.mbps, most.node, most.rail);
	finding_set_reason(f, "a job that has both goes by the slower one");
	finding_set_remedy(f,
			   "name slower nodes in \"leaveAlone\" or another group, or set \"rails\" "
			   "to the fast ones");
}

/* A misspelled name would leave its node to its cables, or to the plan. */
static void check_patterns(struct plan *p, const char *key, const struct json *patterns)
{
	json_each (pattern, patterns) {
		struct finding *f;
		bool fits = false;

		json_each (node, p->cables.nodes)
			fits = fits || plan_pattern_fits(pattern, json_text(node, "name"));
		if (fits)
			continue;
		f = plan_add(p, "unused", FINDING_WARN);
		finding_set_subject(f, "%s: \"%s\"", key, json_str(pattern));
		finding_set_reason(f, "no node with an agent has such a name");
		finding_set_remedy(f, "correct the name, or wait for the agent of the node");
	}
}

static void check_full(struct plan *p)
{
	for (uint32_t g = 0; g < p->groups; g++) {
		size_t n = 0;
		char name[PIN_NAME_LEN];
		struct finding *f;

		for (size_t i = 0; i < p->n_pins; i++)
			n += p->pin[i].group == g;
		if (n <= p->made.ask.leaf)
			continue;
		f = plan_add(p, "full", FINDING_FAIL);
		finding_set_subject(f, "group %s", pin_name(g, name));
		finding_set_value(f, "%zu nodes", n);
		finding_set_reason(f, "a group has room for %llu nodes",
				   (unsigned long long)p->made.ask.leaf);
		finding_set_remedy(f, "set \"nodesPerGroup\" before the first plan is applied");
	}
}

int plan_check(struct plan *p, struct err *e)
{
	auto_json struct json *planned = json_new_array();

	for (uint64_t i = 0; planned && p->groups && i < p->file.rails; i++) {
		auto_json struct json *pools = rail_plan_pools(&p->made, i);

		json_each (pool, pools) {
			check_pool(p, pool);
			if (json_push(planned, json_dup(pool)))
				return err_nomem(e);
		}
		if (!pools)
			return err_nomem(e);
	}
	if (!planned)
		return err_nomem(e);
	check_extra(p, planned);
	for (size_t i = 0; i < p->n_pins; i++) {
		check_place(p, &p->pin[i]);
		check_rails(p, &p->pin[i]);
		check_addresses(p, &p->pin[i]);
	}
	json_each (group, p->file.groups)
		check_patterns(p, json_key(group), group);
	check_patterns(p, "leaveAlone", p->file.leave_alone);
	check_full(p);
	for (uint32_t g = 0; g < p->groups; g++)
		check_rates(p, g);
	return findings_check(&p->findings, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_check.c: findings about the addresses, rules and tables of rails. */
#include <stdio.h>

#include "cni/hostveth/hostveth.h"
#include "diag/inspect_priv.h"
#include "cni/routing/routing.h"

/* ---- codes ---- */

static const struct {
	const char *check, *name;
} codes[] = {
#define CODE(name, check, code) { check, code },
	INSPECT_CODES_EACH(CODE)
#undef CODE
};

const char *inspect_code_name(enum inspect_code c)
{
	return codes[c].name;
}

const char *inspect_code_check(enum inspect_code c)
{
	return codes[c].check;
}

/* ---- findings ---- */

static struct finding *inspect_check_add(struct inspect_run *run, const struct inspect_rail *r,
					 const char *check, enum finding_state state)
{
	struct finding *f = findings_add(run->out, check, state);

	finding_set_subject(f, "%s%s%s", run->pod, *run->pod ? " " : "", r->ifname);
	return f;
}

struct finding *inspect_add(struct inspect_run *run, const struct inspect_rail *r,
			    enum inspect_code code, enum finding_state state)
{
	struct finding *f = inspect_check_add(run, r, inspect_code_check(code), state);

	f->code = inspect_code_name(code);
	return f;
}

struct finding *inspect_ok(struct inspect_run *run, const struct inspect_rail *r, const char *check)
{
	return inspect_check_add(run, r, check, FINDING_OK);
}

void inspect_tell(struct inspect_run *run, enum ip_family family)
{
	run->told_v4 |= family == IP_V4;
	run->told_v6 |= family == IP_V6;
}

bool inspect_is_told(const struct inspect_run *run, enum ip_family family)
{
	return family == IP_V6 ? run->told_v6 : run->told_v4;
}

const char *inspect_option(struct ip a)
{
	return a.family == IP_V6 ? "-6 " : "";
}

const struct inspect_rail *inspect_by_ifindex(const struct inspect *s, int ifindex)
{
	for (size_t i = 0; i < s->n_rails; i++)
		if (s->rail[i].link.ifindex == ifindex)
			return &s->rail[i];
	return NULL;
}

static const struct inspect_rail *rail_by_table(const struct inspect *s, uint32_t table)
{
	for (size_t i = 0; i < s->n_rails; i++)
		if (s->rail[i].table == table)
			return &s->rail[i];
	return NULL;
}

const char *inspect_name_of(const struct inspect *s, int ifindex, char out[INSPECT_NAME_LEN])
{
	const struct inspect_rail *r = inspect_by_ifindex(s, ifindex);

	for (size_t i = 0; i < s->n_names; i++)
		if (s->name[i].ifindex == ifindex)
			return s->name[i].name;
	if (r)
		return r->ifname;
	(void)snprintf(out, INSPECT_NAME_LEN, "interface number %d", ifindex);
	return out;
}

bool inspect_has_family(const struct inspect_rail *r, enum ip_family family)
{
	for (size_t i = 0; i < r->n_addrs; i++)
		if (r->addr[i].addr.addr.family == family)
			return true;
	return false;
}

/* ---- addresses ---- */

static bool has_addr(const struct inspect_rail *r, struct ip a)
{
	for (size_t i = 0; i < r->n_addrs; i++)
		if (ip_equal(r->addr[i].addr.addr, a))
			return true;
	return false;
}

static void tell_missing_address(struct inspect_run *run, const struct inspect_rail *r,
				 const char *text)
{
	struct finding *f = inspect_add(run, r, INSPECT_ADDRESS_MISSING, FINDING_FAIL);

	finding_set_value(f, "%s is missing", text);
	finding_set_reason(f, "no peer reaches the pod by this rail and its address");
	finding_set_remedy(f, "find out which program of the pod removed it, and restart the pod");
}

static void tell_duplicate(struct inspect_run *run, const struct inspect_rail *r, struct ip a)
{
	struct finding *f = inspect_add(run, r, INSPECT_ADDRESS_DUPLICATE, FINDING_FAIL);
	char text[IP_STR_LEN];

	finding_set_value(f, "%s is a duplicate", ip_format(a, text));
	finding_set_reason(f, "another machine of the network has the address, so the kernel does "
			      "not use it");
	finding_set_remedy(f, "ask the pool who has it: railctl ipam who %s", text);
}

static void tell_of_node(struct inspect_run *run, const struct inspect_rail *r)
{
	struct finding *f = inspect_add(run, r, INSPECT_ADDRESS_NODE, FINDING_FAIL);
	char text[IP_STR_LEN];

	finding_set_value(f, "the node has %s, too", ip_format(r->of_node, text));
	finding_set_reason(f, "peers reach the pod or the node, whichever answered last");
	finding_set_remedy(f, "give the node another address, or reserve this one in the pool and "
			      "restart the pod");
}

/* Records know the addresses of rails that route; of others only that there are some. */
static void diag_check_addresses(struct inspect_run *run, const struct inspect_rail *r)
{
	const bool lacks_all = !r->n_noted && !r->n_addrs && r->has_ipam;
	char text[IP_STR_LEN];
	bool good = !lacks_all;

	if (lacks_all)
		tell_missing_address(run, r, "the address of the IPAM");
	for (size_t i = 0; i < r->n_noted; i++) {
		if (has_addr(r, r->noted[i]))
			continue;
		good = false;
		tell_missing_address(run, r, ip_format(r->noted[i], text));
	}
	for (size_t i = 0; i < r->n_addrs; i++) {
		if (!r->addr[i].dadfailed)
			continue;
		good = false;
		tell_duplicate(run, r, r->addr[i].addr.addr);
	}
	if (good && r->of_node.family)
		tell_of_node(run, r);
	else if (good)
		finding_set_value(inspect_ok(run, r, "address"), "%zu in use", r->n_addrs);
}

/* ---- rules ---- */

/* The way to the node, which comes first, has routes for some destinations only. */
static bool is_to_node(const struct rule_spec *r)
{
	return r->table == HOSTVETH_TABLE && r->priority == HOSTVETH_PRIORITY;
}

const struct rule_spec *inspect_first_rule(const struct inspect *s, struct ip a)
{
	for (size_t i = 0; i < s->n_rules; i++) {
		const struct rule_spec *r = &s->rule[i];

		if (!r->conditional && !is_to_node(r) && ip_equal(r->from.addr, a) &&
		    r->from.len == ip_bits(a.family))
			return r;
	}
	return NULL;
}

static bool is_noted(const struct inspect_rail *r, struct ip a)
{
	for (size_t i = 0; i < r->n_noted; i++)
		if (ip_equal(r->noted[i], a))
			return true;
	return false;
}

/* An address that ADD did not give, of the pod itself, has no rule. */
static void tell_missing_rule(struct inspect_run *run, const struct inspect_rail *r, struct ip a)
{
	struct finding *f = inspect_add(run, r, INSPECT_RULE_MISSING,
					is_noted(r, a) ? FINDING_FAIL : FINDING_WARN);
	char text[IP_STR_LEN];

	finding_set_value(f, "no rule from %s", ip_format(a, text));
	finding_set_reason(f, "packets with this address leave by the main table, perhaps by "
			      "another rail");
	finding_set_remedy(f, "in the pod: ip %srule add from %s lookup %u priority %d",
			   inspect_option(a), text, r->table, ROUTING_PRIORITY);
}

static bool has_right_rule(const struct inspect *s, const struct inspect_rail *r,
			   struct ip_prefix from)
{
	for (size_t i = 0; i < s->n_rules; i++)
		if (!s->rule[i].conditional && ip_same_network(s->rule[i].from, from) &&
		    s->rule[i].table == r->table)
			return true;
	return false;
}

static void tell_wrong_rule(struct inspect_run *run, const struct inspect_rail *r,
			    const struct rule_spec *rule)
{
	const struct inspect_rail *other = rail_by_table(run->s, rule->table);
	struct finding *f = inspect_add(run, r, INSPECT_RULE_WRONG, FINDING_FAIL);
	char text[IP_STR_LEN], add[128] = "";

	(void)ip_format(rule->from.addr, text);
	if (!has_right_rule(run->s, r, rule->from))
		(void)snprintf(add, sizeof(add), "; ip %srule add from %s lookup %u priority %d",
			       inspect_option(rule->from.addr), text, r->table, ROUTING_PRIORITY);
	finding_set_value(f, "the rule from %s of priority %u leads to table %u, not %u", text,
			  rule->priority, rule->table, r->table);
	if (other)
		finding_set_reason(f, "packets with this address leave by %s", other->ifname);
	else
		finding_set_reason(f, "packets with this address do not use the table of the rail");
	finding_set_remedy(f, "in the pod: ip %srule del from %s lookup %u priority %u%s",
			   inspect_option(rule->from.addr), text, rule->table, rule->priority, add);
}

static void tell_other_priority(struct inspect_run *run, const struct inspect_rail *r,
				const struct rule_spec *rule)
{
	struct finding *f = inspect_add(run, r, INSPECT_RULE_PRIORITY, FINDING_WARN);
	const char *option = inspect_option(rule->from.addr);
	char text[IP_STR_LEN];

	finding_set_value(f, "the rule from %s has priority %u, not %d",
			  ip_format(rule->from.addr, text), rule->priority, ROUTING_PRIORITY);
	finding_set_reason(f, "rules with a priority between may come first, and DEL does not "
			      "remove this one");
	finding_set_remedy(f,
			   "in the pod: ip %srule add from %s lookup %u priority %d; ip %srule "
			   "del from %s lookup %u priority %u",
			   option, text, r->table, ROUTING_PRIORITY, option, text, r->table,
			   rule->priority);
}

/* Without a record, which addresses have rules is the choice of who made them: if an address of
 * another rail has one, so should this one. */
static bool needs_rule(const struct inspect *s, const struct inspect_rail *r, enum ip_family family)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct inspect_rail *other = &s->rail[i];

		for (size_t k = 0; other != r && k < other->n_addrs; k++)
			if (other->addr[k].addr.addr.family == family &&
			    inspect_first_rule(s, other->addr[k].addr.addr))
				return true;
	}
	return r->n_noted > 0;
}

/* An address that the kernel made of a router advertisement has no rule, and is not counted. */
static bool diag_check_rule(struct inspect_run *run, const struct inspect_rail *r,
			    const struct addr_info *x)
{
	const struct ip a = x->addr.addr;
	const struct rule_spec *rule = inspect_first_rule(run->s, a);

	if (rule ? !r->n_noted : !is_noted(r, a) && (x->given || !needs_rule(run->s, r, a.family)))
		return true;
	if (rule && rule->table == r->table) {
		if (!r->n_noted || !is_noted(r, a) || rule->priority == ROUTING_PRIORITY)
			return true;
		tell_other_priority(run, r, rule);
		return false;
	}
	inspect_tell(run, a.family);
	if (rule)
		tell_wrong_rule(run, r, rule);
	else
		tell_missing_rule(run, r, a);
	return false;
}

static void check_rules(struct inspect_run *run, const struct inspect_rail *r)
{
	bool good = true;

	for (size_t i = 0; i < r->n_addrs; i++)
		good = diag_check_rule(run, r, &r->addr[i]) && good;
	if (good)
		finding_set_value(inspect_ok(run, r, "rule"), "%zu to table %u", r->n_addrs,
				  r->table);
}

/* ---- tables ---- */

/* Another rail has the same table; the first of them tells it. */
static void diag_check_table(struct inspect_run *run, const struct inspect_rail *r)
{
	for (const struct inspect_rail *x = run->s->rail; x < r; x++) {
		struct finding *f;

		if (x->table != r->table)
			continue;
		f = inspect_add(run, r, INSPECT_TABLE_SHARED, FINDING_FAIL);
		finding_set_value(f, "%u is also the table of %s", r->table, x->ifname);
		finding_set_reason(f, "packets of one rail leave by the other one");
		finding_set_remedy(f, "take \"table\" out of the configuration of one of them, and "
				      "restart the pod");
		return;
	}
	finding_set_value(inspect_ok(run, r, "table"), "%u", r->table);
}

/* ---- all ---- */

/* A device that a driver of user space has is not an interface: its record has no number. */
static bool inspect_check_is_there(struct inspect_run *run, const struct inspect_rail *r)
{
	struct finding *f;

	if (r->link.ifindex) {
		finding_set_value(inspect_ok(run, r, "interface"), "%s",
				  *r->link.kind ? r->link.kind : "a device");
		return true;
	}
	if (!r->ifindex)
		return false;
	f = inspect_add(run, r, INSPECT_INTERFACE_MISSING, FINDING_FAIL);
	finding_set_value(f, "the namespace has no such interface");
	finding_set_reason(f, "the pod does not have this rail");
	finding_set_remedy(f, "restart the pod; railctl attachments list says more");
	return false;
}

int inspect_check(const struct inspect *s, const char *pod, bool fold, struct findings *out,
		  struct err *e)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct inspect_rail *r = &s->rail[i];
		struct inspect_run run = { .s = s, .pod = pod, .fold = fold, .out = out };

		if (!inspect_check_is_there(&run, r))
			continue;
		inspect_check_link(&run, r);
		diag_check_addresses(&run, r);
		inspect_check_settings(&run, r);
		if (r->table) {
			check_rules(&run, r);
			diag_check_table(&run, r);
			inspect_check_routes(&run, r);
		}
		inspect_check_ways(&run, r);
		inspect_check_host(&run, r);
	}
	return findings_check(out, e);
}

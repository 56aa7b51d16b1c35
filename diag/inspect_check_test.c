// SPDX-License-Identifier: Apache-2.0
/* A pod with two good rails has no finding; one thing broken gives its finding and no other. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cni/hostveth/hostveth.h"
#include "diag/inspect.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static struct ip ip_of(const char *text)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(text, &a), 0);
	return a;
}

static struct ip_prefix net_of(const char *text)
{
	struct ip_prefix p;

	ck_assert_int_eq(ip_parse_prefix(text, &p), 0);
	return p;
}

/* ---- a pod with net1 and net2 in one network, tables 1000 and 1001 ---- */

#define RAILS 2
struct pod {
	struct inspect s;
	struct inspect_rail rail[RAILS];
	struct addr_info addr[RAILS][3];
	struct neigh_info neigh[RAILS][1];
	struct ip noted[RAILS][2];
	struct rule_spec rule[8];
	struct route_spec route[16], wanted[RAILS][6];
};

static void add_rule(struct pod *p, const char *from, uint32_t table, uint32_t priority)
{
	p->rule[p->s.n_rules++] =
		(struct rule_spec){ .from = net_of(from), .table = table, .priority = priority };
}

static void add_route(struct pod *p, const char *dst, const char *gw, int ifindex, uint32_t table)
{
	struct route_spec r = { .dst = net_of(dst), .ifindex = ifindex, .table = table };

	if (gw)
		r.gw = ip_of(gw);
	p->route[p->s.n_routes++] = r;
}

static void make_rail(struct pod *p, int i)
{
	struct inspect_rail *r = &p->rail[i];
	uint32_t table = 1000 + (uint32_t)i;
	char v4[20], v6[20], text[40];

	*r = (struct inspect_rail){ .ifindex = 5 + i,
				    .lower_ifindex = 2,
				    .master = "eth0",
				    .master_mtu = 9000,
				    .table = table,
				    .n_addrs = 2,
				    .n_noted = 2,
				    .n_neighs = 1,
				    .setting = { 1, 2, 2, 0, 1, 1, 0 },
				    .link = { .ifindex = 5 + i,
					      .mtu = 9000,
					      .flags = IFF_UP | IFF_RUNNING,
					      .kind = "macvlan",
					      .addr = { 6, { 2, 0, 0, 0, 0, (uint8_t)i } } } };
	(void)snprintf(r->ifname, sizeof(r->ifname), "net%d", i + 1);
	(void)snprintf(v4, sizeof(v4), "10.30.0.1%d", i);
	(void)snprintf(v6, sizeof(v6), "fd30::1%d", i);
	r->addr = p->addr[i];
	r->noted = p->noted[i];
	r->neigh = p->neigh[i];
	(void)snprintf(text, sizeof(text), "%s/24", v4);
	r->addr[0] = (struct addr_info){ .ifindex = 5 + i, .addr = net_of(text) };
	(void)snprintf(text, sizeof(text), "%s/64", v6);
	r->addr[1] = (struct addr_info){ .ifindex = 5 + i, .addr = net_of(text) };
	r->noted[0] = ip_of(v4);
	r->noted[1] = ip_of(v6);
	r->neigh[0] = (struct neigh_info){ .addr = ip_of("10.30.0.1"),
					   .hw = { 6, { 2, 9, 9, 9, 9, 9 } },
					   .state = NEIGH_KNOWN };
	(void)snprintf(text, sizeof(text), "%s/32", v4);
	add_rule(p, text, table, 1000);
	(void)snprintf(text, sizeof(text), "%s/128", v6);
	add_rule(p, text, table, 1000);
	add_route(p, "10.30.0.0/24", NULL, 5 + i, table);
	add_route(p, "0.0.0.0/0", "10.30.0.1", 5 + i, table);
	add_route(p, "fd30::/64", NULL, 5 + i, table);
	add_route(p, "::/0", "fd30::1", 5 + i, table);
	r->wanted = p->wanted[i];
	r->n_wanted = 4;
	memcpy(r->wanted, &p->route[p->s.n_routes - 4], 4 * sizeof(*r->wanted));
	add_route(p, "10.30.0.0/24", NULL, 5 + i, 254);
	add_route(p, "fd30::/64", NULL, 5 + i, 254);
}

/* The kernel as it answers while all is well. */
static void answer(struct pod *p)
{
	struct err e;

	ck_assert_int_eq(inspect_find_ways(&p->s, &e), 0);
	for (size_t i = 0; i < p->s.n_ways; i++) {
		const struct inspect_rail *r = &p->rail[p->s.way[i].rail];

		p->s.way[i].route =
			(struct route_spec){ .ifindex = r->link.ifindex, .table = r->table };
	}
}

static void make(struct pod *p)
{
	*p = (struct pod){ .s = { .n_rails = RAILS } };
	p->s.rail = p->rail;
	p->s.rule = p->rule;
	p->s.route = p->route;
	add_rule(p, "0.0.0.0/0", 255, 0);
	for (int i = 0; i < RAILS; i++)
		make_rail(p, i);
	answer(p);
}

/* All findings that are not ok: "STATE ID SUBJECT: VALUE" a line. */
static void said(const struct pod *p, char out[2048])
{
	auto_findings struct findings all = { 0 };
	struct err e;

	*out = '\0';
	ck_assert_int_eq(inspect_check(&p->s, "ns/pod", false, &all, &e), 0);
	for (size_t i = 0; i < all.n; i++) {
		const struct finding *f = &all.item[i];
		char line[FINDING_TEXT_LEN];

		ck_assert_ptr_nonnull(f->value);
		ck_assert_int_ne(f->value[strlen(f->value) - 1], ' ');
		ck_assert(strncmp(f->subject, "ns/pod net", 10) == 0);
		if (f->state == FINDING_OK)
			continue;
		ck_assert_msg(f->reason && f->remedy, "%s: %s", f->id, f->value);
		ck_assert_msg(f->code && strncmp(f->code, f->id, strlen(f->id)) == 0, "%s", f->id);
		(void)snprintf(line, sizeof(line), "%s %s %s: %s\n", finding_state_name(f->state),
			       f->code, f->subject + 7, f->value);
		testing_append(out, 2048, line);
	}
}

/* ---- one thing broken ---- */

static void no_rule(struct pod *p)
{
	p->rule[1].from = net_of("10.99.0.1/32");
}
static void no_rule_and_no_record(struct pod *p)
{
	no_rule(p);
	p->rail[0].n_noted = p->rail[1].n_noted = 0;
}
static void no_rule_v6(struct pod *p)
{
	p->rule[4].from = net_of("fd99::1/128");
}
static void rule_to_the_other(struct pod *p)
{
	p->rule[1].table = 1001;
}
static void put_rule(struct pod *p, const char *from, uint32_t table, bool conditional)
{
	memmove(&p->rule[2], &p->rule[1], 4 * sizeof(*p->rule));
	p->rule[1] = (struct rule_spec){
		.from = net_of(from), .table = table, .priority = 500, .conditional = conditional
	};
	p->s.n_rules++;
}
static void conditional_rule(struct pod *p)
{
	put_rule(p, "10.30.0.11/32", 77, true);
}
static void earlier_rule(struct pod *p)
{
	put_rule(p, "10.30.0.11/32", 77, false);
}
static void rule_to_the_node(struct pod *p)
{
	put_rule(p, "10.30.0.11/32", HOSTVETH_TABLE, false);
	p->rule[1].priority = HOSTVETH_PRIORITY;
}
static void route_by_the_other(struct pod *p)
{
	add_route(p, "10.50.0.0/16", NULL, 6, 1000);
}
static void route_by_a_stranger(struct pod *p)
{
	add_route(p, "fd50::/64", NULL, 2, 1001);
}
static void empty_table(struct pod *p)
{
	p->route[0].table = 254;
	p->route[1].table = 254;
}
static void same_table(struct pod *p)
{
	p->rail[1].table = 1000;
	for (int i = 6; i < 10; i++) {
		p->route[i].table = 1000;
		p->wanted[1][i - 6].table = 1000;
	}
	for (int i = 3; i < 5; i++)
		p->rule[i].table = 1000;
}
static void lost_address(struct pod *p)
{
	p->rail[0].n_addrs = 1;
}
static void duplicate_address(struct pod *p)
{
	p->addr[1][1].dadfailed = true;
}
static void address_of_the_node(struct pod *p)
{
	p->s.rail[1].of_node = ip_of("fd30::11");
}
static void wrong_way(struct pod *p)
{
	p->s.way[0].route.ifindex = 6;
	p->s.way[0].route.table = 254;
}
static struct inspect_way *way_of(struct pod *p, const char *from, enum inspect_aim aim)
{
	for (size_t i = 0; i < p->s.n_ways; i++)
		if (p->s.way[i].aim == aim && ip_equal(p->s.way[i].from, ip_of(from)))
			return &p->s.way[i];
	ck_abort_msg("no way from %s", from);
}
static void wrong_way_elsewhere(struct pod *p)
{
	way_of(p, "10.30.0.10", INSPECT_ELSEWHERE)->route =
		(struct route_spec){ .ifindex = 3, .table = 254 };
}
static void wrong_way_to_peers(struct pod *p)
{
	way_of(p, "fd30::10", INSPECT_PEER)->route =
		(struct route_spec){ .ifindex = 6, .table = 254 };
}
static void no_way(struct pod *p)
{
	way_of(p, "fd30::11", INSPECT_OWN_GATEWAY)->errnum = ENETUNREACH;
}
static void local_way(struct pod *p)
{
	way_of(p, "fd30::11", INSPECT_PEER)->route =
		(struct route_spec){ .ifindex = 1, .table = 255 };
}
static void arp_ignore(struct pod *p)
{
	p->rail[1].setting[INSPECT_IGNORE] = 0;
}
static void arp_ignore_all(struct pod *p)
{
	p->rail[1].setting[INSPECT_IGNORE] = 8;
}
static void arp_announce(struct pod *p)
{
	p->rail[0].setting[INSPECT_ANNOUNCE] = 1;
}
static void arp_announce_alone(struct pod *p)
{
	p->rail[0].setting[INSPECT_ANNOUNCE] = 0;
	p->addr[0][0].addr = net_of("10.30.0.10/32");
	p->addr[1][0].addr = net_of("10.30.0.11/32");
}
static void rp_filter(struct pod *p)
{
	p->rail[0].setting[INSPECT_RP_FILTER] = 1;
}
static void unreadable(struct pod *p)
{
	p->rail[0].setting[INSPECT_RP_FILTER] = -1;
}
static void arp_of_one_rail(struct pod *p)
{
	p->rail[0].setting[INSPECT_IGNORE] = 0;
	p->rail[1].link.ifindex = 0;
}
static void small_mtu(struct pod *p)
{
	p->rail[0].link.mtu = 1500;
}
static void wanted_mtu(struct pod *p)
{
	p->rail[0].link.mtu = 4200;
	p->rail[0].want_mtu = 4200;
}
static void large_mtu(struct pod *p)
{
	p->rail[0].master_mtu = 1500;
	p->rail[0].want_mtu = 9000;
}
static void route_mtu(struct pod *p)
{
	p->route[1].mtu = 9100;
}
static void way_mtu(struct pod *p)
{
	p->s.way[0].route.mtu = 1500;
}
static void no_carrier(struct pod *p)
{
	p->rail[1].link.flags = IFF_UP;
}
static void down(struct pod *p)
{
	p->rail[1].link.flags = 0;
}
static void silent_gateway(struct pod *p)
{
	p->neigh[0][0] = (struct neigh_info){ .addr = ip_of("10.30.0.1"), .state = NEIGH_FAILED };
}
static void asked_gateway(struct pod *p)
{
	p->neigh[0][0] = (struct neigh_info){ .addr = ip_of("10.30.0.1"), .state = NEIGH_ASKED };
}
static void own_gateway(struct pod *p)
{
	p->neigh[0][0].hw = p->rail[1].link.addr;
}
static void no_interface(struct pod *p)
{
	p->rail[1].link.ifindex = 0;
}
static void nothing(struct pod *p)
{
	(void)p;
}

static void vfio(struct pod *p)
{
	p->rail[1].link.ifindex = 0;
	p->rail[1].ifindex = 0;
}
static void macs_of_two(struct pod *p)
{
	p->rail[1].link.addr = p->rail[0].link.addr;
}
static void macs_of_vlans(struct pod *p)
{
	p->rail[1].link.addr = p->rail[0].link.addr;
	p->rail[0].link.lower_ifindex = p->rail[1].link.lower_ifindex = 3;
}
static void mac_of_a_neighbour(struct pod *p)
{
	p->neigh[0][0].hw = p->rail[0].link.addr;
	p->neigh[0][0].addr = ip_of("10.30.0.9");
}
static void mac_of_ipvlans(struct pod *p)
{
	mac_of_a_neighbour(p);
	(void)snprintf(p->rail[0].link.kind, IFNAME_LEN, "ipvlan");
}
static void mac_changed(struct pod *p)
{
	p->rail[0].want_mac = (struct hw_addr){ 6, { 10 } };
}
static void drifted(struct pod *p)
{
	(void)snprintf(p->rail[0].drift, sizeof(p->rail[0].drift),
		       "txQueueLen is 1, configured is 2");
}
static void proxy(struct pod *p)
{
	p->rail[0].setting[INSPECT_PROXY] = 1;
}
static void linkdown(struct pod *p)
{
	p->rail[0].setting[INSPECT_LINKDOWN6] = 0;
	p->rail[1].setting[INSPECT_LINKDOWN6] = -1;
}
static void advertised(struct pod *p)
{
	p->rail[1].setting[INSPECT_RA] = 1;
}
static void configured(struct pod *p)
{
	static const char text[] = "{\"sysctl\":{\"net.ipv4.conf.IFNAME.arp_ignore\":\"0\"}}";
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "text", &p->rail[0].config, &e), 0);
	p->rail[0].setting[INSPECT_IGNORE] = 0;
}
static void no_default(struct pod *p)
{
	p->route[1].table = 77;
}
static void no_connected(struct pod *p)
{
	p->route[4].table = 77;
}
static void blackhole(struct pod *p)
{
	add_route(p, "10.50.0.0/16", NULL, 0, 1000);
	p->route[p->s.n_routes - 1].kind = ROUTE_BLACKHOLE;
}
static void guard(struct pod *p)
{
	add_route(p, "0.0.0.0/0", NULL, 0, 1000);
	p->route[p->s.n_routes - 1].kind = ROUTE_UNREACHABLE;
	p->route[p->s.n_routes - 1].priority = 9999;
}
static void part_by_the_other(struct pod *p)
{
	add_route(p, "10.30.0.64/26", NULL, 6, 254);
	add_route(p, "10.30.0.128/26", NULL, 3, 254); /* no rail */
	p->wanted[1][4] = (struct route_spec){ .dst = net_of("10.30.0.192/26"), .table = 254 };
	p->rail[1].n_wanted++; /* wanted by the other one */
	add_route(p, "10.30.0.192/26", NULL, 6, 254);
}
static void other_priority(struct pod *p)
{
	p->rule[1].priority = 900;
}
static void main_first(struct pod *p)
{
	put_rule(p, "0.0.0.0/0", 254, false);
	p->s.way[0].route = (struct route_spec){ .ifindex = 3, .table = 254 };
}
static void given_address(struct pod *p)
{
	p->addr[0][2] = (struct addr_info){ .addr = net_of("fd30::99/64"), .given = true };
	p->rail[0].n_addrs++;
}
static void own_address(struct pod *p)
{
	given_address(p);
	p->addr[0][2].given = false;
}
static const struct {
	void (*break_it)(struct pod *p);
	const char *said;
} breakages[] = {
	{ nothing, "" },
	{ no_rule, "fail rule-missing net1: no rule from 10.30.0.10\n" },
	{ no_rule_and_no_record, "warn rule-missing net1: no rule from 10.30.0.10\n" },
	{ no_rule_v6, "fail rule-missing net2: no rule from fd30::11\n" },
	{ rule_to_the_other, "fail rule-wrong net1: the rule from 10.30.0.10 of priority 1000 "
			     "leads to table 1001, not "
			     "1000\n" },
	{ conditional_rule, "" },
	{ rule_to_the_node, "" },
	{ earlier_rule,
	  "fail rule-wrong net2: the rule from 10.30.0.11 of priority 500 leads to table 77, not "
	  "1001\n" },
	{ route_by_the_other,
	  "fail route-wrong net1: the route to 10.50.0.0/16 in table 1000 is by net2\n" },
	{ route_by_a_stranger, "fail route-wrong net2: the route to fd50::/64 in table 1001 is by "
			       "interface number 2\n" },
	{ empty_table, "fail route-missing net1: table 1000 has no route of IPv4 by net1\n" },
	{ same_table, "fail table-shared net2: 1000 is also the table of net1\n" },
	{ lost_address, "fail address-missing net1: fd30::10 is missing\n" },
	{ duplicate_address, "fail address-duplicate net2: fd30::11 is a duplicate\n" },
	{ address_of_the_node, "fail address-node net2: the node has fd30::11, too\n" },
	{ wrong_way,
	  "fail way-wrong net1: from 10.30.0.10 to gateway 10.30.0.1: by net2, table 254\n" },
	{ wrong_way_elsewhere, "fail way-wrong net1: from 10.30.0.10 to other networks, 192.0.2.1: "
			       "by interface number 3, table 254\n" },
	{ wrong_way_to_peers, "fail way-wrong net1: from fd30::10 to its network, "
			      "fd30::ffff:ffff:ffff:ffff: by net2, table 254\n" },
	{ no_way,
	  "fail way-none net2: from fd30::11 to gateway fd30::1: Network is unreachable\n" },
	{ local_way, "" },
	{ arp_ignore, "fail arp-ignore net2: arp_ignore is 0, should be 1\n" },
	{ arp_ignore_all, "fail arp-ignore net2: arp_ignore is 8, should be 1\n" },
	{ arp_announce, "fail arp-announce net1: arp_announce is 1, should be 2\n" },
	{ arp_announce_alone, "warn arp-announce net1: arp_announce is 0, should be 2\n" },
	{ rp_filter, "warn arp-rp-filter net1: rp_filter is 1, should be 2\n" },
	{ unreadable, "unknown setting-unread net1: rp_filter cannot be read\n" },
	{ arp_of_one_rail, "fail interface-missing net2: the namespace has no such interface\n" },
	{ small_mtu, "warn mtu-master net1: 1500, but master eth0 has 9000\n" },
	{ wanted_mtu, "" },
	{ large_mtu, "fail mtu-master net1: 9000, but master eth0 has 1500\n" },
	{ route_mtu, "warn mtu-route net1: 9000, but the route to 0.0.0.0/0 has 9100\n" },
	{ way_mtu, "warn mtu-path net1: 9000, but the way to gateway 10.30.0.1 has 1500\n" },
	{ no_carrier, "fail carrier-lost net2: no carrier, 6 routes by it\n" },
	{ down, "fail carrier-down net2: the interface is down, 6 routes by it\n" },
	{ silent_gateway,
	  "warn gateway-silent net1: 10.30.0.1 did not answer when it was last asked\n" },
	{ asked_gateway, "" },
	{ own_gateway, "fail gateway-self net1: 10.30.0.1 is 02:00:00:00:00:01\n" },
	{ vfio, "" },
	{ macs_of_two, "fail mac-duplicate net2: 02:00:00:00:00:00 is also that of net1\n" },
	{ macs_of_vlans, "" },
	{ mac_of_a_neighbour,
	  "fail mac-duplicate net1: 02:00:00:00:00:00 is also that of 10.30.0.9\n" },
	{ mac_of_ipvlans, "" },
	{ mac_changed,
	  "warn mac-changed net1: 02:00:00:00:00:00, but macPrefix makes 0a:00:00:00:00:00\n" },
	{ drifted, "warn setting-changed net1: txQueueLen is 1, configured is 2\n" },
	{ proxy, "fail arp-proxy net1: proxy_arp is 1, should be 0\n" },
	{ linkdown,
	  "warn setting-linkdown net1: ipv6.ignore_routes_with_linkdown is 0, should be 1\n" },
	{ advertised, "warn setting-ra net2: ipv6.accept_ra_defrtr is 1, should be 0\n" },
	{ configured, "" },
	{ no_default,
	  "fail route-missing net1: table 1000 lacks the route to 0.0.0.0/0 by 10.30.0.1\n" },
	{ no_connected, "warn route-missing net1: table 254 lacks the route to 10.30.0.0/24\n" },
	{ blackhole,
	  "fail route-forbids net1: table 1000 has a route of kind blackhole to 10.50.0.0/16\n" },
	{ guard, "" },
	{ part_by_the_other,
	  "warn route-taken net1: the route to 10.30.0.64/26 in the main table is by net2\n" },
	{ other_priority,
	  "warn rule-priority net1: the rule from 10.30.0.10 has priority 900, not 1000\n" },
	{ main_first, "fail rule-earlier net1: the rule from all of priority 500 leads to table "
		      "254 before that of 10.30.0.10\n" },
	{ given_address, "" },
	{ own_address, "warn rule-missing net1: no rule from fd30::99\n" },
	{ no_interface, "fail interface-missing net2: the namespace has no such interface\n" },
};

START_TEST(one_broken_thing_is_one_finding)
{
	for (size_t i = 0; i < ARRAY_SIZE(breakages); i++) {
		struct pod p;
		char text[2048];

		make(&p);
		breakages[i].break_it(&p);
		said(&p, text);
		ck_assert_msg(strcmp(text, breakages[i].said) == 0, "case %zu: \"%s\", not \"%s\"",
			      i, text, breakages[i].said);
		json_free(p.rail[0].config);
		free(p.s.way);
	}
}
END_TEST

/* ---- rails without a table ---- */

START_TEST(a_rail_without_routing_has_only_what_applies)
{
	auto_findings struct findings all = { 0 };
	char text[2048];
	struct pod p;
	struct err e;

	make(&p);
	free(p.s.way);
	p.s.way = NULL;
	p.s.n_ways = 0;
	p.s.n_rules = 1;
	for (int i = 0; i < RAILS; i++) {
		p.rail[i].table = 0;
		p.rail[i].n_noted = p.rail[i].n_wanted = 0;
		p.rail[i].setting[INSPECT_IGNORE] = 0;
	}
	for (size_t i = 0; i < p.s.n_routes; i++)
		p.route[i].table = 254;
	add_route(&p, "10.60.0.0/16", "10.30.0.2", 6, 254);
	answer(&p);
	said(&p, text);
	ck_assert_str_eq(text, "");
	/* both in one network: the main table has one way for both */
	way_of(&p, "10.30.0.11", INSPECT_PEER)->route.ifindex = 5;
	said(&p, text);
	ck_assert_str_eq(text, "warn way-shared net2: from 10.30.0.11 to its network, 10.30.0.254: "
			       "by net1, table 0\n");
	ck_assert_int_eq(inspect_check(&p.s, "", false, &all, &e), 0);
	for (size_t i = 0; i < all.n; i++)
		ck_assert(strcmp(all.item[i].id, "rule") != 0 &&
			  strcmp(all.item[i].id, "arp") != 0 &&
			  strcmp(all.item[i].id, "table") != 0 &&
			  strcmp(all.item[i].id, "route") != 0);
	ck_assert_str_eq(all.item[0].subject, "net1");
	free(p.s.way);
}
END_TEST

/* ---- memory ---- */

static int check(void *arg, struct err *e)
{
	const struct pod *p = arg;
	auto_findings struct findings all = { 0 };

	return inspect_check(&p->s, "", false, &all, e);
}

START_TEST(allocations_of_findings_may_fail)
{
	struct pod p;

	make(&p);
	no_rule(&p);
	ck_assert_str_eq(alloc_fail_each(check, &p), "ok");
	free(p.s.way);
}
END_TEST

TEST_PROGRAM("inspect_check", one_broken_thing_is_one_finding,
	     a_rail_without_routing_has_only_what_applies, allocations_of_findings_may_fail)

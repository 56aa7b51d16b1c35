// SPDX-License-Identifier: Apache-2.0
/* inspect_host_test.c: which addresses of the node a pod does not reach by its veth. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cni/hostveth/hostveth.h"
#include "diag/inspect.h"
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

/* ---- a pod with net1 on eth0, which has two addresses; a range has one, a route the other ---- */

struct pod {
	struct inspect s;
	struct inspect_rail rail;
	struct addr_info addr[2];
	struct inspect_way node[2];
	struct route_spec route[2];
};

static void make(struct pod *p)
{
	*p = (struct pod){
		.rail = { .ifindex = 5,
			  .ifname = "net1",
			  .master = "eth0",
			  .host_metric = 5,
			  .n_addrs = 2,
			  .n_node = 2,
			  .link = { .ifindex = 5, .mtu = 1500, .flags = IFF_UP | IFF_RUNNING } }
	};
	p->addr[0].addr = net_of("10.30.0.10/24");
	p->addr[1].addr = net_of("fd30::10/64");
	p->node[0] = (struct inspect_way){ .to = ip_of("192.0.2.7"), .errnum = ENETUNREACH };
	p->node[1] = (struct inspect_way){ .to = ip_of("fd99::7"), .errnum = ENETUNREACH };
	p->route[0] = (struct route_spec){ .dst = net_of("192.0.2.0/24"), .table = HOSTVETH_TABLE };
	p->route[1] = (struct route_spec){ .dst = net_of("fd99::7/128"), .table = HOSTVETH_TABLE };
	p->rail.addr = p->addr;
	p->rail.node = p->node;
	p->s = (struct inspect){ .rail = &p->rail, .n_rails = 1, .route = p->route, .n_routes = 2 };
}

/* The findings of the check, "STATE VALUE: REMEDY" a line. */
static const char *said_of(const struct inspect *s, bool fold)
{
	static char shown[1024];
	auto_findings struct findings all = { 0 };
	char line[FINDING_TEXT_LEN * 2];
	struct err e;

	*shown = '\0';
	ck_assert_int_eq(inspect_check(s, "", fold, &all, &e), 0);
	for (size_t i = 0; i < all.n; i++) {
		const struct finding *f = &all.item[i];

		if (strcmp(f->id, "host") != 0)
			continue;
		const char *remedy = f->remedy ? f->remedy : "";

		(void)snprintf(line, sizeof(line), "%s %s: %.*s\n", finding_state_name(f->state),
			       f->value, (int)strcspn(remedy, ";"), remedy);
		testing_append(shown, sizeof(shown), line);
	}
	return shown;
}

static const char *said(const struct pod *p)
{
	return said_of(&p->s, false);
}

#define NO_ROUTE "warn no route by veth0 to the node's address "
#define NO_V4                                                                                      \
	NO_ROUTE "192.0.2.7 of eth0: in the pod: ip route add 192.0.2.7 via 169.254.113.1 dev "    \
		 "veth0 onlink src 10.30.0.10 metric 5 table 2024\n"
#define NO_V6                                                                                      \
	NO_ROUTE "fd99::7 of eth0: in the pod: ip -6 route add fd99::7 via fe80::1 dev veth0 src " \
		 "fd30::10 metric 5 table 2024\n"

START_TEST(each_address_of_the_node_has_a_route)
{
	struct pod p;

	make(&p);
	ck_assert_str_eq(said(&p), "ok 2 addresses of eth0: \n");
	p.s.n_routes = 1;
	ck_assert_str_eq(said(&p), NO_V6);
	p.s.n_routes = 0;
	ck_assert_str_eq(said(&p), NO_V4 NO_V6);
}
END_TEST

START_TEST(routes_that_do_not_count)
{
	struct pod p;

	make(&p);
	p.route[0].kind = ROUTE_BLACKHOLE;
	p.route[1].table = 254;
	ck_assert_str_eq(said(&p), NO_V4 NO_V6);
}
END_TEST

/* ADD makes no route of a family that the rail lacks, and none without the key. */
START_TEST(what_is_not_asked_for)
{
	struct pod p;

	make(&p);
	p.rail.n_addrs = 1;
	p.s.n_routes = 1;
	ck_assert_str_eq(said(&p), "ok 2 addresses of eth0: \n");
	p.rail.host_metric = 0;
	p.rail.n_node = 0;
	ck_assert_str_eq(said(&p), "");
}
END_TEST

/* A pod with an eth0 reaches the node by it; a rail does not lead there. */
START_TEST(the_way_of_packets_without_a_source)
{
	struct pod p;

	make(&p);
	p.s.n_routes = 0;
	for (size_t i = 0; i < 2; i++)
		p.node[i] = (struct inspect_way){ .to = p.node[i].to, .route.ifindex = 2 };
	ck_assert_str_eq(said(&p), "ok 2 addresses of eth0: \n");
	p.node[1].route.ifindex = 5;
	ck_assert_str_eq(said(&p), NO_V6);
	p.node[0].errnum = EACCES;
	ck_assert_str_eq(said(&p), NO_V4 NO_V6);
}
END_TEST

/* 40 addresses without a way, and two that a rail takes: one finding for each reason. */
START_TEST(people_read_one_finding_for_one_reason)
{
	struct inspect_way many[42] = { { .errnum = 0 } };
	char want[1024];
	struct pod p;

	make(&p);
	p.s.n_routes = 0;
	for (uint32_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct inspect_way){ .to = { IP_V4, 0xc0000200 + i },
						.errnum = i < 40 ? EHOSTUNREACH : 0,
						.route.ifindex = 5 };
	p.rail.node = many;
	p.rail.n_node = 42;
	(void)snprintf(
		want, sizeof(want), "%s%s",
		"warn no route by veth0 to 40 addresses of eth0 on the node: 192.0.2.0, 192.0.2.1, "
		"192.0.2.2 and 37 more: in the pod, for each ADDRESS of them (--json has all): "
		"ip route add ADDRESS via 169.254.113.1 dev veth0 onlink src 10.30.0.10 metric 5 "
		"table 2024\n",
		"warn no route by veth0 to 2 addresses of eth0 on the node: 192.0.2.40, "
		"192.0.2.41: "
		"in the pod, for each ADDRESS of them (--json has all): "
		"ip route add ADDRESS via 169.254.113.1 dev veth0 onlink src 10.30.0.10 metric 5 "
		"table 2024\n");
	ck_assert_str_eq(said_of(&p.s, true), want);
	p.rail.n_node = 1;
	ck_assert_msg(
		strstr(said_of(&p.s, true), "the node's address 192.0.2.0 of eth0: in the pod: ip"),
		"%s", said_of(&p.s, true));
}
END_TEST

START_TEST(each_address_has_a_finding_for_programs)
{
	struct inspect_way many[40] = { { .errnum = 0 } };
	auto_findings struct findings all = { 0 };
	struct pod p;
	struct err e;

	make(&p);
	p.s.n_routes = 0;
	for (uint32_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct inspect_way){ .to = { IP_V4, 0xc0000200 + i }, .errnum = EACCES };
	p.rail.node = many;
	p.rail.n_node = ARRAY_SIZE(many);
	ck_assert_int_eq(inspect_check(&p.s, "", false, &all, &e), 0);
	ck_assert_uint_eq(findings_count(&all, FINDING_WARN), 40);
}
END_TEST

START_TEST(a_record_says_whether_there_is_a_veth)
{
	static const char note[] = "{\"veth\":\"veth0123456789a\",\"metric\":7}";
	auto_json struct json *host = NULL;
	auto_inspect struct inspect s = { 0 };
	struct record r = { .key = { "rail0", "c1", "net1" } };
	struct err e;

	ck_assert_int_eq(json_parse(note, strlen(note), "note", &host, &e), 0);
	ck_assert_int_eq(inspect_add_record(&s, &r, &e), 0);
	r.host = host;
	ck_assert_int_eq(inspect_add_record(&s, &r, &e), 0);
	ck_assert_uint_eq(s.rail[0].host_metric, 0);
	ck_assert_uint_eq(s.rail[1].host_metric, 7);
}
END_TEST

START_TEST(the_filter_of_the_node)
{
	struct pod p;

	make(&p);
	(void)snprintf(p.rail.filter_why, sizeof(p.rail.filter_why), "no filter");
	ck_assert_str_eq(said(&p), "fail no filter: restart the pod\n");
	p.rail.filter_unread = true;
	ck_assert_str_eq(said(&p), "unknown no filter: run it as root on the node itself\n");
}
END_TEST

TEST_PROGRAM("inspect_host", the_filter_of_the_node, each_address_of_the_node_has_a_route,
	     routes_that_do_not_count, what_is_not_asked_for, the_way_of_packets_without_a_source,
	     people_read_one_finding_for_one_reason, each_address_has_a_finding_for_programs,
	     a_record_says_whether_there_is_a_veth)

// SPDX-License-Identifier: Apache-2.0
/* inspect_host_test.c: which addresses of the node a pod does not reach by its veth. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cni/hostveth/hostveth.h"
#include "cni/inspect/inspect.h"
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
	struct ip node[2];
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
	p->node[0] = ip_of("192.0.2.7");
	p->node[1] = ip_of("fd99::7");
	p->route[0] = (struct route_spec){ .dst = net_of("192.0.2.0/24"), .table = HOSTVETH_TABLE };
	p->route[1] = (struct route_spec){ .dst = net_of("fd99::7/128"), .table = HOSTVETH_TABLE };
	p->rail.addr = p->addr;
	p->rail.node = p->node;
	p->s = (struct inspect){ .rail = &p->rail, .n_rails = 1, .route = p->route, .n_routes = 2 };
}

/* The findings of the check, "STATE VALUE: REMEDY" a line. */
static const char *said(const struct pod *p)
{
	static char shown[1024];
	auto_findings struct findings all = { 0 };
	char line[FINDING_TEXT_LEN * 2];
	struct err e;

	*shown = '\0';
	ck_assert_int_eq(inspect_check(&p->s, "", &all, &e), 0);
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

TEST_PROGRAM("inspect_host", each_address_of_the_node_has_a_route, routes_that_do_not_count,
	     what_is_not_asked_for, a_record_says_whether_there_is_a_veth)

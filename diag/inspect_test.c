// SPDX-License-Identifier: Apache-2.0
/* Shows which rails a record makes, and that a namespace is read, or not at all. */
#include "diag/inspect.h"

#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

static struct json *parse(const char *text)
{
	struct json *n;
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "test", &n, &e), 0);
	return n;
}

static void add(struct inspect *s, const char *routing, const char *config)
{
	auto_json struct json *note = parse(routing), *conf = parse(config);
	struct record r = { .key = { "rail0", "c1", "net1" },
			    .plugin = "macvlan",
			    .master = "eth0",
			    .routing = note,
			    .config = conf };
	struct err e;

	ck_assert_int_eq(inspect_add_record(s, &r, &e), 0);
}

START_TEST(a_record_makes_a_rail)
{
	auto_inspect struct inspect s = { 0 };

	add(&s, "{\"table\":1000,\"from\":[\"10.1.0.5\",\"x\",7,\"fd00::5\"]}", "{\"mtu\":4200}");
	add(&s, "{\"table\":-1,\"from\":3}", "{\"mtu\":70000}");
	add(&s, "{}", "{\"mtu\":\"9000\"}");
	ck_assert_uint_eq(s.n_rails, 3);
	ck_assert_str_eq(s.rail[0].network, "rail0");
	ck_assert_str_eq(s.rail[0].ifname, "net1");
	ck_assert_str_eq(s.rail[0].plugin, "macvlan");
	ck_assert_str_eq(s.rail[0].master, "eth0");
	ck_assert_uint_eq(s.rail[0].table, 1000);
	ck_assert_uint_eq(s.rail[0].n_noted, 2);
	ck_assert_int_eq(s.rail[0].noted[1].family, IP_V6);
	ck_assert_uint_eq(s.rail[0].want_mtu, 4200);
	for (size_t i = 1; i < 3; i++) {
		ck_assert_uint_eq(s.rail[i].table, 0);
		ck_assert_uint_eq(s.rail[i].n_noted, 0);
		ck_assert_uint_eq(s.rail[i].want_mtu, 0);
	}
}
END_TEST

/* ---- a namespace with two rails ---- */

static struct ip_prefix net_of(const char *text)
{
	struct ip_prefix p;

	ck_assert_int_eq(ip_parse_prefix(text, &p), 0);
	return p;
}

static void make_rails(struct nl *nl)
{
	static const char *const addrs[] = { "10.1.0.5", "10.2.0.5" };
	static const char *const nets[] = { "10.1.0.5/24", "10.2.0.5/24" };
	static const char *const names[] = { "net1", "net2" };
	struct err e;

	net_veth("net1", "net2", NULL);
	for (uint32_t i = 0; i < 2; i++) {
		struct route_spec r = { .dst.addr.family = IP_V4, .table = 100 + i, .scope = -1 };
		struct rule_spec rule = { .table = 100 + i, .priority = 1000 };

		r.ifindex = net_ifindex(nl, names[i]);
		r.gw = ip_network(net_of(nets[i]));
		r.gw.v++;
		ck_assert_int_eq(ip_parse(addrs[i], &rule.from.addr), 0);
		rule.from.len = 32;
		ck_assert_int_eq(nl_addr_add(nl, r.ifindex, net_of(nets[i]), true, &e), 0);
		ck_assert_msg(nl_route_add(nl, &r, &e) == 0, "%s", e.msg);
		ck_assert_int_eq(nl_rule_add(nl, &rule, &e), 0);
	}
}

static int read_self(void *arg, struct err *e)
{
	auto_inspect struct inspect s = { 0 };
	const struct inspect_from *from = arg;
	struct record r = { .key = { "rail0", "c1", "net1" } };

	return inspect_add_record(&s, &r, e) || inspect_read(from, &s, e) ? -1 : 0;
}

static void has_both_rails(const struct inspect_from *from)
{
	auto_inspect struct inspect s = { 0 };
	struct record r = { .key = { "rail0", "c1", "net1" } };
	struct err e;

	ck_assert_int_eq(inspect_add_record(&s, &r, &e), 0);
	ck_assert_msg(inspect_read(from, &s, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(s.n_rails, 2);
	ck_assert_str_eq(s.rail[0].ifname, "net1");
	ck_assert_str_eq(s.rail[0].network, "rail0");
	ck_assert_str_eq(s.rail[1].ifname, "net2"); /* it has a rule, and no record */
	ck_assert_uint_eq(s.rail[0].table, 100);
	ck_assert_uint_eq(s.rail[1].table, 101);
	ck_assert_uint_eq(s.rail[1].n_addrs, 1);
	ck_assert_uint_eq(s.rail[1].link.mtu, 1500);
	ck_assert_int_ge(s.rail[1].setting[INSPECT_IGNORE], 0);
	ck_assert_uint_eq(s.n_ways, 4); /* of each rail to its gateway and a peer */
	for (size_t i = 0; i < s.n_ways; i++) {
		ck_assert_int_eq(s.way[i].errnum, 0);
		ck_assert_int_eq(s.way[i].route.ifindex, s.rail[s.way[i].rail].link.ifindex);
		ck_assert_uint_eq(s.way[i].aim, i % 2 == 0 ? INSPECT_OWN_GATEWAY : INSPECT_PEER);
	}
}

START_TEST(a_namespace_is_read_or_not_at_all)
{
	auto_netns struct netns self = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	struct inspect_from from = { .host = &self, .pod = &self };
	struct ctx ctx = { .proc = "/proc" };

	net_enter_new();
	self = net_self();
	nl = net_socket();
	make_rails(nl);
	from.ctx = &ctx;
	has_both_rails(&from);
	ck_assert_str_eq(alloc_fail_each(read_self, &from), "ok");
}
END_TEST

TEST_PROGRAM("inspect", a_record_makes_a_rail, a_namespace_is_read_or_not_at_all)

/* SPDX-License-Identifier: Apache-2.0 */
/* route_test.c: shows on a real kernel that routes are added and listed, and how errors read. */
#include "lib/net/addr.h"
#include "lib/net/rule.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"

static struct route_spec route(int ifindex, const char *dst, const char *gw)
{
	struct route_spec r = { .ifindex = ifindex, .scope = -1 };

	ck_assert_int_eq(ip_parse_prefix(dst, &r.dst), 0);
	if (gw)
		ck_assert_int_eq(ip_parse(gw, &r.gw), 0);
	return r;
}

static void say_number(char *out, const char *what, long long n)
{
	(void)sprintf(out + strlen(out), " %s %lld", what, n);
}

/* In words: "DST [via GW] [mtu N] [advmss N] [metric N] [table N] [scope N] [onlink]". */
static void say_route(const struct route_spec *r, char *out)
{
	char text[PREFIX_STR_LEN];

	(void)strcat(out, ip_format_prefix(r->dst, text));
	if (r->gw.family)
		(void)strcat(strcat(out, " via "), ip_format(r->gw, text));
	if (r->mtu)
		say_number(out, "mtu", r->mtu);
	if (r->advmss)
		say_number(out, "advmss", r->advmss);
	if (r->priority && r->priority != 1024) /* IPv6's usual one */
		say_number(out, "metric", r->priority);
	if (r->table != RT_TABLE_MAIN)
		say_number(out, "table", r->table);
	if (r->scope)
		say_number(out, "scope", r->scope);
	(void)strcat(out, r->onlink ? " onlink\n" : "\n");
}

struct listed {
	char text[2048];
	int n, stop_at, ifindex;
};

static int list_one(const struct route_spec *r, void *arg)
{
	struct listed *l = arg;

	ck_assert_int_eq(r->ifindex, l->ifindex);
	/* The kernel's own link-local route is not what is tested. */
	if (ip_is_link_local(r->dst.addr))
		return 0;
	say_route(r, l->text);
	return ++l->n == l->stop_at;
}

static void lists(struct nl *nl, int ifindex, const char *expected)
{
	struct listed l = { .ifindex = ifindex };
	struct err e = { 0 };

	ck_assert_msg(nl_route_list(nl, ifindex, list_one, &l, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(l.text, expected);
}

static void add(struct nl *nl, const struct route_spec *r)
{
	struct err e = { 0 };

	ck_assert_msg(nl_route_add(nl, r, &e) == 0, "%s (%s)", e.msg, e.detail);
}

static void add_addr(struct nl *nl, int ifindex, const char *addr)
{
	struct ip_prefix p;
	struct err e = { 0 };

	ck_assert_int_eq(ip_parse_prefix(addr, &p), 0);
	ck_assert_int_eq(nl_addr_add(nl, ifindex, p, true, &e), 0);
}

/* A fresh namespace with the pair up0 and peer0, and addresses on up0. */
struct world {
	struct nl *nl;
	int up0, peer0;
};

static struct world world(void)
{
	struct world w;

	net_enter_new();
	net_veth("up0", "peer0", NULL);
	w.nl = net_socket();
	w.up0 = net_ifindex(w.nl, "up0");
	w.peer0 = net_ifindex(w.nl, "peer0");
	add_addr(w.nl, w.up0, "10.1.0.2/24");
	add_addr(w.nl, w.up0, "fd00::2/64");
	return w;
}

#define OWN_V4 "10.1.0.0/24 scope 253\n"
#define OWN_V6 "fd00::/64 metric 256\n"

START_TEST(adds_and_lists)
{
	struct world w = world();
	const struct route_spec r[] = {
		route(w.up0, "0.0.0.0/0", "10.1.0.1"), route(w.up0, "::/0", "fd00::1"),
		route(w.up0, "10.7.7.7/8", NULL), /* host bits do not count */
		route(w.up0, "fd01::5/64", "fd00::9"), route(w.peer0, "10.8.0.0/16", NULL),
	};

	for (size_t i = 0; i < ARRAY_SIZE(r); i++)
		add(w.nl, &r[i]);
	lists(w.nl, w.up0,
	      "0.0.0.0/0 via 10.1.0.1\n"
	      "10.0.0.0/8 scope 253\n" OWN_V4 OWN_V6 "fd01::/64 via fd00::9\n"
	      "::/0 via fd00::1\n");
	lists(w.nl, w.peer0, "10.8.0.0/16 scope 253\n");
	nl_release(w.nl);
}
END_TEST

START_TEST(every_field_arrives)
{
	struct world w = world();
	struct route_spec r[] = {
		route(w.up0, "10.5.0.0/16", "10.1.0.1"),
		route(w.up0, "fd05::/64", "fd00::1"),
		route(w.up0, "10.6.0.0/16", "192.0.2.1"),
		route(w.up0, "10.7.0.0/16", NULL),
	};

	for (int i = 0; i < 2; i++) {
		r[i].mtu = 1400;
		r[i].advmss = 1300;
		r[i].priority = 77;
		r[i].table = i ? 100 : 100000; /* one that fits the header, and one that does not */
	}
	r[2].onlink = true;
	r[3].scope = RT_SCOPE_HOST;
	for (size_t i = 0; i < ARRAY_SIZE(r); i++)
		add(w.nl, &r[i]);
	lists(w.nl, w.up0,
	      "10.5.0.0/16 via 10.1.0.1 mtu 1400 advmss 1300 metric 77 table 100000\n" OWN_V4
	      "10.6.0.0/16 via 192.0.2.1 onlink\n"
	      "10.7.0.0/16 scope 254\n"
	      "fd05::/64 via fd00::1 mtu 1400 advmss 1300 metric 77 table 100\n" OWN_V6);
	nl_release(w.nl);
}
END_TEST

START_TEST(the_same_again_is_EEXIST_another_gateway_is_not)
{
	struct world w = world();
	const struct route_spec first[] = { route(w.up0, "10.5.0.0/16", "10.1.0.1"),
					    route(w.up0, "fd05::/64", "fd00::1") };
	const struct route_spec second[] = { route(w.up0, "10.5.0.0/16", "10.1.0.9"),
					     route(w.up0, "fd05::/64", "fd00::9") };
	struct err e = { 0 };

	for (size_t i = 0; i < 2; i++) {
		add(w.nl, &first[i]);
		add(w.nl, &second[i]);
		ck_assert_int_eq(nl_route_add(w.nl, &first[i], &e), -1);
		ck_assert_int_eq(e.code, ERR_KERNEL);
		ck_assert_int_eq(e.errnum, EEXIST);
		ck_assert_int_eq(nl_route_add(w.nl, &second[i], &e), -1);
		ck_assert_int_eq(e.errnum, EEXIST);
	}
	ck_assert_ptr_nonnull(strstr(e.msg, "add route fd05::/64 via fd00::9"));
	lists(w.nl, w.up0,
	      OWN_V4 "10.5.0.0/16 via 10.1.0.9\n"
		     "10.5.0.0/16 via 10.1.0.1\n" OWN_V6 "fd05::/64 via fd00::1\n"
		     "fd05::/64 via fd00::9\n");
	nl_release(w.nl);
}
END_TEST

START_TEST(a_gateway_of_the_other_family)
{
	struct world w = world();
	struct route_spec v4 = route(w.up0, "10.5.0.0/16", "fd00::1");
	struct route_spec v6 = route(w.up0, "fd05::/64", "10.1.0.1");
	struct err e = { 0 };

	add(w.nl, &v4);
	lists(w.nl, w.up0, OWN_V4 "10.5.0.0/16 via fd00::1\n" OWN_V6);
	ck_assert_int_eq(nl_route_add(w.nl, &v6, &e), -1); /* not in Linux */
	ck_assert_int_eq(e.errnum, EINVAL);
	ck_assert_ptr_nonnull(strstr(e.detail, "RTA_VIA"));
	nl_release(w.nl);
}
END_TEST

static int say_kind(const struct route_spec *r, void *arg)
{
	struct listed *l = arg;
	char text[PREFIX_STR_LEN];

	if (r->table < 1000)
		return 0;
	(void)sprintf(l->text + strlen(l->text), "%s %s %u\n", route_kind_name(r->kind),
		      ip_format_prefix(r->dst, text), r->table);
	return 0;
}

/* A table without a route by an interface is in use, too. */
START_TEST(routes_of_every_kind_are_listed)
{
	auto_nl struct nl *nl = NULL;
	struct listed l = { .n = 0 };
	struct err e;

	net_enter_new();
	net_veth("up0", "peer0", NULL);
	nl = net_socket();
	ck_assert_int_eq(system("ip route add blackhole 10.1.0.0/16 table 1000 && "
				"ip route add unreachable 10.2.0.0/16 table 1000 && "
				"ip route add prohibit 10.3.0.0/16 table 1000 && "
				"ip route add throw 10.4.0.0/16 table 1001 && "
				"ip route add 10.5.0.0/16 dev up0 table 1001 && "
				"ip -6 route add blackhole fd01::/64 table 1002"),
			 0);
	ck_assert_msg(nl_route_list_all(nl, say_kind, &l, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(l.text, "blackhole 10.1.0.0/16 1000\nunreachable 10.2.0.0/16 1000\n"
				 "prohibit 10.3.0.0/16 1000\nthrow 10.4.0.0/16 1001\n"
				 "unicast 10.5.0.0/16 1001\nblackhole fd01::/64 1002\n");
}
END_TEST

START_TEST(what_cannot_be_added_or_listed)
{
	struct world w = world();
	struct route_spec far = route(w.up0, "10.5.0.0/16", "192.0.2.1");
	struct route_spec none = route(4242, "10.5.0.0/16", NULL);
	struct listed l = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(nl_route_add(w.nl, &far, &e), -1);
	ck_assert_int_eq(e.errnum, ENETUNREACH);
	ck_assert_ptr_nonnull(strstr(e.detail, "no address of the interface covers the gateway"));
	ck_assert_int_eq(nl_route_add(w.nl, &none, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_ptr_nonnull(strstr(e.msg, "out of interface number 4242"));
	ck_assert_int_eq(nl_route_list(w.nl, 4242, list_one, &l, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_int_eq(l.n, 0);
	nl_release(w.nl);
}
END_TEST

START_TEST(the_walk_may_be_ended)
{
	struct world w = world();
	struct listed l = { .ifindex = w.up0, .stop_at = 1 };
	struct err e = { 0 };

	ck_assert_int_eq(nl_route_list(w.nl, w.up0, list_one, &l, &e), 0);
	ck_assert_int_eq(l.n, 1);
	nl_release(w.nl);
}
END_TEST

/* ---- the way of a packet ---- */

static struct ip ip_of(const char *text)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(text, &a), 0);
	return a;
}

START_TEST(the_way_of_a_packet_follows_its_sender)
{
	struct world w = world();
	const struct rule_spec rule = { .from = { ip_of("10.1.0.2"), 32 },
					.table = 1000,
					.priority = 1000 };
	struct route_spec own = route(w.up0, "10.9.0.0/16", "10.1.0.1"), way = { 0 };
	struct err e = { 0 };

	own.table = 1000;
	own.mtu = 1400;
	add(w.nl, &own);
	ck_assert_int_eq(nl_route_get(w.nl, ip_of("10.9.0.1"), ip_of("10.1.0.2"), &way, &e), -1);
	ck_assert_int_eq(e.errnum, ENETUNREACH);
	ck_assert_ptr_nonnull(strstr(e.msg, "way from 10.1.0.2 to 10.9.0.1"));
	ck_assert_msg(nl_rule_add(w.nl, &rule, &e) == 0, "%s", e.msg);
	ck_assert_msg(nl_route_get(w.nl, ip_of("10.9.0.1"), ip_of("10.1.0.2"), &way, &e) == 0, "%s",
		      e.msg);
	ck_assert_int_eq(way.ifindex, w.up0);
	ck_assert_uint_eq(way.table, 1000);
	ck_assert_uint_eq(way.mtu, 1400);
	ck_assert(ip_equal(way.gw, ip_of("10.1.0.1")));
	/* without an address, the rule does not apply */
	ck_assert_int_eq(nl_route_get(w.nl, ip_of("10.9.0.1"), (struct ip){ 0 }, &way, &e), -1);
	ck_assert_msg(nl_route_get(w.nl, ip_of("fd00::9"), (struct ip){ 0 }, &way, &e) == 0, "%s",
		      e.msg);
	ck_assert_int_eq(way.ifindex, w.up0);
	/* to the namespace itself */
	ck_assert_msg(nl_route_get(w.nl, ip_of("10.1.0.2"), (struct ip){ 0 }, &way, &e) == 0, "%s",
		      e.msg);
	ck_assert_uint_eq(way.table, 255);
	nl_release(w.nl);
}
END_TEST

/* ---- the default route ---- */

static void default_is(struct nl *nl, int expected)
{
	int ifindex = -7;
	struct err e = { 0 };
	int rc = nl_route_default_dev(nl, &ifindex, &e);

	if (expected) {
		ck_assert_msg(rc == 0, "%s", e.msg);
		ck_assert_int_eq(ifindex, expected);
		return;
	}
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_int_eq(ifindex, -7);
}

START_TEST(finds_the_default_route)
{
	struct world w = world();
	struct route_spec v6 = route(w.peer0, "::/0", NULL);
	struct route_spec other_table = route(w.peer0, "0.0.0.0/0", NULL);
	struct route_spec half = route(w.peer0, "0.0.0.0/1", NULL);
	struct route_spec dear = route(w.peer0, "0.0.0.0/0", NULL);
	struct route_spec cheap = route(w.up0, "0.0.0.0/0", "10.1.0.1");

	other_table.table = 100;
	dear.priority = 200;
	cheap.priority = 100;
	default_is(w.nl, 0);
	add(w.nl, &other_table);
	add(w.nl, &half);
	default_is(w.nl, 0);
	add(w.nl, &v6);
	default_is(w.nl, w.peer0);
	add(w.nl, &dear);
	default_is(w.nl, w.peer0);
	add(w.nl, &cheap);
	default_is(w.nl, w.up0);
	nl_release(w.nl);
}
END_TEST

START_TEST(a_namespace_without_any_route)
{
	net_enter_new();
	auto_netns struct netns empty = net_another();
	auto_nl struct nl *nl = net_socket_in(&empty);

	default_is(nl, 0);
	lists(nl, 1, "");
}
END_TEST

/* ---- other kernels ---- */

static void say_done(const struct net_fake *k, uint32_t seq)
{
	const struct nlmsghdr h = { .nlmsg_type = NLMSG_DONE, .nlmsg_seq = seq };

	net_say(k, &h, &(int){ 0 }, sizeof(int));
}

static void say_request(const struct net_fake *k, const struct nl_req *rq, uint32_t seq)
{
	nlmsg_hdr(rq->msg)->nlmsg_seq = seq;
	net_say(k, nlmsg_hdr(rq->msg), nlmsg_data(nlmsg_hdr(rq->msg)),
		(size_t)nlmsg_datalen(nlmsg_hdr(rq->msg)));
}

/* IPv4 with several next hops, as an administrator's `ip route add ... nexthop` makes it. */
static void put_hops(struct nl_req *rq, int ifindex, uint16_t len)
{
	struct {
		struct rtnexthop h;
		struct nlattr nla;
		uint8_t gw[4];
	} hop[2] = {
		{ { len, 0, 0, 9 }, { 8, RTA_GATEWAY }, { 10, 1, 0, 8 } },
		{ { sizeof(hop[0]), RTNH_F_ONLINK, 0, ifindex },
		  { 8, RTA_GATEWAY },
		  { 10, 1, 0, 9 } },
	};

	nl_req_put(rq, RTA_MULTIPATH, hop, sizeof(hop));
}

START_TEST(of_several_next_hops_those_of_the_interface)
{
	struct net_fake k = net_fake();
	struct rtmsg rtm = { .rtm_family = AF_INET, .rtm_type = RTN_UNICAST, .rtm_table = 254 };
	auto_nl_req struct nl_req good = { 0 }, bad = { 0 };
	struct listed l = { .ifindex = 3 };
	struct err e = { 0 };

	nl_req_begin(&good, RTM_NEWROUTE, 0, &rtm, sizeof(rtm));
	put_hops(&good, 3, 16);
	say_request(&k, &good, 1);
	rtm.rtm_type = RTN_BROADCAST; /* not unicast */
	memcpy(nlmsg_data(nlmsg_hdr(good.msg)), &rtm, sizeof(rtm));
	say_request(&k, &good, 1);
	rtm.rtm_type = RTN_UNICAST;
	rtm.rtm_table = RT_TABLE_LOCAL;
	memcpy(nlmsg_data(nlmsg_hdr(good.msg)), &rtm, sizeof(rtm));
	say_request(&k, &good, 1);
	say_done(&k, 1);
	say_done(&k, 2);
	ck_assert_int_eq(nl_route_list(k.nl, 3, list_one, &l, &e), 0);
	ck_assert_str_eq(l.text, "0.0.0.0/0 via 10.1.0.9 onlink\n");

	nl_req_begin(&bad, RTM_NEWROUTE, 0, &rtm, sizeof(rtm));
	rtm.rtm_table = RT_TABLE_MAIN;
	memcpy(nlmsg_data(nlmsg_hdr(bad.msg)), &rtm, sizeof(rtm));
	put_hops(&bad, 3, 200); /* longer than the message */
	say_request(&k, &bad, 3);
	say_done(&k, 3);
	ck_assert_int_eq(nl_route_list(k.nl, 3, list_one, &l, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	nl_release(k.nl);
}
END_TEST

START_TEST(broken_routes_are_errors)
{
	struct net_fake k = net_fake();
	const struct rtmsg rtm = { .rtm_family = AF_INET, .rtm_type = RTN_UNICAST };
	static const int attrs[] = { RTA_DST, RTA_GATEWAY, RTA_OIF, RTA_VIA };
	struct listed l = { 0 };
	struct err e = { 0 };

	for (uint32_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		auto_nl_req struct nl_req rq = { 0 };

		nl_req_begin(&rq, RTM_NEWROUTE, 0, &rtm, sizeof(rtm));
		nl_req_put(&rq, attrs[i], "123", 3);
		say_request(&k, &rq, i + 1);
		say_done(&k, i + 1);
		ck_assert_int_eq(nl_route_list(k.nl, 3, list_one, &l, &e), -1);
		ck_assert_msg(e.errnum == EBADMSG, "attribute %d: %s", attrs[i], e.msg);
	}

	const struct rtmsg longer = { .rtm_family = AF_INET,
				      .rtm_type = RTN_UNICAST,
				      .rtm_dst_len = 33 };
	auto_nl_req struct nl_req rq = { 0 };

	nl_req_begin(&rq, RTM_NEWROUTE, 0, &longer, sizeof(longer));
	say_request(&k, &rq, ARRAY_SIZE(attrs) + 1);
	say_done(&k, ARRAY_SIZE(attrs) + 1);
	ck_assert_int_eq(nl_route_list(k.nl, 3, list_one, &l, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	nl_release(k.nl);
}
END_TEST

static int see_one(const struct route_spec *r, void *arg)
{
	(void)arg;
	return !r;
}

static int list_all(void *arg, struct err *e)
{
	struct world *w = arg;
	int ifindex;

	if (nl_route_list(w->nl, w->up0, see_one, NULL, e))
		return -1;
	return nl_route_default_dev(w->nl, &ifindex, e);
}

START_TEST(allocations_may_fail)
{
	struct world w = world();
	struct route_spec def = route(w.up0, "0.0.0.0/0", NULL);

	add(w.nl, &def);
	ck_assert_str_eq(alloc_fail_each(list_all, &w), "ok");
	nl_release(w.nl);
}
END_TEST

TEST_PROGRAM("nl_route", adds_and_lists, every_field_arrives,
	     the_same_again_is_EEXIST_another_gateway_is_not, a_gateway_of_the_other_family,
	     routes_of_every_kind_are_listed, what_cannot_be_added_or_listed, the_walk_may_be_ended,
	     finds_the_default_route, a_namespace_without_any_route,
	     of_several_next_hops_those_of_the_interface, the_way_of_a_packet_follows_its_sender,
	     broken_routes_are_errors, allocations_may_fail)

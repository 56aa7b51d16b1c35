/* SPDX-License-Identifier: Apache-2.0 */
/* Shows on a real kernel which addresses the node must not send to by a pair, and why. */
#include <stdio.h>
#include <string.h>

#include "cni/hostveth/hostveth.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

static struct ip_prefix net_of(const char *text)
{
	struct ip_prefix p;

	ck_assert_int_eq(ip_parse_prefix(text, &p), 0);
	return p;
}

/* The node has rail and rail2, the masters, and card, which is another interface. */
struct node {
	struct nl *nl;
	int rail, rail2, card;
	struct hostveth_conf conf;
};

static int make_link(struct node *n, const char *name, const char *addr)
{
	struct err e = { .msg = "" };
	char peer[16];

	(void)snprintf(peer, sizeof(peer), "%s-peer", name);
	net_veth(name, peer, NULL);
	net_up(n->nl, name);
	net_up(n->nl, peer);

	int ifindex = net_ifindex(n->nl, name);

	ck_assert_msg(!*addr || nl_addr_add(n->nl, ifindex, net_of(addr), true, &e) == 0, "%s",
		      e.msg);
	return ifindex;
}

static void add_route(struct node *n, const char *dst, const char *gw, int ifindex)
{
	struct route_spec r = { .dst = net_of(dst), .ifindex = ifindex, .scope = -1 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(*gw ? ip_parse(gw, &r.gw) : 0, 0);
	ck_assert_msg(nl_route_add(n->nl, &r, &e) == 0, "%s", e.msg);
}

static void node_make(struct node *n)
{
	net_enter_new();
	*n = (struct node){ .nl = net_socket() };
	n->rail = make_link(n, "rail", "10.1.0.1/16");
	n->rail2 = make_link(n, "rail2", "");
	n->card = make_link(n, "card", "10.2.0.1/16");
	add_route(n, "0.0.0.0/0", "10.2.0.254", n->card);
	add_route(n, "10.1.64.0/24", "", n->card);
	n->conf = (struct hostveth_conf){ .veth = true,
					  .route = { net_of("10.96.0.0/12"), net_of("10.1.7.0/24"),
						     net_of("10.0.0.0/8") },
					  .n_routes = 3 };
}

static void node_clear(struct node *n)
{
	nl_release(n->nl);
}
#define auto_node auto_clean(node_clear)

/* says NULL: it is allowed. */
static void judged(const struct node *n, int master, bool pool, const char *addr, const char *says)
{
	struct cni_ip ip[] = { { .address = net_of(addr), .interface = master } };
	const struct cni_result r = { .ips = ip, .n_ips = 1 };
	const struct hostveth_claim c = { &n->conf, &r, pool };
	struct err e = { .msg = "" };
	int rc = hostveth_refuse(n->nl, &c, &e);

	ck_assert_msg(rc == (says ? -1 : 0), "%s: %s", addr, e.msg);
	ck_assert_msg(!says || (e.code == ERR_BUSY && strstr(e.msg, says)), "%s: %s", addr, e.msg);
}

/* A pool does not help: the node has another use for the address. */
START_TEST(addresses_with_another_use_are_refused)
{
	static const struct {
		const char *addr, *says;
	} row[] = {
		{ "10.1.0.1/16", "10.1.0.1: the node has it on rail" },
		{ "10.2.0.1/16", "has it on card" },
		{ "10.2.0.254/16", "gateway" },
		{ "127.1.2.3/8", "a loopback address" },
		{ "169.254.113.1/32", "link-local" },
		{ "224.0.0.1/4", "multicast" },
		{ "0.0.0.1/8", "of no host" },
		{ "255.255.255.255/32", "broadcast" },
		{ "::/128", "of no host" },
		{ "::1/128", "loopback" },
		{ "::ffff:10.1.0.1/96", "IPv4-mapped" },
		{ "fe80::1/64", "link-local" },
		{ "ff02::1/16", "multicast" },
		{ "fd5b:8c2e:9d41::1/64", "on each veth" },
	};
	auto_node struct node n;

	node_make(&n);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		judged(&n, n.rail, false, row[i].addr, row[i].says);
		judged(&n, n.rail, true, row[i].addr, row[i].says);
	}
}
END_TEST

START_TEST(the_most_specific_network_wins)
{
	auto_node struct node n;

	node_make(&n);
	judged(&n, n.rail, false, "10.1.0.7/24", NULL);
	judged(&n, n.rail, false, "10.1.64.7/24", "10.1.64.0/24 is behind card");
	judged(&n, n.rail, true, "10.1.64.7/23", "10.1.64.0/24 is behind card");
	judged(&n, n.rail, true, "10.1.64.7/24", NULL);
	judged(&n, n.rail, true, "10.1.64.7/25", NULL);
	judged(&n, n.rail, false, "10.1.7.7/24", "host.routes has 10.1.7.0/24");
	judged(&n, n.rail, false, "10.100.0.7/16", "host.routes has 10.96.0.0/12");
	judged(&n, n.rail, true, "10.100.0.7/16", NULL);
	judged(&n, n.rail, true, "10.100.0.7/12", "host.routes has 10.96.0.0/12");
	judged(&n, n.rail2, true, "10.1.0.7/16", NULL);
	judged(&n, n.rail2, false, "10.1.0.7/16", "10.1.0.0/16 is behind rail");
	add_route(&n, "10.1.0.0/16", "", n.rail2);
	judged(&n, n.rail2, true, "10.1.0.7/16", NULL);
	judged(&n, n.rail2, false, "10.1.0.7/16", NULL);
}
END_TEST

/* The prefix is of whoever chose the address. */
START_TEST(without_a_network_only_a_pool_helps)
{
	auto_node struct node n;

	node_make(&n);
	judged(&n, n.rail2, false, "192.0.2.7/24", "no network of rail2 on the node has it");
	judged(&n, -1, false, "192.0.2.7/32", "no network of a master");
	judged(&n, -1, true, "192.0.2.7/24", NULL);
	judged(&n, n.rail2, false, "fd00::7/64", "no network of rail2");
	judged(&n, n.rail2, true, "fd00::7/64", NULL);
}
END_TEST

/* One ADD has both rails, and an address may be in the network of the other one. */
START_TEST(masters_of_one_ADD_are_no_strangers)
{
	auto_node struct node n;
	struct cni_ip ip[2];
	const struct cni_result r = { .ips = ip, .n_ips = 2 };
	struct err e = { .msg = "" };

	node_make(&n);
	ip[0] = (struct cni_ip){ .address = net_of("10.1.0.7/16"), .interface = n.rail };
	ip[1] = (struct cni_ip){ .address = net_of("10.1.0.8/16"), .interface = n.rail2 };
	const struct hostveth_claim c = { &n.conf, &r, false };
	ck_assert_msg(hostveth_refuse(n.nl, &c, &e) == 0, "%s", e.msg);
	ip[1].interface = n.card;
	ip[1].address = net_of("10.3.0.8/16");
	ck_assert_int_eq(hostveth_refuse(n.nl, &c, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "10.3.0.8: host.routes has 10.0.0.0/8"));
}
END_TEST

TEST_PROGRAM("cni/hostveth_refuse", addresses_with_another_use_are_refused,
	     the_most_specific_network_wins, without_a_network_only_a_pool_helps,
	     masters_of_one_ADD_are_no_strangers)

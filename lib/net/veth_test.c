/* SPDX-License-Identifier: Apache-2.0 */
/* Shows on a real kernel that a pair has its names and addresses, and that neighbours stay. */
#include "lib/net/veth.h"

#include <errno.h>
#include <string.h>

#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

static const uint8_t near_mac[MAC_LEN] = { 2, 0, 0, 0, 0, 1 },
		     far_mac[MAC_LEN] = { 2, 0, 0, 0, 0, 2 };

static struct ip ip_of(const char *text)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(text, &a), 0);
	return a;
}

static struct veth_spec spec(const struct netns *far)
{
	return (struct veth_spec){ { "near", hw_addr_make(near_mac, MAC_LEN) },
				   { "far", hw_addr_make(far_mac, MAC_LEN) },
				   far };
}

START_TEST(both_ends_have_their_name_and_address)
{
	net_enter_new();
	auto_netns struct netns there = net_another();
	auto_nl struct nl *here = net_socket(), *far = net_socket_in(&there);
	const struct veth_spec v = spec(&there);
	struct link_info a, b;
	struct err e = { .msg = "" };

	ck_assert_msg(nl_veth_create(here, &v, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(nl_link_by_name(here, "near", &a, &e), 0);
	ck_assert_int_eq(nl_link_by_name(far, "far", &b, &e), 0);
	ck_assert_mem_eq(a.addr.byte, near_mac, MAC_LEN);
	ck_assert_mem_eq(b.addr.byte, far_mac, MAC_LEN);
	ck_assert_int_eq(a.lower_ifindex, b.ifindex);
	ck_assert_int_eq(nl_veth_create(here, &v, &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_ptr_nonnull(strstr(e.msg, "near and far"));
}
END_TEST

/* A neighbour by hand carries packets to a gateway that no host has as its address. */
START_TEST(neighbours_are_added_and_replaced)
{
	net_enter_new();
	auto_netns struct netns there = net_another();
	auto_nl struct nl *here = net_socket();
	const struct veth_spec v = spec(&there);
	struct err e = { .msg = "" };
	struct link_info a;

	ck_assert_int_eq(nl_veth_create(here, &v, &e), 0);
	ck_assert_int_eq(nl_link_by_name(here, "near", &a, &e), 0);
	net_up(here, "near");
	for (int i = 0; i < 2; i++) {
		ck_assert_msg(nl_neigh_add(here, a.ifindex, ip_of("169.254.1.2"), v.peer.mac, &e) ==
				      0,
			      "%s", e.msg);
		ck_assert_msg(nl_neigh_add(here, a.ifindex, ip_of("fe80::2"), v.peer.mac, &e) == 0,
			      "%s", e.msg);
	}
	ck_assert_int_eq(nl_neigh_add(here, 4242, ip_of("fe80::2"), v.peer.mac, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "fe80::2"));
}
END_TEST

struct counting {
	struct ip src;
	size_t n;
};

static int count_static(const struct route_spec *r, void *arg)
{
	struct counting *c = arg;

	if (r->priority != 77)
		return 0;
	c->src = r->src;
	c->n++;
	return 0;
}

START_TEST(routes_have_a_sender_and_are_deleted_one_by_one)
{
	static const char *const own[] = { "192.0.2.7/24", "fd00::7/64" };
	static const char *const to[] = { "10.96.0.0/12", "fd96::/108" };
	static const char *const gateway[] = { "192.0.2.1", "fd00::1" };

	net_enter_new();
	net_veth("near", "far", NULL);
	auto_nl struct nl *here = net_socket();
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		struct ip_prefix address;
		struct route_spec r = { .gw = ip_of(gateway[i]),
					.ifindex = net_ifindex(here, "near"),
					.priority = 77,
					.table = 2024,
					.scope = -1 };
		struct counting c = { .n = 0 };

		ck_assert_int_eq(ip_parse_prefix(own[i], &address), 0);
		ck_assert_int_eq(ip_parse_prefix(to[i], &r.dst), 0);
		ck_assert_int_eq(nl_addr_add(here, r.ifindex, address, true, &e), 0);
		r.src = address.addr;
		ck_assert_msg(nl_route_add(here, &r, &e) == 0, "%s", e.msg);
		ck_assert_int_eq(nl_route_list(here, r.ifindex, count_static, &c, &e), 0);
		ck_assert(c.n == 1 && ip_equal(c.src, address.addr));
		r.priority = 78; /* another one */
		ck_assert_msg(nl_route_delete(here, &r, &e) == 0, "%s", e.msg);
		c.n = 0;
		ck_assert_int_eq(nl_route_list(here, r.ifindex, count_static, &c, &e), 0);
		ck_assert_uint_eq(c.n, 1);
		r.priority = 77;
		ck_assert_msg(nl_route_delete(here, &r, &e) == 0, "%s", e.msg);
		c.n = 0;
		ck_assert_int_eq(nl_route_list(here, r.ifindex, count_static, &c, &e), 0);
		ck_assert_uint_eq(c.n, 0);
		ck_assert_msg(nl_route_delete(here, &r, &e) == 0, "%s", e.msg);
	}
}
END_TEST

TEST_PROGRAM("lib/net/veth", both_ends_have_their_name_and_address,
	     neighbours_are_added_and_replaced, routes_have_a_sender_and_are_deleted_one_by_one)

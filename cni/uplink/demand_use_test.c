// SPDX-License-Identifier: Apache-2.0
/* Shows on a real kernel that a user of an interface is seen, also one of another namespace. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

/* A veth in the place of a VLAN: the kernel counts its users in the same way. */
struct world {
	struct nl *nl;
	struct netns pod;
	struct link_info link;
};

static void world_clear(struct world *w)
{
	nl_release(w->nl);
	netns_close(&w->pod);
}
#define auto_world auto_clean(world_clear)

static void run(const char *command)
{
	ck_assert_msg(system(command) == 0, "%s", command);
}

static struct link_info look(struct nl *nl, const char *name)
{
	struct link_info link = { .ifindex = 0 };
	struct err e;

	ck_assert_int_eq(nl_link_by_name(nl, name, &link, &e), 0);
	return link;
}

static void world_make(struct world *w)
{
	net_enter_new();
	w->pod = net_another();
	net_veth("up0", "peer0", NULL);
	w->nl = net_socket();
	w->link = look(w->nl, "up0");
}

static int used(struct world *w, char why[64])
{
	struct err e = { .msg = "" };

	w->link = look(w->nl, "up0");
	int rc = demand_used(w->nl, &w->link, 0, why, &e);

	ck_assert_msg(rc >= 0, "%s", e.msg);
	/* the question leaves nothing behind */
	char upper[IFNAME_LEN];
	ck_assert_int_eq(demand_upper(w->nl, w->link.ifindex, upper, &e), 0);
	return rc;
}

static void macvlan_in(struct world *w, const struct netns *where, const char *name)
{
	const struct link_spec spec = { .kind = "macvlan",
					.name = name,
					.lower_ifindex = w->link.ifindex,
					.target = where,
					.data = { .macvlan = { .mode = MACVLAN_BRIDGE } } };
	struct err e;

	ck_assert_int_eq(nl_link_create(w->nl, &spec, &e), 0);
}

START_TEST(a_link_with_the_addresses_of_the_kernel_has_no_user)
{
	auto_world struct world w;
	char why[64];

	world_make(&w);
	ck_assert_int_eq(used(&w, why), 0);
	ck_assert_int_eq(used(&w, why), 0);
}
END_TEST

START_TEST(an_interface_of_another_namespace_is_a_user)
{
	auto_world struct world w;
	char why[64];

	world_make(&w);
	macvlan_in(&w, &w.pod, "net1");
	ck_assert_int_eq(used(&w, why), 1);
	ck_assert_ptr_nonnull(strstr(why, "another namespace"));
	netns_close(&w.pod);
	struct err e;
	/* the namespace ends, and the kernel takes a moment for its interface */
	ck_assert_int_eq(demand_used(w.nl, &w.link, 10000, why, &e), 0);
}
END_TEST

START_TEST(an_interface_of_the_host_is_a_user)
{
	auto_world struct world w;
	char why[64];

	world_make(&w);
	macvlan_in(&w, NULL, "mv0");
	ck_assert_int_eq(used(&w, why), 1);
	ck_assert_str_eq(why, "on it is mv0");
	run("ip link del mv0");
	ck_assert_int_eq(used(&w, why), 0);
}
END_TEST

START_TEST(an_address_is_a_user)
{
	auto_world struct world w;
	char why[64];

	world_make(&w);
	run("ip addr add 10.0.0.1/24 dev up0");
	ck_assert_int_eq(used(&w, why), 1);
	ck_assert_str_eq(why, "it has an address");
	run("ip addr flush dev up0; ip -6 addr add fd00::1/64 dev up0");
	ck_assert_int_eq(used(&w, why), 1);
}
END_TEST

/* As an uplink without an address of its own has them: those of another interface are used. */
START_TEST(a_route_is_a_user)
{
	auto_world struct world w;
	enum demand_route route;
	struct err e;
	char why[64];

	world_make(&w);
	run("ip route add 10.9.0.0/16 dev up0");
	ck_assert_int_eq(used(&w, why), 1);
	ck_assert_str_eq(why, "it has a route");
	ck_assert_int_eq(demand_route(w.nl, w.link.ifindex, &route, &e), 0);
	ck_assert_int_eq(route, DEMAND_ROUTE);
	run("ip route flush dev up0; ip -6 route add fd00:9::/64 dev up0 table 77");
	ck_assert_int_eq(used(&w, why), 1);
	run("ip -6 route add default dev up0 table 78");
	ck_assert_int_eq(demand_route(w.nl, w.link.ifindex, &route, &e), 0);
	ck_assert_int_eq(route, DEMAND_DEFAULT_ROUTE);
	run("ip -6 route flush dev up0 table 77; ip -6 route flush dev up0 table 78; "
	    "ip -6 route add fe80:9::/64 dev up0");
	ck_assert_int_eq(used(&w, why), 0);
}
END_TEST

START_TEST(a_bridge_is_a_user)
{
	auto_world struct world w;
	char why[64];

	world_make(&w);
	net_link("bridge", "br0");
	run("ip link set up0 master br0");
	ck_assert_int_eq(used(&w, why), 1);
	ck_assert_str_eq(why, "a bond or bridge has it");
}
END_TEST

/* A call that was killed leaves the interface with which it asked. */
START_TEST(an_interrupted_question_is_no_user)
{
	auto_world struct world w;
	char why[64], command[128];

	world_make(&w);
	(void)snprintf(command, sizeof(command),
		       "ip link add link up0 name rhask%08x type macvlan mode passthru",
		       (unsigned)w.link.ifindex);
	run(command);
	ck_assert_int_eq(used(&w, why), 0);
	(void)snprintf(command, sizeof(command), "! ip link show rhask%08x 2>/dev/null",
		       (unsigned)w.link.ifindex);
	run(command);
}
END_TEST

/* What the kernel says to an ADD that names the link. */
static int create(struct world *w, const char *kind, struct err *e)
{
	const struct link_spec spec = { .kind = kind,
					.name = "net1",
					.lower_ifindex = w->link.ifindex,
					.target = &w->pod,
					.data = { .macvlan = { .mode = MACVLAN_BRIDGE } } };

	return nl_link_create(w->nl, &spec, e);
}

START_TEST(nobody_comes_between_the_answer_and_the_removal)
{
	auto_world struct world w;
	char why[64], upper[IFNAME_LEN];
	struct err e = { .msg = "" };

	world_make(&w);
	ck_assert_int_eq(demand_hold(w.nl, &w.link, 0, why, &e), 0);
	ck_assert_int_eq(create(&w, "macvlan", &e), -1);
	ck_assert_msg(e.errnum == EINVAL, "%s", e.msg);
	ck_assert(system("ip link add br0 type bridge && ip link set up0 master br0 2>/dev/null"));
	/* The one who was killed meanwhile is not in the way of the next one. */
	ck_assert_int_eq(demand_hold(w.nl, &w.link, 0, why, &e), 0);
	ck_assert_int_eq(demand_release(w.nl, w.link.ifindex, &e), 0);
	ck_assert_int_eq(demand_release(w.nl, w.link.ifindex, &e), 0);
	ck_assert_int_eq(create(&w, "macvlan", &e), 0);
	ck_assert_int_eq(demand_hold(w.nl, &w.link, 0, why, &e), 1);
	netns_close(&w.pod);
	ck_assert_int_eq(demand_hold(w.nl, &w.link, 10000, why, &e), 0);
	ck_assert_int_eq(nl_link_delete(w.nl, w.link.ifindex, &e), 0);
	ck_assert_int_eq(demand_upper(w.nl, w.link.ifindex, upper, &e), 0);
	run("! ip -o link show type macvlan | grep .");
}
END_TEST

START_TEST(a_master_that_ends_is_known_by_the_question_or_by_its_absence)
{
	auto_world struct world w;
	struct link_info other;
	char why[64];
	struct err e;

	world_make(&w);
	other = w.link;
	run("ip link set up0 alias '" DEMAND_ALIAS "'");
	w.link = look(w.nl, "up0");
	ck_assert(!demand_is_ending(w.nl, &w.link));
	ck_assert_int_eq(demand_hold(w.nl, &w.link, 0, why, &e), 0);
	ck_assert(demand_is_ending(w.nl, &w.link));
	ck_assert(!demand_is_ending(w.nl, &other));
	ck_assert_int_eq(nl_link_delete(w.nl, w.link.ifindex, &e), 0);
	ck_assert(demand_is_ending(w.nl, &w.link));
	ck_assert(!demand_is_ending(w.nl, &other));
}
END_TEST

TEST_PROGRAM("cni/uplink/demand_use", a_link_with_the_addresses_of_the_kernel_has_no_user,
	     an_interface_of_another_namespace_is_a_user, an_interface_of_the_host_is_a_user,
	     an_address_is_a_user, a_route_is_a_user, a_bridge_is_a_user,
	     an_interrupted_question_is_no_user, nobody_comes_between_the_answer_and_the_removal,
	     a_master_that_ends_is_known_by_the_question_or_by_its_absence)

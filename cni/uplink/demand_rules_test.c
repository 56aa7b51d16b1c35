// SPDX-License-Identifier: Apache-2.0
/* Shows what may be removed, what may join a bond, and which differences are named. */
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"
#include "lib/testing/testing.h"

/* A view of a link that may go: each test spoils one fact. */
static struct demand_view unneeded(void)
{
	return (struct demand_view){
		.same_boot = true, .same_netns = true, .present = true, .ours = true
	};
}

START_TEST(only_what_is_ours_and_unused_goes)
{
	struct demand_view v = unneeded();

	ck_assert_int_eq(demand_judge(&v), DEMAND_REMOVE);
	v.users = 1;
	ck_assert_int_eq(demand_judge(&v), DEMAND_KEEP);
	v = unneeded();
	v.used = true;
	ck_assert_int_eq(demand_judge(&v), DEMAND_KEEP);
	v = unneeded();
	v.same_netns = false;
	ck_assert_int_eq(demand_judge(&v), DEMAND_KEEP);
	v = unneeded();
	v.ours = false;
	ck_assert_int_eq(demand_judge(&v), DEMAND_FORGET);
	v = unneeded();
	v.present = v.ours = false;
	ck_assert_int_eq(demand_judge(&v), DEMAND_FORGET);
	/* An earlier boot counts more than all that its file says. */
	v = unneeded();
	v.same_boot = v.same_netns = false;
	v.users = 3;
	ck_assert_int_eq(demand_judge(&v), DEMAND_FORGET);
	/* Users may come back to a link that somebody deleted. */
	v = unneeded();
	v.present = v.ours = false;
	v.users = 1;
	ck_assert_int_eq(demand_judge(&v), DEMAND_KEEP);
}
END_TEST

START_TEST(number_kind_and_alias_are_ours)
{
	struct demand_state s = { .link = { .kind = DEMAND_VLAN, .ifindex = 77 } };
	struct link_info link = { .ifindex = 77, .kind = "vlan", .alias = DEMAND_ALIAS };

	ck_assert(demand_is_ours(&s, &link));
	link.ifindex = 78;
	ck_assert(!demand_is_ours(&s, &link));
	link.ifindex = 77;
	s.link.kind = DEMAND_BOND;
	ck_assert(!demand_is_ours(&s, &link));
	s.link.kind = DEMAND_VLAN;
	*link.alias = '\0';
	ck_assert(!demand_is_ours(&s, &link));
	s.making = true;
	ck_assert(demand_is_ours(&s, &link));
	(void)strcpy(link.alias, "mine");
	ck_assert(!demand_is_ours(&s, &link));
}
END_TEST

static struct link_info card(const char *name)
{
	static const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 1 };
	struct link_info link = {
		.ifindex = 5, .lower_nsid = -1, .type = ARPHRD_ETHER, .addr = hw_addr_of_mac(mac)
	};

	(void)snprintf(link.name, sizeof(link.name), "%s", name);
	return link;
}

START_TEST(an_interface_that_got_the_number_of_another_is_not_it)
{
	static const uint8_t other[MAC_LEN] = { 2, 0, 0, 0, 0, 9 };
	struct link_info link = card("eth1");
	struct demand_lower was;

	demand_describe_lower(&link, &was);
	ck_assert(demand_is_lower(&was, &link));
	link.ifindex = 6;
	ck_assert(!demand_is_lower(&was, &link));
	/* Renamed, or with another address, it is the same; but not both. */
	link = card("eth9");
	ck_assert(demand_is_lower(&was, &link));
	link.addr = hw_addr_of_mac(other);
	ck_assert(!demand_is_lower(&was, &link));
	(void)strcpy(link.name, "eth1");
	ck_assert(demand_is_lower(&was, &link));
	/* The permanent address decides if it is known. */
	was.perm = was.addr;
	ck_assert(!demand_is_lower(&was, &link));
	link.perm_addr = hw_addr_of_mac(other);
	ck_assert(!demand_is_lower(&was, &link));
	link = card("eth9");
	link.perm_addr = was.perm;
	link.addr = hw_addr_of_mac(other);
	ck_assert(demand_is_lower(&was, &link));
}
END_TEST

START_TEST(name_and_permanent_address_prove_that_a_card_came_back)
{
	static const uint8_t other[MAC_LEN] = { 2, 0, 0, 0, 0, 9 };
	struct link_info link = card("eth1");
	struct demand_lower was, now;

	link.perm_addr = link.addr;
	demand_describe_lower(&link, &was);
	ck_assert(!demand_came_back(&was, &was)); /* it never was away */
	link.ifindex = 17;
	link.addr = hw_addr_of_mac(other);
	demand_describe_lower(&link, &now);
	ck_assert(demand_came_back(&was, &now));
	(void)strcpy(now.name, "eth2");
	ck_assert(!demand_came_back(&was, &now));
	demand_describe_lower(&link, &now);
	now.perm = hw_addr_of_mac(other);
	ck_assert(!demand_came_back(&was, &now));
	/* What stands on a card has its permanent address. */
	link.lower_ifindex = 3;
	demand_describe_lower(&link, &now);
	ck_assert(!demand_came_back(&was, &now));
	/* Without one there is no proof. */
	was.perm.len = now.perm.len = 0;
	ck_assert(!demand_came_back(&was, &now));
}
END_TEST

static void refused(const struct demand_joiner *j, enum err_code code, const char *says)
{
	struct err e = { .msg = "" };

	ck_assert_int_eq(demand_may_join(j, &e), -1);
	ck_assert_msg(strstr(e.msg, says) != NULL, "%s", e.msg);
	ck_assert_ptr_nonnull(strstr(e.msg, "eth1"));
	ck_assert_int_eq(e.code, code);
}

START_TEST(a_member_that_others_need_is_refused)
{
	struct link_info link = card("eth1");
	struct demand_joiner free_card = { .link = &link }, j = free_card;
	struct err e;

	ck_assert_int_eq(demand_may_join(&j, &e), 0);
	j.has_route = true;
	refused(&j, ERR_BUSY, "has routes without an address");
	j.has_address = true;
	refused(&j, ERR_BUSY, "has addresses");
	j.has_default_route = true;
	refused(&j, ERR_BUSY, "has the default route");
	j = free_card;
	(void)strcpy(j.upper, "br0");
	refused(&j, ERR_BUSY, "br0 stands on eth1");
	j = free_card;
	link.upper_ifindex = 9;
	refused(&j, ERR_BUSY, "member of another bond or bridge (number 9)");
	link = card("eth1");
	link.type = ARPHRD_INFINIBAND;
	refused(&j, ERR_CONFIG, "is not Ethernet");
}
END_TEST

static struct demand_link vlan(void)
{
	return (struct demand_link){
		.kind = DEMAND_VLAN,
		.name = "eth1.120",
		.data = { .vlan = { 120, LINK_VLAN_8021Q } },
		.n = 1,
		.lower = { { .name = "eth1", .ifindex = 5 } },
	};
}

static struct link_info vlan_link(void)
{
	return (struct link_info){ .name = "eth1.120",
				   .kind = "vlan",
				   .mtu = 1500,
				   .lower_ifindex = 5,
				   .lower_nsid = -1,
				   .data = { .vlan = { 120, LINK_VLAN_8021Q } } };
}

static void differs(const struct link_info *is, const struct demand_members *m,
		    const struct demand_link *want, const char *says)
{
	struct err e = { .msg = "" };

	ck_assert_int_eq(demand_agrees(is, m, want, &e), -1);
	ck_assert_msg(strstr(e.msg, says) != NULL, "%s", e.msg);
	ck_assert_int_eq(e.code, ERR_CONFIG);
}

START_TEST(each_difference_of_a_vlan_is_named)
{
	const struct demand_members none = { .n = 0 };
	struct demand_link want = vlan();
	struct link_info is = vlan_link();
	struct err e;

	ck_assert_int_eq(demand_agrees(&is, &none, &want, &e), 0);
	(void)strcpy(is.name, "other");
	ck_assert_int_eq(demand_agrees(&is, &none, &want, &e), 0);
	want.name_given = true;
	differs(&is, &none, &want, "vlan other is there already, the name eth1.120 is asked for");
	want = vlan();
	is = vlan_link();
	want.mtu = 1400;
	differs(&is, &none, &want, "mtu: vlan eth1.120 has 1500, 1400 is asked for");
	want.mtu = 1500;
	ck_assert_int_eq(demand_agrees(&is, &none, &want, &e), 0);
	is.data.vlan.id = 7;
	differs(&is, &none, &want, "id: vlan eth1.120 has 7, 120 is asked for");
	is = vlan_link();
	is.lower_ifindex = 6;
	differs(&is, &none, &want, "interface number 6, eth1 (number 5)");
	is = vlan_link();
	is.lower_nsid = 0;
	differs(&is, &none, &want, "interface number 5");
	is = vlan_link();
	(void)strcpy(is.kind, "macvlan");
	differs(&is, &none, &want, "of kind \"macvlan\", a vlan is asked for");
}
END_TEST

START_TEST(each_difference_of_a_bond_is_named)
{
	const union link_data data = { .bond = { 4, 100, LINK_DATA_UNKNOWN, LINK_DATA_UNKNOWN } };
	const struct demand_link want = {
		.kind = DEMAND_BOND,
		.data = data,
		.n = 2,
		.lower = { { .name = "eth1", .ifindex = 5 }, { .name = "eth2", .ifindex = 6 } },
	};
	struct link_info is = { .name = "b0",
				.kind = "bond",
				.data = { .bond = { 4, 100, 2, 0 } } };
	struct demand_members m = { .ifindex = { 6, 5 }, .n = 2 };
	struct err e;

	ck_assert_int_eq(demand_agrees(&is, &m, &want, &e), 0);
	m.n = 1;
	differs(&is, &m, &want, "bond b0 has no member eth1");
	m = (struct demand_members){ .ifindex = { 6, 5, 7 }, .n = 3 };
	differs(&is, &m, &want, "bond b0 has 3 members, 2 are asked for");
	m.n = 2;
	is.data.bond.mode = 1;
	differs(&is, &m, &want, "mode: bond b0 has 1, 4 is asked for");
}
END_TEST

TEST_PROGRAM("cni/uplink/demand_rules", only_what_is_ours_and_unused_goes,
	     number_kind_and_alias_are_ours, an_interface_that_got_the_number_of_another_is_not_it,
	     name_and_permanent_address_prove_that_a_card_came_back,
	     a_member_that_others_need_is_refused, each_difference_of_a_vlan_is_named,
	     each_difference_of_a_bond_is_named)

/* SPDX-License-Identifier: Apache-2.0 */
/* link_alias_test.c: shows that aliases stay with their links, and that links of a kind are found.
 */
#include "lib/net/link.h"

#include <errno.h>
#include <string.h>

#include "lib/testing/net.h"
#include "lib/testing/testing.h"

static struct link_info look(struct nl *nl, const char *name)
{
	struct link_info li;
	struct err e = { 0 };

	ck_assert_msg(nl_link_by_name(nl, name, &li, &e) == 0, "%s", e.msg);
	return li;
}

START_TEST(an_alias_is_read_and_taken_away)
{
	struct err e = { 0 };

	net_enter_new();
	net_link("bridge", "d0");

	auto_nl struct nl *nl = net_socket();
	int ifindex = net_ifindex(nl, "d0");

	ck_assert_str_eq(look(nl, "d0").alias, "");
	ck_assert_int_eq(nl_link_set_alias(nl, ifindex, "railhead:net/pod/net1", &e), 0);
	ck_assert_str_eq(look(nl, "d0").alias, "railhead:net/pod/net1");
	ck_assert_int_eq(nl_link_set_alias(nl, ifindex, "", &e), 0);
	ck_assert_str_eq(look(nl, "d0").alias, "");
}
END_TEST

START_TEST(an_alias_moves_with_its_link)
{
	struct err e = { 0 };

	net_enter_new();
	auto_netns struct netns pod = net_another(), host = net_self();
	net_veth("d0", "peer0", NULL);

	auto_nl struct nl *nl = net_socket(), *there = net_socket_in(&pod);

	ck_assert_int_eq(nl_link_set_alias(nl, net_ifindex(nl, "d0"), "mine", &e), 0);
	ck_assert_int_eq(nl_link_move(nl, net_ifindex(nl, "d0"), &pod, "net1", &e), 0);
	ck_assert_str_eq(look(there, "net1").alias, "mine");
	ck_assert_int_eq(nl_link_move(there, net_ifindex(there, "net1"), &host, "dev7", &e), 0);
	ck_assert_str_eq(look(nl, "dev7").alias, "mine");
}
END_TEST

START_TEST(the_longest_alias_and_one_that_is_longer)
{
	char alias[LINK_ALIAS_LEN + 1];
	struct err e = { 0 };

	net_enter_new();
	net_link("bridge", "d0");

	auto_nl struct nl *nl = net_socket();
	int ifindex = net_ifindex(nl, "d0");

	memset(alias, 'a', sizeof(alias));
	alias[LINK_ALIAS_LEN - 1] = '\0';
	ck_assert_int_eq(nl_link_set_alias(nl, ifindex, alias, &e), 0);
	ck_assert_str_eq(look(nl, "d0").alias, alias);
	alias[LINK_ALIAS_LEN - 1] = 'a';
	alias[LINK_ALIAS_LEN] = '\0';
	ck_assert_int_eq(nl_link_set_alias(nl, ifindex, alias, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_ptr_nonnull(strstr(e.msg, "set alias"));
	ck_assert_int_eq(nl_link_set_alias(nl, 4711, "x", &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
}
END_TEST

struct names {
	char all[64];
	size_t ends_after;
};

static int add_name(const struct link_info *link, void *arg)
{
	struct names *n = arg;

	testing_append(n->all, sizeof(n->all), link->name);
	testing_append(n->all, sizeof(n->all), " ");
	return n->ends_after && --n->ends_after == 0;
}

START_TEST(links_of_one_kind)
{
	struct names bridges = { 0 }, one = { .ends_after = 1 }, none = { 0 }, all = { 0 };
	struct err e = { 0 };

	net_enter_new();
	net_link("bridge", "d0");
	net_veth("v0", "v1", NULL);
	net_link("bridge", "d1");

	auto_nl struct nl *nl = net_socket();

	ck_assert_int_eq(nl_link_each(nl, "bridge", add_name, &bridges, &e), 0);
	ck_assert_str_eq(bridges.all, "d0 d1 ");
	ck_assert_int_eq(nl_link_each(nl, "bridge", add_name, &one, &e), 0);
	ck_assert_str_eq(one.all, "d0 ");
	/* The kernel has no such kind, and lists all interfaces. */
	ck_assert_int_eq(nl_link_each(nl, "nonesuch", add_name, &none, &e), 0);
	ck_assert_str_eq(none.all, "");
	ck_assert_int_eq(nl_link_each(nl, NULL, add_name, &all, &e), 0);
	ck_assert_str_eq(all.all, "lo d0 v1 v0 d1 ");
}
END_TEST

TEST_PROGRAM("link_alias", an_alias_is_read_and_taken_away, an_alias_moves_with_its_link,
	     the_longest_alias_and_one_that_is_longer, links_of_one_kind)

// SPDX-License-Identifier: Apache-2.0
/* Shows on a real kernel which neighbours an interface has, and in which state. */
#include "lib/net/neigh.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

static void add(struct nl *nl, int ifindex, const char *addr, uint16_t nud)
{
	static const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 7 };
	auto_nl_req struct nl_req rq = { 0 };
	struct ndmsg nd = { .ndm_ifindex = ifindex, .ndm_state = nud };
	struct ip ip;
	struct err e;

	ck_assert_int_eq(ip_parse(addr, &ip), 0);
	nd.ndm_family = nl_family(ip.family);
	nl_req_begin(&rq, RTM_NEWNEIGH, NLM_F_CREATE, &nd, sizeof(nd));
	nl_req_put_ip(&rq, NDA_DST, ip);
	nl_req_put(&rq, NDA_LLADDR, mac, sizeof(mac));
	ck_assert_msg(nl_request(nl, &rq, &e) == 0, "%s", e.msg);
}

static int say(const struct neigh_info *n, void *arg)
{
	char text[IP_STR_LEN], hw[HW_ADDR_STR_LEN], line[160];

	if (n->state == NEIGH_NO_NEED)
		return 0;
	(void)snprintf(line, sizeof(line), "%s %s %s\n", ip_format(n->addr, text),
		       neigh_state_name(n->state), hw_addr_format(n->hw, hw));
	testing_append(arg, 1024, line);
	return 0;
}

static int stop(const struct neigh_info *n, void *arg)
{
	(void)n;
	return ++*(int *)arg;
}

START_TEST(neighbours_of_one_interface_are_listed)
{
	auto_nl struct nl *nl = NULL;
	char text[1024] = "";
	struct err e = { 0 };
	int a, seen = 0;

	net_enter_new();
	net_veth("a", "b", NULL);
	nl = net_socket();
	a = net_ifindex(nl, "a");
	add(nl, a, "10.1.0.9", NUD_PERMANENT);
	add(nl, a, "10.1.0.8", NUD_FAILED);
	add(nl, net_ifindex(nl, "b"), "10.1.0.7", NUD_PERMANENT);
	add(nl, a, "fd00::9", NUD_STALE);
	ck_assert_msg(nl_neigh_list(nl, a, say, text, &e) == 0, "%s", e.msg);
	ck_assert_ptr_nonnull(strstr(text, "10.1.0.9 known 02:00:00:00:00:07\n"));
	ck_assert_ptr_nonnull(strstr(text, "fd00::9 known 02:00:00:00:00:07\n"));
	ck_assert_ptr_nonnull(strstr(text, "10.1.0.8 failed \n"));
	ck_assert_ptr_null(strstr(text, "10.1.0.7"));
	ck_assert_int_eq(nl_neigh_list(nl, a, stop, &seen, &e), 0);
	ck_assert_int_eq(seen, 1);
}
END_TEST

START_TEST(a_neighbour_that_is_asked_for_has_no_address)
{
	struct net_fake fake = net_fake();
	char text[1024] = "";
	struct err e = { 0 };
	const struct {
		struct ndmsg nd;
		struct nlattr dst;
		uint8_t ip[4];
		struct nlattr ll;
		uint8_t mac[8];
	} body = { { .ndm_family = AF_INET, .ndm_ifindex = 3, .ndm_state = NUD_INCOMPLETE },
		   { 8, NDA_DST },
		   { 10, 1, 0, 6 },
		   { 10, NDA_LLADDR },
		   { 2 } };
	struct nlmsghdr h = { .nlmsg_type = RTM_NEWNEIGH,
			      .nlmsg_seq = 1,
			      .nlmsg_flags = NLM_F_MULTI };
	const struct nlmsghdr done = { .nlmsg_type = NLMSG_DONE,
				       .nlmsg_seq = 1,
				       .nlmsg_flags = NLM_F_MULTI };
	int zero = 0;

	net_say(&fake, &h, &body, sizeof(body));
	net_say(&fake, &done, &zero, sizeof(zero));
	ck_assert_msg(nl_neigh_list(fake.nl, 3, say, text, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(text, "10.1.0.6 asked \n");
	nl_release(fake.nl);
}
END_TEST

START_TEST(a_neighbour_without_an_address_is_an_error)
{
	struct net_fake fake = net_fake();
	const struct ndmsg nd = { .ndm_family = AF_INET, .ndm_ifindex = 3 };
	struct nlmsghdr h = { .nlmsg_type = RTM_NEWNEIGH,
			      .nlmsg_seq = 1,
			      .nlmsg_flags = NLM_F_MULTI };
	const struct nlmsghdr done = { .nlmsg_type = NLMSG_DONE,
				       .nlmsg_seq = 1,
				       .nlmsg_flags = NLM_F_MULTI };
	char text[1024] = "";
	struct err e = { 0 };
	int zero = 0;

	net_say(&fake, &h, &nd, sizeof(nd));
	net_say(&fake, &done, &zero, sizeof(zero));
	ck_assert_int_eq(nl_neigh_list(fake.nl, 3, say, text, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	ck_assert_str_eq(text, "");
	nl_release(fake.nl);
}
END_TEST

TEST_PROGRAM("neigh", neighbours_of_one_interface_are_listed,
	     a_neighbour_that_is_asked_for_has_no_address,
	     a_neighbour_without_an_address_is_an_error)
